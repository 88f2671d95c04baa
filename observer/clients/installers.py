"""Installers: how each client is told to run our hooks and to find our MCP server.

One file a client, one row in `TARGETS`. An installer only plans; `perform` makes the changes, all
or none. A second run changes nothing, and an uninstaller takes out exactly what is ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from observer.clients.claude_code import install as claude_code
from observer.clients.cursor import install as cursor
from observer.clients.git import install as git
from observer.clients.kiro import install as kiro
from observer.clients.shells import install as shells
from observer.config_files.context import InstallContext, InstallPlan, hook_files
from observer.config_files.file_edits import apply
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.paths import Home, make_private
from observer.spool import refusals
from observer.spool.spool import Spool


class Target(NamedTuple):
    """One client: how to plan its installation, and its removal."""

    install: Callable[[InstallContext], InstallPlan]
    uninstall: Callable[[InstallContext], InstallPlan]


TARGETS: Mapping[str, Target] = {
    git.NAME: Target(git.install, git.uninstall),
    **{
        shell: Target(shells.installers[shell], shells.uninstallers[shell])
        for shell in shells.installers
    },
    claude_code.NAME: Target(claude_code.install, claude_code.uninstall),
    cursor.NAME: Target(cursor.install, cursor.uninstall),
    kiro.NAME: Target(kiro.install, kiro.uninstall),
}


def install(name: str, context: InstallContext) -> InstallPlan:
    """Plan the installation for a client, our own scripts included; nothing is touched.

    Raises:
        BadInput: no such client.
        ConfigInvalid: a file of the client cannot be used as it is; the message names it.
    """
    plan = _target(name).install(context)
    return replace(plan, edits=(*hook_files(context.home), *plan.edits))


def uninstall(name: str, context: InstallContext) -> InstallPlan:
    """Plan the removal of our entries; the scripts stay, other clients may run them.

    Raises:
        BadInput: no such client.
        ConfigInvalid: a file of the client cannot be used as it is; the message names it.
    """
    return _target(name).uninstall(context)


def installed(context: InstallContext) -> list[str]:
    """Return the clients that are told to run our scripts, whether these are there or not."""
    scripts = os.fsencode(context.home.hooks)
    found = []
    for name in TARGETS:
        with suppress(ConfigInvalid):  # what cannot be read runs nothing
            edits = uninstall(name, context).edits
            if any(edit.is_change and scripts in (edit.before or b"") for edit in edits):
                found.append(name)
    return found


def perform(plan: InstallPlan, home: Home, *, at_ms: int) -> list[Path]:
    """Make a plan's changes, all or none, and return the backups made of others' files.

    Raises:
        ConfigInvalid: a file was changed meanwhile or cannot be written; nothing was changed.
    """
    make_private(home.root)
    # A hook takes the home it is installed in only if there is a spool in it.
    Spool(home.spool).prepare()
    refusals.prepare(make_private(home.logs) / home.refused.name)
    return apply(plan.edits, home.backups, at_ms=at_ms)


def _target(name: str) -> Target:
    try:
        return TARGETS[name]
    except KeyError:
        raise BadInput(
            f"no client is called {name!r}", hint="one of: " + ", ".join(TARGETS)
        ) from None
