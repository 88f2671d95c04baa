"""Installs our hooks and MCP server in a client's configuration, and removes them.

An installer only plans; `perform` makes the changes, all or none. A second run changes nothing, and
an uninstaller takes out exactly what is ours.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from observer.clients.client import Installer
from observer.clients.registry import clients
from observer.config_files.context import InstallContext, InstallPlan, hook_files
from observer.config_files.file_edits import apply
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.paths import Home, make_private
from observer.spool import refusals
from observer.spool.spool import Spool


def installable() -> tuple[str, ...]:
    """Return the names of the clients that have an installer, in the order of the registry."""
    return tuple(client.name for client in clients().values() if client.installer)


def install(name: str, context: InstallContext) -> InstallPlan:
    """Plan the installation for a client, our own scripts included; nothing is touched.

    Raises:
        BadInput: no such client.
        ConfigInvalid: a file of the client cannot be used as it is; the message names it.
    """
    plan = _installer(name).install(context)
    return replace(plan, edits=(*hook_files(context.home), *plan.edits))


def uninstall(name: str, context: InstallContext) -> InstallPlan:
    """Plan the removal of our entries; the scripts stay, other clients may run them.

    Raises:
        BadInput: no such client.
        ConfigInvalid: a file of the client cannot be used as it is; the message names it.
    """
    return _installer(name).uninstall(context)


def installed(context: InstallContext) -> list[str]:
    """Return the clients whose configuration runs our scripts, whether these exist or not."""
    scripts = os.fsencode(context.home.hooks)
    found = []
    for name in installable():
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


def _installer(name: str) -> Installer:
    client = clients().get(name)
    installer = client.load_installer() if client else None
    if installer is None:
        names = ", ".join(installable())
        raise BadInput(f"no client is called {name!r}", hint=f"one of: {names}")
    return installer
