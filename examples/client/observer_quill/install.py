"""Quill, a made-up agent: hooks in `~/.quill/hooks.json`, the MCP server in `~/.quill/mcp.json`."""

from __future__ import annotations

from observer.config_files.context import InstallContext, InstallPlan, command, is_ours
from observer.config_files.json_entries import drop_server, edit_json, merge, put_server

NAME = "quill"

_EVENTS = ("start", "prompt", "tool_done", "end")


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    folder = context.place("QUILL_HOME", ".quill")
    return InstallPlan(
        edits=(
            edit_json(folder / "hooks.json", lambda text: _put(text, context)),
            edit_json(folder / "mcp.json", lambda text: put_server(text, context)),
        )
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    folder = context.place("QUILL_HOME", ".quill")
    return InstallPlan(
        edits=(
            edit_json(folder / "hooks.json", lambda text: _drop(text, context)),
            edit_json(folder / "mcp.json", lambda text: drop_server(text, context)),
        )
    )


def _put(text: str, context: InstallContext) -> str:
    for event in _EVENTS:
        wanted = [command(context.home, "post", NAME, event)]
        if event == "start":
            wanted.append(command(context.home, "context", NAME))
        text = merge(text, ("hooks", event), wanted, lambda line: is_ours(context.home, line))
    return text


def _drop(text: str, context: InstallContext) -> str:
    for event in _EVENTS:
        text = merge(text, ("hooks", event), [], lambda line: is_ours(context.home, line))
    return text
