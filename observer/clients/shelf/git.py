"""git: its hooks say where HEAD is and what git was doing; the commit is read later."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from observer.clients.client import Client
from observer.clients.config_files.context import (
    FileEdit,
    InstallContext,
    InstallPlan,
    command,
    mode_of,
    read_file,
    shipped,
)
from observer.clients.envelope import Envelope, Object
from observer.clients.registry import attribute
from observer.core.errors import BadInput, ConfigInvalid, NotFound, Undecodable
from observer.core.events import AnyBody, Checkout, Commit, Custom, Event, Rewrite
from observer.git.launch import executable
from observer.git.repository import run_as_user

NAME = "git"

_Action: TypeAlias = Literal["commit", "merge", "cherry-pick", "revert"]
_ACTIONS: Mapping[str, _Action] = {
    "merge": "merge",
    "cherry-pick": "cherry-pick",
    "revert": "revert",
}
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SQUASHED = ("1",)
_REBASE = "rebase"
_PATHS_ONLY = "0"


def read(envelope: Envelope, _: Object) -> Iterable[Event]:
    """Turn one hook call into its event; rebases are reported once, by post-rewrite."""
    env, args, who, dedup = envelope.env, envelope.args, attribute(envelope.env), ""
    if reader := _READERS.get(envelope.event):
        body = reader(envelope)
    else:
        said = (" ".join(args), envelope.payload.decode("utf-8", "replace"))
        body = Custom(name=f"{NAME}:{envelope.event}", text="\n".join(filter(None, said)))
    if body is None:
        return
    if isinstance(body, Commit):
        dedup = f"commit:{body.hash}"
    if isinstance(body, Rewrite):
        dedup = "rewrite:{}:{}".format(*body.pairs[-1])
    is_rebased = envelope.event == "post-checkout" and env.get("git.action") == _REBASE
    since = _moved(envelope)[0] if is_rebased else env.get("git.was", "")
    yield Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=who.client or NAME,
        body=body,
        session=who.session,
        cwd=envelope.cwd,
        roots=(envelope.cwd,) if envelope.cwd else (),
        host=envelope.host,
        route=f"{envelope.client}/{envelope.event}",
        dedup=dedup,
        author=who.author,
        branch=env.get("git.branch", "") if "git.head" in env else None,
        since=since if _HASH.match(since) else "",
    )


def _post_commit(envelope: Envelope) -> AnyBody | None:
    doing = envelope.env.get("git.action", "")
    if doing == _REBASE:
        return None
    return Commit(hash=_head(envelope), action=_ACTIONS.get(doing, "commit"))


def _post_checkout(envelope: Envelope) -> AnyBody | None:
    old, new, flag = _moved(envelope)
    if flag == _PATHS_ONLY:
        return None
    if envelope.env.get("git.action") == _REBASE:
        # It stands on its new base, and perhaps on what others made: nothing else reports that.
        return Commit(hash=new, action="import") if _HASH.match(new) else None
    return Checkout(old=old, new=new, branch=envelope.env.get("git.branch", ""))


def _post_rewrite(envelope: Envelope) -> AnyBody | None:
    lines = envelope.payload.decode("utf-8", "replace").splitlines()
    words = (line.split()[:2] for line in lines)
    hashes = (found for found in words if len(found) == 2 and all(map(_HASH.match, found)))
    pairs = tuple((old, new) for old, new in hashes)
    if lines and not pairs:
        raise Undecodable("git post-rewrite without a line of two hashes")
    # A rebase also lists the commits that it kept as they were.
    changed = tuple(pair for pair in pairs if pair[0] != pair[1])
    return Rewrite(reason="".join(envelope.args[:1]), pairs=changed) if changed else None


def _moved(envelope: Envelope) -> tuple[str, str, str]:
    old, new, flag = (*envelope.args, "", "", "")[:3]
    return old, new, flag


def _head(envelope: Envelope) -> str:
    head = envelope.env.get("git.head", "")
    if not _HASH.match(head):
        raise Undecodable(f"git {envelope.event} without the hash of HEAD")
    return head


_READERS: Mapping[str, Callable[[Envelope], AnyBody | None]] = {
    "post-commit": _post_commit,
    "post-applypatch": _post_commit,
    # `merge --squash` changes files only; the commit that follows reports itself.
    "post-merge": lambda envelope: (
        None if envelope.args[:1] == _SQUASHED else Commit(hash=_head(envelope), action="merge")
    ),
    "post-checkout": _post_checkout,
    "post-rewrite": _post_rewrite,
}

# --- our sections in a configuration file --------------------------------------------------------
#
# They stand in our own copy, which git includes: what somebody sets of them in theirs stays.

_TIME_LIMIT_S = 20


def _ask(context: InstallContext, *words: str, folder: Path | None = None) -> str:
    """Return what git says, without the last newline; raise ConfigInvalid if it says no."""
    # GIT_DIR and its kin would make git look at another repository than the folder's.
    where = str(folder or context.user_home)
    try:
        run = run_as_user(words, folder=where, environ=context.environ, wait_s=_TIME_LIMIT_S)
    except NotFound as error:
        raise ConfigInvalid(error.message, hint=error.hint) from error
    if run.returncode:
        message = f"git {words[0]} failed: {run.stderr.decode('utf-8', 'replace').strip()}"
        hint = "correct what git names, then repeat; nothing was changed"
        raise ConfigInvalid(message, hint=hint)
    return run.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def _includes(context: InstallContext, path: Path) -> bool:
    """Return True if a configuration file includes our sections."""
    if not path.exists():
        return False
    said = _ask(context, "config", "-f", str(path), "--list", "-z")
    return f"include.path\n{context.home.hooks}/git/config" in said.split("\0")


def _edit(context: InstallContext) -> FileEdit:
    """Plan that git's configuration includes our sections, or no longer; git edits a copy of it."""
    path = configuration(context)
    before = read_file(path)
    if _includes(context, path) == context.is_wanted:
        return FileEdit(path=path, before=before, after=before)
    how = ["--add"] if context.is_wanted else ["--fixed-value", "--unset-all"]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "config"
        copy.write_bytes(before or b"")
        ours = context.home.hooks / "git" / "config"
        _ask(context, "config", "-f", str(copy), *how, "include.path", str(ours))
        after = copy.read_bytes()
    return FileEdit(path=path, before=before, after=after if after.strip() else None)


