"""Antigravity: the MCP server in `mcp_config.json`."""

from __future__ import annotations

from observer.clients.server_file import ServerFile

INSTALLER = ServerFile(
    path=lambda context: context.user_home / ".gemini" / "config" / "mcp_config.json"
)
