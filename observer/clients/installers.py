"""Installs our hooks and MCP server in a client's configuration, and removes exactly that."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple
from xml.sax.saxutils import escape

from observer.clients.client import Client, Installer
from observer.clients.config_files.context import (
    InstallContext,
    InstallPlan,
    apply,
    as_it_was,
    hook_files,
    keep_made,
    missing_folders,
    remove_made,
)
from observer.clients.parts import installer_of, own_file, placed
from observer.clients.registry import clients
from observer.core import disk
from observer.core.errors import BadInput, ObserverError
from observer.core.paths import ENV_HOME, Home, make_private
from observer.git.launch import absolute_entries
from observer.local import refusals
from observer.local.spool import Spool

LABEL = "io.github.observer-memory.observer"
UNIT = "observer.service"
_LOGIN = "Start it now and at each login"


def _unit(context: InstallContext) -> bytes:
    # The first word may hold no quotes; in the others, unlike in a variable, a dollar sign has a
    # meaning.
    text = f"""\
# Written by `observer install systemd`; `observer uninstall systemd` removes it.
[Unit]
Description=observer, the memory of coding agents

[Service]
Environment={_quoted(f"{ENV_HOME}={context.home.root}")}
ExecStart=/usr/bin/env {_quoted(context.observer).replace("$", "$$")} daemon
Restart=on-failure
RestartSec=10
UMask=0077

