"""Devin CLI: hooks and the MCP server in `config.json`.

An event that the installed version does not know voids all hooks, so only the documented ones are
registered.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import OurHooks, SettingsFile
from observer.config_files.context import InstallContext

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


def _settings(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "devin" / "config.json"


INSTALLER = SettingsFile(path=_settings, hooks=HOOKS, note="Restart Devin CLI.")
