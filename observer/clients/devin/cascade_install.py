"""Windsurf: hooks in `hooks.json`, the MCP server in `mcp_config.json`."""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import drop_entries, runs_ours
from observer.config_files.context import InstallContext, InstallPlan, command
from observer.config_files.json_entries import drop_server, edit_json, merge, put_server

NAME = "windsurf"

_EVENTS = (
    *("pre_user_prompt", "post_read_code", "post_write_code", "post_run_command"),
    *("post_mcp_tool_use", "post_cascade_response"),
)


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    folder = _folder(context)
    return InstallPlan(
        edits=(
            edit_json(folder / "hooks.json", lambda text: _put(text, context)),
            edit_json(folder / "mcp_config.json", lambda text: put_server(text, context)),
        ),
        notes=("Restart Windsurf.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    folder = _folder(context)
    return InstallPlan(
        edits=(
            edit_json(folder / "hooks.json", lambda text: _drop(text, context)),
            edit_json(folder / "mcp_config.json", lambda text: drop_server(text, context)),
        )
    )


def _folder(context: InstallContext) -> Path:
    return context.user_home / ".codeium" / "windsurf"


def _put(text: str, context: InstallContext) -> str:
    for event in _EVENTS:
        line = command(context.home, "post", NAME, event)
        wanted = [{"command": line, "show_output": False}]
        text = merge(text, ("hooks", event), wanted, lambda entry: runs_ours(context, entry))
    return text


def _drop(text: str, context: InstallContext) -> str:
    return drop_entries(text, lambda entry: runs_ours(context, entry))
