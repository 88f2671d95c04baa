"""Droid: hooks in `settings.json`, the MCP server in `mcp.json`."""

from __future__ import annotations

from pathlib import Path

from observer.clients import hook_groups
from observer.clients.hook_groups import OurHooks
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import drop_server, edit_json, put_server

# Seconds.
HOOKS = OurHooks(
    client="droid",
    reporting={
        "SessionStart": {"timeout": 10},
        "UserPromptSubmit": {"timeout": 5},
        "PreToolUse": {"timeout": 5},  # all that it reports of a command that fails
        "PostToolUse": {"timeout": 5},
        "Stop": {"timeout": 5},
        "SubagentStop": {"timeout": 5},
        "PreCompact": {"timeout": 5},
        "SessionEnd": {"timeout": 5},
    },
    recalling={"PostToolUse": {"matcher": "Execute"}},
    asking={"timeout": 5},
    matchers={"PreToolUse": "Execute", "PostToolUse": "*"},
)


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(
                _file(context, "settings.json"),
                lambda text: hook_groups.put(text, HOOKS, context),
            ),
            edit_json(
                _file(context, "mcp.json"),
                lambda text: put_server(text, context, extra={"type": "stdio", "disabled": False}),
            ),
        ),
        notes=("Restart Droid; it reads its settings when it starts.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(
                _file(context, "settings.json"), lambda text: hook_groups.drop(text, context)
            ),
            edit_json(_file(context, "mcp.json"), lambda text: drop_server(text, context)),
        )
    )


def _file(context: InstallContext, name: str) -> Path:
    return context.user_home / ".factory" / name
