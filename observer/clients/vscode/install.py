"""VS Code: the MCP server in the user's `mcp.json`. Its hooks are those of Copilot CLI."""

from __future__ import annotations

import sys
from pathlib import Path

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import ServerForm, drop_server, edit_json, put_server

_FORM = ServerForm(place=("servers",))


def install(context: InstallContext) -> InstallPlan:
    """Plan the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(
                _path(context),
                lambda text: put_server(text, context, extra={"type": "stdio"}, form=_FORM),
            ),
        ),
        notes=("VS Code runs the hooks of Copilot CLI: observer install copilot",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan its removal."""
    return InstallPlan(
        edits=(edit_json(_path(context), lambda text: drop_server(text, context, form=_FORM)),)
    )


def _path(context: InstallContext) -> Path:
    is_mac = sys.platform == "darwin"
    on_mac = context.user_home / "Library" / "Application Support"
    folder = on_mac if is_mac else context.place("XDG_CONFIG_HOME", ".config")
    return folder / "Code" / "User" / "mcp.json"
