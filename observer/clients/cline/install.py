"""Cline: an executable for each event in its folder of hooks, the MCP server in its settings."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from observer.config_files.context import InstallContext, InstallPlan, command
from observer.config_files.file_edits import FileEdit, read
from observer.config_files.json_entries import ServerForm, drop_server, edit_json, put_server
from observer.core.errors import ConfigInvalid

_EVENTS = (
    *("TaskStart", "TaskResume", "TaskCancel", "TaskComplete", "TaskError"),
    *("UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionShutdown"),
)
_OURS = "#!/bin/sh\n# Written by `observer install cline`; `observer uninstall cline` removes it.\n"
_TRANSPORT = frozenset({"type", "command", "args", "env", "cwd"})


def install(context: InstallContext) -> InstallPlan:
    """Plan the executables and the MCP server.

    Raises:
        ConfigInvalid: there is a hook of somebody else for one of the events.
    """
    return InstallPlan(
        edits=(
            *(_put(event, context) for event in _EVENTS),
            edit_json(
                _servers(context),
                lambda text: put_server(text, context, extra={"type": "stdio"}, form=_FORM),
            ),
        ),
        notes=("Restart Cline; it looks for hooks when it starts.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            *(_drop(event, context) for event in _EVENTS),
            edit_json(_servers(context), lambda text: drop_server(text, context, form=_FORM)),
        )
    )


def _folder(context: InstallContext) -> Path:
    return context.place("CLINE_DIR", ".cline")


def _servers(context: InstallContext) -> Path:
    return _folder(context) / "data" / "settings" / "cline_mcp_settings.json"


def _put(event: str, context: InstallContext) -> FileEdit:
    path = _folder(context) / "hooks" / event
    before = read(path)
    if before is not None and not before.startswith(_OURS.encode()):
        line = command(context.home, "cline", event)
        raise ConfigInvalid(
            f"{path} is a hook of somebody else, and Cline runs one for each event",
            hint=f"let it pass its input on to {line}, and print what that prints, or remove it",
        )
    return FileEdit(path=path, before=before, after=_script(event, context), mode=0o755)


def _drop(event: str, context: InstallContext) -> FileEdit:
    path = _folder(context) / "hooks" / event
    before = read(path)
    after = None if before == _script(event, context) else before
    return FileEdit(path=path, before=before, after=after)


def _script(event: str, context: InstallContext) -> bytes:
    script = shlex.quote(str(context.home.hooks / "cline"))
    return f"{_OURS}[ ! -x {script} ] || exec {script} {event}\n".encode()


def _flat(entry: Any) -> Any:  # noqa: ANN401 - what stands in a foreign file
    match entry:
        case {"transport": {**transport}, **others}:
            return {**transport, **others}
    return entry


def _shaped(entry: dict[str, Any]) -> dict[str, Any]:
    transport = {name: entry[name] for name in entry if name in _TRANSPORT}
    return {
        "transport": transport,
        **{name: entry[name] for name in entry if name not in _TRANSPORT},
    }


_FORM = ServerForm(flat=_flat, shaped=_shaped)
