"""VS Code: the MCP server in the user's `mcp.json`. Its hooks are those of Copilot CLI."""

from __future__ import annotations

import sys
from pathlib import Path

from observer.clients.server_file import ServerFile
from observer.config_files.context import InstallContext
from observer.config_files.json_entries import ServerForm


def _path(context: InstallContext) -> Path:
    is_mac = sys.platform == "darwin"
    on_mac = context.user_home / "Library" / "Application Support"
    folder = on_mac if is_mac else context.place("XDG_CONFIG_HOME", ".config")
    return folder / "Code" / "User" / "mcp.json"


INSTALLER = ServerFile(
    path=_path,
    form=ServerForm(place=("servers",)),
    extra={"type": "stdio"},
    note="VS Code runs the hooks of Copilot CLI: observer install copilot",
)