[Install]
WantedBy=default.target
"""
    return os.fsencode(text)


def _quoted(word: str) -> str:
    """Return a word in systemd's quotes, without any specifier."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _agent(context: InstallContext) -> bytes:
    described = {
        "Label": LABEL,
        "ProgramArguments": [context.observer, "daemon"],
        "EnvironmentVariables": {ENV_HOME: str(context.home.root)},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    written = b"Written by `observer install launchd`; `observer uninstall launchd` removes it."
    text = plistlib.dumps(described, sort_keys=False)
    return text.replace(b"<plist", b"<!-- %b -->\n<plist" % written, 1)


SERVICES = {
    "systemd": installer_of(
        own_file(
            placed("XDG_CONFIG_HOME", ".config", f"systemd/user/{UNIT}"),
            _unit,
            lambda context: os.fsencode(_quoted(f"{ENV_HOME}={context.home.root}")),
        ),
        notes=[f"{_LOGIN}: systemctl --user daemon-reload && systemctl --user enable --now {UNIT}"],
        farewell=[f"Stop it as well: systemctl --user disable --now {UNIT}"],
    ),
    "launchd": installer_of(
        own_file(
            placed("", "Library/LaunchAgents", f"{LABEL}.plist"),
            _agent,
            lambda context: os.fsencode(f"<string>{escape(str(context.home.root))}</string>"),
        ),
        notes=[f"{_LOGIN}: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{LABEL}.plist"],
        farewell=[f"Stop it as well: launchctl bootout gui/$(id -u)/{LABEL}"],
    ),
}


def installable() -> tuple[str, ...]:
    """Return the names of the clients that have an installer, in the order of the registry."""
    return tuple(client.name for client in clients().values() if client.installer)


def install(name: str, context: InstallContext) -> InstallPlan:
    """Plan what a context wants of a client, our own scripts included; nothing is touched.

    A removal leaves the scripts, which other clients may run. Raises BadInput for no client, or
    none of one repository; ConfigInvalid names a file in the way.
    """
    plan = _installer(name, context)(context)
    if context.is_wanted:
        edits = (*hook_files(context.home), *plan.edits)
        return replace(plan, edits=edits, root=plan.root or context.project)
    ours, backups = (os.fsencode(context.home.hooks), b"/observer"), context.home.backups
    # The second, since the command may have moved.
    return replace(plan, edits=tuple(as_it_was(one, backups, ours=ours) for one in plan.edits))


def uninstall(name: str, context: InstallContext) -> InstallPlan:
    """Plan the removal of our entries; raise as `install`."""
    return install(name, replace(context, is_wanted=False))


class Installed(NamedTuple):
    """Something of ours in a client's files, the user's or a repository's, and its removal."""

    client: str
    context: InstallContext
    plan: InstallPlan

    @property
    def paths(self) -> list[Path]:
        """The files that the removal changes."""
        return [edit.path for edit in self.plan.edits if edit.is_change]


def everything(
    context: InstallContext, roots: Iterable[str], names: Collection[str] = ()
) -> list[Installed]:
    """Return what some clients or all have for the user, in recorded repositories and `roots`."""
    known = map(Path, sorted({*roots, *_recorded_roots(context.home)}))
    inside = (replace(context, project=root) for root in known if root.is_dir())
    found: list[Installed] = []
    for place in (replace(context, project=None), *inside):
        for name in names or (*installable(), *SERVICES):
            try:
                one = Installed(name, place, uninstall(name, place))
            except ObserverError:  # it has none in a repository, or a file that runs nothing
                continue
            # The repository around us is looked at as such, too.
            seen = [path for other in found for path in other.paths if other.client == name]
            if not set(one.paths) <= set(seen):
                found.append(one)
    return found


def _recorded_roots(home: Home) -> list[str]:
    try:
        return home.installed_roots.read_text("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return []


def installed(context: InstallContext) -> list[str]:
    """Return the clients whose configuration runs our scripts, whether these exist or not."""
    return [name for name in installable() if "hooks" in installed_parts(name, context)]


def installed_parts(name: str, context: InstallContext) -> tuple[str, ...]:
    """Return which of `hooks`, `MCP` and `Ctrl-R` a client's configuration has, as it is now."""
    try:
        edits = uninstall(name, context).edits
    except ObserverError:  # what cannot be read runs nothing
        return ()
    scripts = re.escape(os.fsencode(context.home.hooks))
    marks = {
        "hooks": scripts + b"[/\"']",
        "MCP": rb"\bmcp\b(?!/)",
        "Ctrl-R": scripts + rb"/shell/ctrl-r\.",
    }
    texts = [(edit.before or b"", edit.after or b"") for edit in edits]
    return tuple(
        part
        for part, mark in marks.items()
        if any(len(re.findall(mark, old)) > len(re.findall(mark, new)) for old, new in texts)
    )


def perform(plan: InstallPlan, home: Home, *, at_ms: int) -> list[Path]:
    """Make a plan's changes, all or none, and return the backups made of others' files.

    Folders that are made for them are recorded, and removed once their last file is. Raises
    ConfigInvalid if a file was changed meanwhile or cannot be written.
    """
    make_private(home.root)
    # A hook takes the home it is installed in only if there is a spool in it.
    Spool(home.spool).prepare()
    refusals.prepare(make_private(home.logs) / home.refused.name)
    folders = missing_folders(plan.edits)
    kept = apply(plan.edits, home.backups, at_ms=at_ms)
    keep_made(home, folders)
    known = _recorded_roots(home)
    if plan.root and str(plan.root) not in known:
        text = "".join(f"{one}\n" for one in (*known, plan.root))
        disk.replace(home.installed_roots, text.encode("utf-8", "surrogateescape"))
    remove_made(home, plan.edits)
    return kept


def _installer(name: str, context: InstallContext) -> Installer:
    client = clients().get(name)
    installer = client.installer if client else SERVICES.get(name)
    if installer is None:
        names = ", ".join((*installable(), *SERVICES))
        raise BadInput(f"no client is called {name!r}", hint=f"one of: {names}")
    if context.project and not (client and client.per_project):
        hint = "install it without --project"
        raise BadInput(f"{name} has no settings for one repository", hint=hint)
    return installer


# --- the clients that are on the machine ---------------------------------------------------------


def evidence(client: Client, context: InstallContext) -> str:
    """Return the path that shows that a client is here, or is the user's shell; "" for none."""
    entries = absolute_entries(context.environ.get("PATH", ""))
    for program in client.programs:
        if found := shutil.which(program, path=entries):
            return found
    for folder in client.folders:
        if (context.user_home / folder).exists():
            return str(context.user_home / folder)
    shell = context.environ.get("SHELL", "")
    return shell if PurePath(shell).name == client.name else ""


class Setup(NamedTuple):
    """A client that was detected by the path `found`, and its plan or why there is none."""

    client: Client
    found: str
    plan: InstallPlan
    problem: ObserverError | None = None


def setups(context: InstallContext) -> list[Setup]:
    """Plan every client that was detected, with a project only those that keep settings in one."""
    made = []
    for client in clients().values():
        found = evidence(client, context)
        if not (found and client.installer and (client.per_project or not context.project)):
            continue
        try:
            made.append(Setup(client, found, install(client.name, context)))
        except ObserverError as error:
            made.append(Setup(client, found, InstallPlan(edits=()), error))
    return made
