"""The daemon as a service of the user's login: a unit for systemd, an agent for launchd.

Neither is needed: hooks and clients start the daemon when they need it. Only the file is written;
the note says how to enable it.
"""

from __future__ import annotations

import plistlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from observer.clients.client import Installer
from observer.clients.config_files.context import InstallContext, InstallPlan
from observer.clients.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid
from observer.core.paths import ENV_HOME

LABEL = "io.github.observer-memory.observer"
UNIT = "observer.service"
_MARK = b"Written by `observer install"


def _install(
    path_of: Callable[[InstallContext], Path],
    render: Callable[[InstallContext], bytes],
    enable: str,
    context: InstallContext,
) -> InstallPlan:
    """Plan the file of a service manager; `enable` starts it now and at each login.

    Raises:
        ConfigInvalid: a file of somebody else has its name.
    """
    path = path_of(context)
    before = read(path)
    if before is not None and _MARK not in before:
        raise ConfigInvalid(
            f"{path} is not a file of observer", hint="rename or remove it, then repeat"
        )
    edit = FileEdit(path=path, before=before, after=render(context))
    return InstallPlan(edits=(edit,), notes=(f"Start it now and at each login: {enable}",))


def _uninstall(
    path_of: Callable[[InstallContext], Path],
    render: Callable[[InstallContext], bytes],
    disable: str,
    context: InstallContext,
) -> InstallPlan:
    """Plan its removal; a file of somebody else, or of another home, stays."""
    path = path_of(context)
    before = read(path)
    if before != render(context) and not _is_of(context, before):
        return InstallPlan(edits=())
    edit = FileEdit(path=path, before=before, after=None)
    return InstallPlan(edits=(edit,), notes=(f"Stop it as well: {disable}",))


def _is_of(context: InstallContext, content: bytes | None) -> bool:
    """Return True if a file is ours, of whatever version, for this home."""
    if content is None or _MARK not in content:
        return False
    forms = (_quoted(f"{ENV_HOME}={context.home.root}"), f"<string>{context.home.root}</string>")
    return any(form.encode("utf-8", "surrogateescape") in content for form in forms)


def _unit_path(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "systemd" / "user" / UNIT


def _unit(context: InstallContext) -> bytes:
    # The first word may hold no quotes; in the others, unlike in a variable, a dollar sign has a
    # meaning.
    program = _quoted(context.observer).replace("$", "$$")
    text = f"""\
# Written by `observer install systemd`; `observer uninstall systemd` removes it.
[Unit]
Description=observer, the memory of coding agents

[Service]
Environment={_quoted(f"{ENV_HOME}={context.home.root}")}
ExecStart=/usr/bin/env {program} daemon
Restart=on-failure
RestartSec=10
UMask=0077

[Install]
WantedBy=default.target
"""
    return text.encode("utf-8", "surrogateescape")


def _quoted(word: str) -> str:
    """Return a word in systemd's quotes, without any specifier."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _agent_path(context: InstallContext) -> Path:
    return context.user_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


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


_ENABLE = f"systemctl --user daemon-reload && systemctl --user enable --now {UNIT}"
_DISABLE = f"systemctl --user disable --now {UNIT}"
_BOOT = f"launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{LABEL}.plist"
_BOOT_OUT = f"launchctl bootout gui/$(id -u)/{LABEL}"
SERVICES = {
    "systemd": Installer(
        partial(_install, _unit_path, _unit, _ENABLE),
        partial(_uninstall, _unit_path, _unit, _DISABLE),
    ),
    "launchd": Installer(
        partial(_install, _agent_path, _agent, _BOOT),
        partial(_uninstall, _agent_path, _agent, _BOOT_OUT),
    ),
}