# --- how it is installed -------------------------------------------------------------------------
#
# Configured hooks (2.54) run beside every hook manager and in every repository; before there are
# only the files in a repository's hooks folder. What stands there is kept under another name and
# run by ours; a folder in the working tree belongs to husky or its like, and is left alone.

EVENTS = ("post-commit", "post-applypatch", "post-merge", "post-checkout", "post-rewrite")

CONFIGURED_SINCE = (2, 54)
"""The first git that runs hooks from its configuration."""

SHARED_FOLDER = ("rev-parse", "--path-format=absolute", "--git-common-dir")
"""Asks git for the folder that all work trees of a repository share."""

HOOKS_FOLDER = ("rev-parse", "--git-path", "hooks")
_NO_REPOSITORY = "not a git repository"
_BEGINNING = b"#!/bin/sh\n# observer's hook: "
_KEPT = ".observer-orig"
_LEGACY = ".legacy"
"""What pre-commit adds to the name of a hook that it found; it goes on running it."""


def _install(context: InstallContext) -> InstallPlan:
    """Plan configured hooks, the project's or the user's, or hook files in the repository here."""
    if version(context) >= CONFIGURED_SINCE:
        where = "in every repository" if context.project is None else f"in {context.project}"
        note = f"git runs the hooks {where}, beside those that are there."
        return InstallPlan(edits=(_edit(context),), notes=(note,))
    root = _repository(context)
    if root is None:
        message = "git before 2.54 has hooks only in repositories, and this folder is in none"
        hint = "repeat in a repository, or name it with --project"
        raise BadInput(message, hint=hint)
    return install_files(context, root)


