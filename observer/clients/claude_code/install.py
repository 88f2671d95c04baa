"""Claude Code: hooks in `settings.json`, the MCP server in `.claude.json`.

Cursor runs these hooks as well; the decoder distinguishes the two by what the hook process knows.
"""

from __future__ import annotations

from pathlib import Path

from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan, command, is_ours
from observer.config_files.json_entries import IsOurs, drop_server, edit_json, merge, put_server

NAME = "claude-code"

# Seconds. Only PostToolUse comes often enough to be worth a background process; the others must
# be over before the client goes on, or goes away (`claude -p` kills background hooks at its end).
_EVENTS: dict[str, dict[str, object]] = {
    "SessionStart": {"timeout": 10},
    "UserPromptSubmit": {"timeout": 5},
    "PostToolUse": {"async": True, "timeout": 30},
    "PostToolUseFailure": {"timeout": 5},
    "Stop": {"timeout": 5},
    "SubagentStop": {"timeout": 5},
    "PostCompact": {"timeout": 5},
    "SessionEnd": {"timeout": 5},
}
_RECALLING: dict[str, dict[str, object]] = {
    "UserPromptSubmit": {},
    "PreToolUse": {"matcher": "Bash|Edit|MultiEdit|Write"},
    "PostToolUse": {"matcher": "Bash"},
    "PostToolUseFailure": {"matcher": "Bash"},
}
"""Events at which memory is asked for a reminder: in the foreground, to be in time."""
_TOOL_EVENTS = frozenset({"PostToolUse", "PostToolUseFailure"})


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(_settings(context), lambda text: _put(text, context)),
            edit_json(
                _state(context),
                lambda text: put_server(text, context, extra={"type": "stdio"}),
            ),
        ),
        notes=(
            "Restart Claude Code. In a new workspace it runs no hooks before you trust the folder.",
        ),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(_settings(context), lambda text: _drop(text, context)),
            edit_json(_state(context), lambda text: drop_server(text, context)),
        )
    )


def _settings(context: InstallContext) -> Path:
    return context.place("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def _state(context: InstallContext) -> Path:
    return context.place("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


def _put(text: str, context: InstallContext) -> str:
    text = _drop_strays(text, context)
    for event in dict.fromkeys((*_EVENTS, *_RECALLING)):
        text = merge(text, ("hooks", event), _groups(event, context), _recogniser(context))
    return text


def _drop(text: str, context: InstallContext) -> str:
    text = _drop_strays(text, context)
    for event in _events_in(text):
        text = merge(text, ("hooks", event), [], _recogniser(context))
    return text


def _drop_strays(text: str, context: InstallContext) -> str:
    """Take our handlers out of the groups where somebody else's stand as well."""
    for event in _events_in(text):
        groups = jsonc.at(text, ("hooks", event))
        for place, group in enumerate(groups if isinstance(groups, list) else []):
            handlers = _handlers(group)
            ours = [number for number, handler in enumerate(handlers) if _is_ours(context, handler)]
            for number in reversed(ours if len(ours) < len(handlers) else []):
                text = jsonc.remove(text, ("hooks", event, place, "hooks", number))
    return text


def _events_in(text: str) -> list[str]:
    hooks = jsonc.at(text, ("hooks",))
    return list(hooks) if isinstance(hooks, dict) else []


def _groups(event: str, context: InstallContext) -> list[object]:
    groups: list[object] = []
    if event in _EVENTS:
        lines = [command(context.home, "post", NAME, event)]
        if event == "SessionStart":
            lines.append(command(context.home, "context", NAME))
        handlers = [{"type": "command", "command": line, **_EVENTS[event]} for line in lines]
        matcher = {"matcher": "*"} if event in _TOOL_EVENTS else {}
        groups.append({**matcher, "hooks": handlers})
    if event in _RECALLING:
        line = command(context.home, "recall", NAME, event)
        asks = {"type": "command", "command": line, "timeout": 5}
        groups.append({**_RECALLING[event], "hooks": [asks]})
    return groups


def _recogniser(context: InstallContext) -> IsOurs:
    return lambda group: (
        bool(_handlers(group)) and all(_is_ours(context, handler) for handler in _handlers(group))
    )


def _is_ours(context: InstallContext, handler: object) -> bool:
    return isinstance(handler, dict) and is_ours(context.home, handler.get("command"))


def _handlers(group: object) -> list[object]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []
