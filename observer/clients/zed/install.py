"""Zed: the MCP server among the context servers in `settings.json`."""

from __future__ import annotations

from pathlib import Path

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import ServerForm, drop_server, edit_json, put_server

_FORM = ServerForm(place=("context_servers",))


def install(context: InstallContext) -> InstallPlan:
    """Plan the MCP server."""
    path = _path(context)
    return InstallPlan(
        edits=(edit_json(path, lambda text: put_server(text, context, form=_FORM)),),
        notes=("Claude Code, Codex CLI and others run their own hooks in Zed: install those too.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan its removal."""
    path = _path(context)
    return InstallPlan(
        edits=(edit_json(path, lambda text: drop_server(text, context, form=_FORM)),)
    )


def _path(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"
