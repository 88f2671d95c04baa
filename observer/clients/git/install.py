"""git: hooks in the global configuration where git knows such (2.54), else files in a repository.

Configured hooks run beside every hook manager and in every repository. Before 2.54 there are only
the files in a repository's hooks folder, so `observer install git` is run once in each repository.
What stands there already is kept under another name and run by ours; a folder that lies in the
working tree belongs to husky or its like, and to the project, and is left alone.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from observer.clients.git import config_file
from observer.config_files.context import InstallContext, InstallPlan, command, shipped
from observer.config_files.file_edits import FileEdit, mode_of, read
from observer.core.errors import BadInput, ConfigInvalid

NAME = "git"
EVENTS = ("post-commit", "post-applypatch", "post-merge", "post-checkout", "post-rewrite")

CONFIGURED_SINCE = (2, 54)
"""The first git that runs hooks from its configuration."""

SHARED_FOLDER = ("rev-parse", "--path-format=absolute", "--git-common-dir")
"""Asks git for the folder that all work trees of a repository share."""

_NO_REPOSITORY = "not a git repository"
_BEGINNING = b"#!/bin/sh\n# observer's hook: "
_KEPT = ".observer-orig"
_LEGACY = ".legacy"
"""What pre-commit adds to the name of a hook that it found; it goes on running it."""


def install(context: InstallContext) -> InstallPlan:
    """Plan configured hooks, or hook files in the repository around `context.folder`.

    A project that was named gets its own, in its own configuration or hooks folder.

    Raises:
        BadInput: this git needs a repository, and there is none.
        ConfigInvalid: git is missing, or something that must not be touched is in the way.
    """
    if version(context) >= CONFIGURED_SINCE:
        path = configuration(context)
        where = "in every repository" if context.project is None else f"in {context.project}"
        return InstallPlan(
            edits=(config_file.edit(context, path, config_file.wanted(context)),),
            notes=(f"git runs the hooks {where}, beside those that are there.",),
        )
    root = _repository(context)
    if root is None:
        raise BadInput(
            "git before 2.54 has hooks only in repositories, and this folder is in none",
            hint="repeat in a repository, or name it with --project",
        )
    return install_files(context, root)


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of configured hooks, and of hook files in the repository around us."""
    edits = [config_file.edit(context, configuration(context), {})]
    root = _repository(context)
    if root is not None:
        shared = config_file.ask(context, *SHARED_FOLDER, folder=root)
        # Where git looks for hooks now, and where it did before a manager sent it elsewhere.
        folders = {_hooks_folder(context, root).resolve(), Path(shared, "hooks").resolve()}
        ours = (path for folder in sorted(folders) for path in our_hooks(folder))
        edits += [edit for path in ours for edit in _removal(path)]
    return InstallPlan(edits=tuple(edits))