def _uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of configured hooks, and of hook files in the repository around us."""
    edits = [_edit(context)]
    root = _repository(context)
    if root is not None:
        shared = _ask(context, *SHARED_FOLDER, folder=root)
        # Where git looks for hooks now, and where it did before a manager sent it elsewhere.
        folders = {
            (root / _ask(context, *HOOKS_FOLDER, folder=root)).resolve(),
            Path(shared, "hooks").resolve(),
        }
        for path in (path for folder in sorted(folders) for path in our_hooks(folder)):
            kept = path.with_name(path.name + _KEPT)  # what was there before comes back
            back, mode = read_file(kept), mode_of(kept)
            edits.append(FileEdit(path=path, before=read_file(path), after=back, mode=mode))
            edits.append(FileEdit(path=kept, before=back, after=None))
    return InstallPlan(edits=tuple(edits))


def version(context: InstallContext) -> tuple[int, int]:
    """Return the first two numbers of git's version."""
    found = re.search(r"(\d+)\.(\d+)", _ask(context, "version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def configuration(context: InstallContext) -> Path:
    """Return git's global file, or the project's; raise BadInput if that is in no repository."""
    if context.project is not None:
        root = _repository(context)
        if root is None:
            raise BadInput(f"{context.project} is in no git repository")
        return root / _ask(context, "rev-parse", "--git-path", "config", folder=root)
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
        return Path(_ask(context, "rev-parse", "--show-toplevel", folder=folder))
    except ConfigInvalid as error:
        # It may also be one that git refuses, as of another owner, or one without a work tree.
        if _NO_REPOSITORY not in error.message:
            raise
        return None


# --- hook files ----------------------------------------------------------------------------------


def install_files(context: InstallContext, root: Path) -> InstallPlan:
    """Plan hook files where git looks for them; raise ConfigInvalid if others are in the way."""
    folder = root / _ask(context, *HOOKS_FOLDER, folder=root)
    # In the working tree it is committed, or made by a tool.
    git_folder = _ask(context, "rev-parse", "--absolute-git-dir", folder=root)
    inside = folder.resolve().is_relative_to(root.resolve())
    if inside and not folder.resolve().is_relative_to(Path(git_folder).resolve()):
        # husky makes its `_` anew at each install, and runs the files beside it.
        owner = folder.parent if folder.name == "_" else folder
        lines = {event: command(context.home, "post", NAME, event) for event in EVENTS}
        held = {event: read_file(owner / event) or b"" for event in EVENTS}
        missing = [event for event in EVENTS if lines[event].encode() not in held[event]]
        if missing:
            first, *others = missing
            too = f", and likewise to {', '.join(others)}" if others else ""
            hint = f'use git 2.54, or add to {owner}/{first}{too}: {lines[first]} "$@" || true'
            raise ConfigInvalid(f"core.hooksPath is {folder}, in the working tree", hint=hint)
        return InstallPlan(edits=(), notes=(f"The hooks in {owner} call ours already.",))
    script = (shipped() / "git" / "hook").read_text(encoding="utf-8")
    script = script.replace("@POST@", shlex.quote(str(context.home.hooks / "post")))
    edits = []
    for event in EVENTS:
        edits += _placement(folder / event, script.replace("@EVENT@", event).encode())
    notes = (
        f"Hooks for {root} go into {folder}; those that were there run after ours.",
        "This git has hooks only in repositories: repeat in each one, or use git 2.54.",
    )
    return InstallPlan(edits=tuple(edits), root=root, notes=notes)


def _placement(path: Path, script: bytes) -> list[FileEdit]:
    """Plan our hook at a path, and what was there beside it under another name."""
    if path.is_symlink():
        hint = "call our hook from the script it points to, or use git 2.54"
        raise ConfigInvalid(f"{path} is a symbolic link", hint=hint)
    before = read_file(path)
    ours = FileEdit(path=path, before=before, after=script, mode=0o755)
    if before is None or _is_ours(path):
        return [ours]
    if _is_ours(path.with_name(path.name + _LEGACY)):
        return []
    kept = path.with_name(path.name + _KEPT)
    earlier = read_file(kept)
    if earlier not in (None, before):  # a manager may have put the same script back over ours
        hint = f"it was {path} once: put it back or remove it"
        raise ConfigInvalid(f"{kept} is in the way", hint=hint)
    return [FileEdit(path=kept, before=earlier, after=before, mode=mode_of(path)), ours]


def _is_ours(path: Path) -> bool:
    return (read_file(path) or b"").startswith(_BEGINNING)


def our_hooks(folder: Path) -> list[Path]:
    """Return the hooks in a folder that we wrote, whatever a manager has named them since."""
    scripts = (path for event in EVENTS for path in sorted(folder.glob(f"{event}*")))
    return [path for path in scripts if path.is_file() and _is_ours(path)]


# --- hooks of ours that do not run any more, for `observer doctor` -------------------------------
#
# lefthook, pre-commit and husky rename or replace them, or point git elsewhere: nothing fails then,
# and nothing is recorded. What the installer would have to do again is what is missing.

_POST = re.compile(r"^post=(.*)$", re.MULTILINE)


def missing_hooks(context: InstallContext, git_folders: Iterable[str]) -> list[ConfigInvalid]:
    """Return what was installed, here or in one of these shared git folders, and does not run."""
    try:
        executable(context.environ.get("PATH"))
    except NotFound:
        return []
    path = configuration(context)
    is_configured = _includes(context, path)
    if is_configured and version(context) >= CONFIGURED_SINCE:
        return []
    here: list[str] = []
    with suppress(ConfigInvalid):  # there is no repository, or one that git does not touch
        here.append(_ask(context, *SHARED_FOLDER, folder=context.folder))
    folders = map(Path, dict.fromkeys((*here, *git_folders)))
    found = [_in_repository(context, folder) for folder in folders]
    if is_configured:
        hint = "use git 2.54, or install them in each repository: observer install git"
        found.append(ConfigInvalid(f"this git does not run those of {path}", hint=hint))
    return [each for each in found if each]


def _in_repository(context: InstallContext, folder: Path) -> ConfigInvalid | None:
    ours = str(context.home.hooks / "post")
    scripts = (os.fsdecode(script.read_bytes()) for script in our_hooks(folder / "hooks"))
    posts = (shlex.split(named[1])[0] for text in scripts if (named := _POST.search(text)))
    # One of this home, or of a home that is gone.
    if not any(post == ours or not Path(post).exists() for post in posts):
        return None
    root = folder.parent if folder.name == ".git" else folder
    try:
        plan = install_files(context, root)
    except ConfigInvalid as error:
        return ConfigInvalid(f"in {root}: {error.message}", hint=error.hint)
    events = [edit.path.name for edit in plan.edits if edit.is_change and edit.path.name in EVENTS]
    if not events:
        return None
    hint = "in a work tree of it, repeat: observer install git"
    return ConfigInvalid(f"in {root}, not run: {' '.join(events)}", hint=hint)


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        takes_json=False,
        installer=lambda it: _install(it) if it.is_wanted else _uninstall(it),
        per_project=True,
        programs=("git",),
        tried="2.39.5",
        is_agent=False,
    ),
)
