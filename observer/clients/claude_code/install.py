"""Claude Code: hooks in `settings.json`, the MCP server in `.claude.json`.

In a repository they stand in `.claude/settings.local.json` and `.mcp.json`.

Cursor runs these hooks as well; the decoder distinguishes the two by what the hook process knows.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients import hook_groups
from observer.clients.hook_groups import OurHooks
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import drop_server, edit_json, put_server

# Seconds. Only PostToolUse comes often enough to be worth a background process; the others must
# be over before the client goes on, or goes away (`claude -p` kills background hooks at its end).
HOOKS = OurHooks(
    client="claude-code",
    reporting={
        "SessionStart": {"timeout": 10},
        "UserPromptSubmit": {"timeout": 5},
        "PostToolUse": {"async": True, "timeout": 30},
        "PostToolUseFailure": {"timeout": 5},
        "Stop": {"timeout": 5},
        "SubagentStop": {"timeout": 5},
        "PostCompact": {"timeout": 5},
        "SessionEnd": {"timeout": 5},
    },
    # In the foreground, to be in time.
    recalling={
        "UserPromptSubmit": {},
        "PreToolUse": {"matcher": "Bash|Edit|MultiEdit|Write"},
        "PostToolUse": {"matcher": "Bash"},
        "PostToolUseFailure": {"matcher": "Bash"},
    },
    asking={"timeout": 5},
    matchers={"PostToolUse": "*", "PostToolUseFailure": "*"},
)

_PROJECT_NOTES = (
    "Keep .claude/settings.local.json and .mcp.json out of git: they name paths of this machine.",
)


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(_settings(context), lambda text: hook_groups.put(text, HOOKS, context)),
            edit_json(
                _state(context),
                lambda text: put_server(text, context, extra={"type": "stdio"}),
            ),
        ),
        notes=(
            "Restart Claude Code. In a new workspace it runs no hooks before you trust the folder.",
            *(_PROJECT_NOTES if context.project else ()),
        ),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(_settings(context), lambda text: hook_groups.drop(text, context)),
            edit_json(_state(context), lambda text: drop_server(text, context)),
        )
    )


def check_hooks(context: InstallContext) -> None:
    """Raise ConfigInvalid if the settings switch all hooks off."""
    hook_groups.check_switch(_settings(context), ("disableAllHooks",), off=True)


def _settings(context: InstallContext) -> Path:
    if context.project:
        # What names paths of this machine stands in the settings that are not committed.
        return context.project / ".claude" / "settings.local.json"
    return context.place("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def _state(context: InstallContext) -> Path:
    if context.project:
        return context.project / ".mcp.json"
    return context.place("CLAUDE_CONFIG_DIR", ".") / ".claude.json"
