"""Qwen Code: hooks and the MCP server in `settings.json`."""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import OurHooks, SettingsFile, check_switch
from observer.config_files.context import InstallContext

# Seconds. No names: two handlers with one name are one to Qwen Code.
_LONG = {"timeout": 10}
_SHORT = {"timeout": 5}

HOOKS = OurHooks(
    client="qwen",
    reporting={
        "SessionStart": _LONG,
        "UserPromptSubmit": _SHORT,
        "PostToolUse": _SHORT,
        "PostToolUseFailure": _SHORT,
        "Stop": _SHORT,
        "SubagentStop": _SHORT,
        "PostCompact": _SHORT,
        "SessionEnd": _SHORT,
    },
    recalling={
        "UserPromptSubmit": {},
        "PostToolUse": {"matcher": "run_shell_command"},
        "PostToolUseFailure": {"matcher": "run_shell_command"},
    },
    asking=_SHORT,
    matchers={"PostToolUse": "*", "PostToolUseFailure": "*"},
)


def _settings(context: InstallContext) -> Path:
    return context.place("QWEN_HOME", ".qwen") / "settings.json"


def check_hooks(context: InstallContext) -> None:
    """Raise ConfigInvalid if the settings switch all hooks off."""
    check_switch(_settings(context), ("disableAllHooks",), off=True)


INSTALLER = SettingsFile(
    path=_settings,
    hooks=HOOKS,
    note="Restart Qwen Code; it reads its settings when it starts.",
)
