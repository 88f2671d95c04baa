"""Antigravity: the MCP server in `mcp_config.json`."""

from __future__ import annotations

from pathlib import Path

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import drop_server, edit_json, put_server


def install(context: InstallContext) -> InstallPlan:
    """Plan the MCP server."""
    path = _path(context)
    return InstallPlan(edits=(edit_json(path, lambda text: put_server(text, context)),))


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan its removal."""
    path = _path(context)
    return InstallPlan(edits=(edit_json(path, lambda text: drop_server(text, context)),))


def _path(context: InstallContext) -> Path:
    return context.user_home / ".gemini" / "config" / "mcp_config.json"
