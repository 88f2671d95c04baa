"""Pi: an extension, and the MCP server in `mcp.json`, which versions before 1.6 do not read."""

from __future__ import annotations

from pathlib import Path

from observer.clients import script_file
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import drop_server, edit_json, put_server

NAME = "pi"

_EXTENSION = Path(__file__).with_name("extension.js")


def install(context: InstallContext) -> InstallPlan:
    """Plan both.

    Raises:
        ConfigInvalid: an extension of somebody else is called as ours is.
    """
    code = script_file.javascript(NAME, _EXTENSION, context)
    return InstallPlan(
        edits=(
            script_file.put(_path(context), code),
            edit_json(_servers(context), lambda text: put_server(text, context)),
        ),
        notes=("Restart Pi; it loads extensions when it starts.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            script_file.drop(_path(context), context),
            edit_json(_servers(context), lambda text: drop_server(text, context)),
        )
    )


def _path(context: InstallContext) -> Path:
    return _folder(context) / "extensions" / "observer.js"


def _servers(context: InstallContext) -> Path:
    return _folder(context) / "mcp.json"


def _folder(context: InstallContext) -> Path:
    return context.place("PI_CODING_AGENT_DIR", ".pi/agent")
