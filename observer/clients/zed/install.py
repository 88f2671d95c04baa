"""Zed: the MCP server among the context servers in `settings.json`."""

from __future__ import annotations

from observer.clients.server_file import ServerFile
from observer.config_files.json_entries import ServerForm

INSTALLER = ServerFile(
    path=lambda context: context.place("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json",
    form=ServerForm(place=("context_servers",)),
    note="Claude Code, Codex CLI and others run their own hooks in Zed: install those too.",
)
