"""Devin CLI: hooks and the MCP server in `config.json`.

An event that the installed version does not know voids all hooks, so only the documented ones are
registered.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients import hook_groups
from observer.clients.hook_groups import OurHooks
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import drop_server, edit_json, put_server

# Seconds.
HOOKS = OurHooks(
    client="devin",
    reporting={
        "SessionStart": {"timeout": 10},
        "UserPromptSubmit": {"timeout": 5},
        "PostToolUse": {"timeout": 5},
        "PostCompaction": {"timeout": 5},
        "Stop": {"timeout": 5},
        "SessionEnd": {"timeout": 5},
    },
    recalling={"UserPromptSubmit": {}},
    asking={"timeout": 5},
    matchers={"PostToolUse": ".*"},
)


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""

    def put(text: str) -> str:
        return put_server(hook_groups.put(text, HOOKS, context), context)

    return InstallPlan(edits=(edit_json(_path(context), put),), notes=("Restart Devin CLI.",))


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""

    def drop(text: str) -> str:
        return drop_server(hook_groups.drop(text, context), context)

    return InstallPlan(edits=(edit_json(_path(context), drop),))


def _path(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "devin" / "config.json"
