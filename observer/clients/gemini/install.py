"""Gemini CLI: hooks and the MCP server in `settings.json`.

Its hooks may print JSON alone: anything else is shown to the person.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import OurHooks, SettingsFile, check_switch
from observer.config_files.context import InstallContext

# Milliseconds.
_LONG = {"timeout": 10_000}
_SHORT = {"timeout": 5_000}

HOOKS = OurHooks(
    client="gemini",
    reporting={
        "SessionStart": _LONG,
        "BeforeAgent": _SHORT,
        "AfterTool": _SHORT,
        "AfterAgent": _SHORT,
        "SessionEnd": _SHORT,
    },
    recalling={"AfterTool": {"matcher": "run_shell_command"}},
    asking=_SHORT,
    matchers={"AfterTool": ".*"},
)


def _settings(context: InstallContext) -> Path:
    return context.place("GEMINI_CLI_HOME", ".") / ".gemini" / "settings.json"


def check_hooks(context: InstallContext) -> None:
    """Raise ConfigInvalid if the settings switch all hooks off."""
    check_switch(_settings(context), ("hooksConfig", "enabled"), off=False)


INSTALLER = SettingsFile(
    path=_settings,
    hooks=HOOKS,
    note="Restart Gemini CLI; it reads its settings when it starts.",
)