def version(context: InstallContext) -> tuple[int, int]:
    """Return the first two numbers of git's version."""
    found = re.search(r"(\d+)\.(\d+)", config_file.ask(context, "version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def configuration(context: InstallContext) -> Path:
    """Return the file that git itself would write global settings to, or the project's own.

    Raises:
        BadInput: the project that was named is in no repository.
        ConfigInvalid: git is missing, or says no.
    """
    if context.project is not None:
        root = _repository(context)
        if root is None:
            raise BadInput(f"{context.project} is in no git repository")
        return root / config_file.ask(context, "rev-parse", "--git-path", "config", folder=root)
    chosen = context.environ.get("GIT_CONFIG_GLOBAL", "")
    usual = context.user_home / ".gitconfig"
    other = context.place("XDG_CONFIG_HOME", ".config") / "git" / "config"
    if chosen:
        return Path(chosen)
    return other if other.exists() and not usual.exists() else usual


def _repository(context: InstallContext) -> Path | None:
    folder = context.project or context.folder
    if not folder.is_dir():  # deleted under the shell that stands in it
        return None
    try:
        return Path(config_file.ask(context, "rev-parse", "--show-toplevel", folder=folder))
    except ConfigInvalid as error:
        # It may also be one that git refuses, as of another owner, or one without a work tree.
        if _NO_REPOSITORY not in error.message:
            raise
        return None


# --- hook files ----------------------------------------------------------------------------------


def _hooks_folder(context: InstallContext, root: Path) -> Path:
    return root / config_file.ask(context, "rev-parse", "--git-path", "hooks", folder=root)


def install_files(context: InstallContext, root: Path) -> InstallPlan:
    """Plan hook files in the folder where git looks for them in a repository.

    Raises:
        ConfigInvalid: something that must not be touched is in the way.
    """
    folder = _hooks_folder(context, root)
    if _is_shared(context, folder, root=root):
        return _join_shared(context, folder)
    script = (shipped() / "git" / "hook").read_text(encoding="utf-8")
    script = script.replace("@POST@", shlex.quote(str(context.home.hooks / "post")))
    edits = []
    for event in EVENTS:
        edits += _placement(folder / event, script.replace("@EVENT@", event).encode())
    return InstallPlan(
        edits=tuple(edits),
        root=root,
        notes=(
            f"Hooks for {root} go into {folder}; those that were there run after ours.",
            "This git has hooks only in repositories: repeat in each one, or use git 2.54.",
        ),
    )


def _is_shared(context: InstallContext, folder: Path, *, root: Path) -> bool:
    """Return True if a hooks folder is in the working tree: it is committed, or made by a tool."""
    git_folder = config_file.ask(context, "rev-parse", "--absolute-git-dir", folder=root)
    inside = folder.resolve().is_relative_to(root.resolve())
    return inside and not folder.resolve().is_relative_to(Path(git_folder).resolve())


def _join_shared(context: InstallContext, folder: Path) -> InstallPlan:
    """Leave a hooks folder to its owner, who has to call ours; refuse it while that is not so."""
    # husky makes its `_` anew at each install, and runs the files beside it.
    owner = folder.parent if folder.name == "_" else folder
    lines = {event: command(context.home, "post", NAME, event) for event in EVENTS}
    missing = [
        event for event, line in lines.items() if line.encode() not in (read(owner / event) or b"")
    ]
    if missing:
        first, *others = missing
        too = f", and likewise to {', '.join(others)}" if others else ""
        raise ConfigInvalid(
            f"core.hooksPath is {folder}, in the working tree",
            hint=f'use git 2.54, or add to {owner}/{first}{too}: {lines[first]} "$@" || true',
        )
    return InstallPlan(edits=(), notes=(f"The hooks in {owner} call ours already.",))


def _placement(path: Path, script: bytes) -> list[FileEdit]:
    """Plan our hook at a path, and what was there beside it under another name."""
    if path.is_symlink():
        raise ConfigInvalid(
            f"{path} is a symbolic link",
            hint="call our hook from the script it points to, or use git 2.54",
        )
    before = read(path)
    ours = FileEdit(path=path, before=before, after=script, mode=0o755)
    if before is None or _is_our_hook(before):
        return [ours]
    if _is_our_hook(read(path.with_name(path.name + _LEGACY))):
        return []
    kept = path.with_name(path.name + _KEPT)
    if read(kept) not in (None, before):  # a manager may have put the same script back over ours
        raise ConfigInvalid(
            f"{kept} is in the way", hint=f"it was {path} once: put it back or remove it"
        )
    return [FileEdit(path=kept, before=read(kept), after=before, mode=mode_of(path)), ours]


def _removal(path: Path) -> list[FileEdit]:
    """Plan the removal of our hook, and the return of the one that was there before."""
    kept = path.with_name(path.name + _KEPT)
    earlier = read(kept)
    back = FileEdit(path=path, before=read(path), after=earlier, mode=mode_of(kept))
    return [back, FileEdit(path=kept, before=earlier, after=None)]


def our_hooks(folder: Path) -> list[Path]:
    """Return the hooks in a folder that we wrote, whatever a manager has named them since."""
    scripts = (path for event in EVENTS for path in sorted(folder.glob(f"{event}*")))
    return [path for path in scripts if path.is_file() and _is_our_hook(read(path))]


def _is_our_hook(content: bytes | None) -> bool:
    return content is not None and content.startswith(_BEGINNING)
