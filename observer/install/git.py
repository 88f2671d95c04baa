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

from observer.errors import BadInput, ConfigInvalid
from observer.install import gitconfig
from observer.install.edits import FileEdit, mode_of, read
from observer.install.hooks import command, shipped
from observer.install.target import Context, Plan

NAME = "git"
EVENTS = ("post-commit", "post-applypatch", "post-merge", "post-checkout", "post-rewrite")

_CONFIGURED_SINCE = (2, 54)
_NO_REPOSITORY = "not a git repository"
_BEGINNING = b"#!/bin/sh\n# observer's hook: "
_KEPT = ".observer-orig"
_LEGACY = ".legacy"
"""What pre-commit adds to the name of a hook that it found; it goes on running it."""


def install(context: Context) -> Plan:
    """Plan configured hooks, or hook files in the repository around `context.folder`.

    A project that was named gets its own, in its own configuration or hooks folder.

    Raises:
        BadInput: this git needs a repository, and there is none.
        ConfigInvalid: git is missing, or something that must not be touched is in the way.
    """
    if version(context) >= _CONFIGURED_SINCE:
        path = _configuration(context)
        where = "in every repository" if context.project is None else f"in {context.project}"
        return Plan(
            edits=(gitconfig.edit(context, path, gitconfig.wanted(context)),),
            notes=(f"git runs the hooks {where}, beside those that are there.",),
        )
    root = _repository(context)
    if root is None:
        raise BadInput(
            "git before 2.54 has hooks only in repositories, and this folder is in none",
            hint="repeat in a repository, or name it with --project",
        )
    return _install_files(context, root)


def uninstall(context: Context) -> Plan:
    """Plan the removal of configured hooks, and of hook files in the repository around us."""
    edits = [gitconfig.edit(context, _configuration(context), {})]
    notes: tuple[str, ...] = ()
    root = _repository(context)
    if root is not None:
        folder = _hooks_folder(context, root)
        edits += [edit for event in EVENTS for edit in _removal(folder / event)]
        edits += [edit for event in EVENTS for edit in _removal(folder / (event + _LEGACY))]
    if version(context) < _CONFIGURED_SINCE:
        notes = ("Hooks in other repositories stay and do nothing; repeat there to remove them.",)
    return Plan(edits=tuple(edits), notes=notes)


def version(context: Context) -> tuple[int, int]:
    """Return the first two numbers of git's version."""
    found = re.search(r"(\d+)\.(\d+)", gitconfig.ask(context, "version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _configuration(context: Context) -> Path:
    """Return the file that git itself would write global settings to, or the project's own."""
    if context.project is not None:
        root = _repository(context)
        if root is None:
            raise BadInput(f"{context.project} is in no git repository")
        return root / gitconfig.ask(context, "rev-parse", "--git-path", "config", folder=root)
    chosen = context.environ.get("GIT_CONFIG_GLOBAL", "")
    usual = context.user_home / ".gitconfig"
    other = context.place("XDG_CONFIG_HOME", ".config") / "git" / "config"
    if chosen:
        return Path(chosen)
    return other if other.exists() and not usual.exists() else usual


def _repository(context: Context) -> Path | None:
    folder = context.project or context.folder
    if not folder.is_dir():  # deleted under the shell that stands in it
        return None
    try:
        return Path(gitconfig.ask(context, "rev-parse", "--show-toplevel", folder=folder))
    except ConfigInvalid as error:
        # It may also be one that git refuses, as of another owner, or one without a work tree.
        if _NO_REPOSITORY not in error.message:
            raise
        return None


# --- hook files ----------------------------------------------------------------------------------


def _hooks_folder(context: Context, root: Path) -> Path:
    return root / gitconfig.ask(context, "rev-parse", "--git-path", "hooks", folder=root)


def _install_files(context: Context, root: Path) -> Plan:
    folder = _hooks_folder(context, root)
    _refuse_shared(context, folder, root=root)
    script = (shipped() / "git" / "hook").read_text(encoding="utf-8")
    script = script.replace("@POST@", shlex.quote(str(context.home.hooks / "post")))
    edits = []
    for event in EVENTS:
        edits += _placement(folder / event, script.replace("@EVENT@", event).encode())
    return Plan(
        edits=tuple(edits),
        notes=(
            f"Hooks for {root} go into {folder}; those that were there run after ours.",
            "This git has hooks only in repositories: repeat in each one, or use git 2.54.",
        ),
    )


def _refuse_shared(context: Context, folder: Path, *, root: Path) -> None:
    """Refuse a hooks folder in the working tree: its files are committed, or made by a tool."""
    git_folder = gitconfig.ask(context, "rev-parse", "--absolute-git-dir", folder=root)
    inside = folder.resolve().is_relative_to(root.resolve())
    if inside and not folder.resolve().is_relative_to(Path(git_folder).resolve()):
        # husky makes its `_` anew at each install, and runs the files beside it.
        owner = folder.parent if folder.name == "_" else folder
        line = command(context.home, "post", NAME, "post-commit") + ' "$@" || true'
        raise ConfigInvalid(
            f"core.hooksPath is {folder}, in the working tree",
            hint=f"use git 2.54, or add to {owner}/post-commit, and likewise to the others: {line}",
        )


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
    if read(kept) is not None:
        raise ConfigInvalid(
            f"{kept} is in the way", hint=f"it was {path} once: put it back or remove it"
        )
    return [FileEdit(path=kept, before=None, after=before, mode=mode_of(path)), ours]


def _removal(path: Path) -> list[FileEdit]:
    """Plan the removal of our hook, and the return of the one that was there before."""
    present = read(path)
    kept = path.with_name(path.name + _KEPT)
    if not _is_our_hook(present):
        return []
    earlier = read(kept)
    back = FileEdit(path=path, before=present, after=earlier, mode=mode_of(kept))
    return [back, FileEdit(path=kept, before=earlier, after=None)]


def _is_our_hook(content: bytes | None) -> bool:
    return content is not None and content.startswith(_BEGINNING)
