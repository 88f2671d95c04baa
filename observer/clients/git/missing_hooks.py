"""Git hooks of ours that do not run any more, though they were installed; for `observer doctor`.

Whoever comes after us may rename them, replace them, or point git to a folder of its own: lefthook,
pre-commit and husky do. Nothing fails then, and nothing is recorded. What the installer would
have to do again is what is missing.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from observer.clients.git import config_file
from observer.clients.git.install import (
    CONFIGURED_SINCE,
    EVENTS,
    SHARED_FOLDER,
    configuration,
    install_files,
    our_hooks,
    version,
)
from observer.config_files.context import InstallContext
from observer.core.errors import ConfigInvalid, NotFound
from observer.git.launch import executable

_POST = re.compile(r"^post=(.*)$", re.MULTILINE)
_REPEAT = "repeat: observer install git"


class MissingHooks(NamedTuple):
    """Hooks that do not run: where and why, and what to do."""

    found: str
    hint: str


def missing_hooks(context: InstallContext, git_folders: Iterable[str]) -> list[MissingHooks]:
    """Return what was installed, in every repository or in one of these, and does not run.

    Args:
        context: whose hooks; the repository around its folder is looked at, too.
        git_folders: repositories, by the folder that all work trees of one share.

    Raises:
        ConfigInvalid: git cannot read a configuration.
    """
    try:
        executable(context.environ.get("PATH"))
    except NotFound:
        return []
    path = configuration(context)
    is_configured = config_file.is_in(context, path)
    if is_configured and version(context) >= CONFIGURED_SINCE:
        plan = config_file.edit(context, path, config_file.wanted(context))
        return (
            [MissingHooks(f"{path} lacks some, or has older ones", _REPEAT)]
            if plan.is_change
            else []
        )
    found = [_in_repository(context, Path(folder)) for folder in _folders(context, git_folders)]
    if is_configured:
        hint = "use git 2.54, or install them in each repository: observer install git"
        found.append(MissingHooks(f"this git does not run those of {path}", hint))
    return [each for each in found if each]


def _folders(context: InstallContext, git_folders: Iterable[str]) -> list[str]:
    here: list[str] = []
    with suppress(ConfigInvalid):  # there is no repository, or one that git does not touch
        here.append(config_file.ask(context, *SHARED_FOLDER, folder=context.folder))
    return list(dict.fromkeys((*here, *git_folders)))


def _in_repository(context: InstallContext, folder: Path) -> MissingHooks | None:
    if not _was_installed(context, folder / "hooks"):
        return None
    root = folder.parent if folder.name == ".git" else folder
    try:
        plan = install_files(context, root)
    except ConfigInvalid as error:
        return MissingHooks(f"in {root}: {error.message}", error.hint)
    events = [edit.path.name for edit in plan.edits if edit.is_change and edit.path.name in EVENTS]
    if not events:
        return None
    return MissingHooks(
        f"in {root}, not run: {' '.join(events)}", f"in a work tree of it, {_REPEAT}"
    )


def _was_installed(context: InstallContext, hooks: Path) -> bool:
    """Return True if a hook of this home lies there, or of one that is gone."""
    ours = str(context.home.hooks / "post")
    posts = [_post_of(script) for script in our_hooks(hooks)]
    return any(post == ours or not Path(post).exists() for post in posts if post)


def _post_of(script: Path) -> str:
    """Return what a hook of ours runs, "" if that was taken out."""
    named = _POST.search(os.fsdecode(script.read_bytes()))
    return shlex.split(named[1])[0] if named else ""
