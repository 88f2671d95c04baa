"""GitHub Copilot CLI: hooks in a file of our own, the MCP server in `mcp-config.json`.

Nothing is asked before a tool call: a hook that fails there, and be it that the script is gone,
denies the call.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import drop_entries, runs_ours
from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan, command
from observer.config_files.json_entries import drop_server, edit_json, merge, put_server

NAME = "copilot"

# Seconds.
_EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PostToolUse": 5,
    "PostToolUseFailure": 5,
    "SubagentStop": 5,
    "PreCompact": 5,
    "Stop": 5,
    "SessionEnd": 5,
}
_RECALLING: dict[str, dict[str, object]] = {"PostToolUse": {"matcher": "Bash"}}
_EMPTY: tuple[object, ...] = ({}, {"version": 1})


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(_hooks(context), lambda text: _put(text, context)),
            edit_json(
                _servers(context),
                lambda text: put_server(text, context, extra={"type": "local", "tools": ["*"]}),
            ),
        ),
        notes=("Restart Copilot CLI; it reads its hooks when it starts.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(_hooks(context), lambda text: _drop(text, context), leftovers=_EMPTY),
            edit_json(_servers(context), lambda text: drop_server(text, context)),
        )
    )


def _folder(context: InstallContext) -> Path:
    return context.place("COPILOT_HOME", ".copilot")


def _hooks(context: InstallContext) -> Path:
    return _folder(context) / "hooks" / "observer.json"


def _servers(context: InstallContext) -> Path:
    return _folder(context) / "mcp-config.json"


def _put(text: str, context: InstallContext) -> str:
    if jsonc.at(text, ("version",)) is None:
        text = jsonc.put(text, ("version",), 1)
    for event, timeout in _EVENTS.items():
        lines = [command(context.home, "post", NAME, event)]
        if event == "SessionStart":
            lines.append(command(context.home, "context", NAME))
        wanted = [_entry(line, timeout) for line in lines]
        if event in _RECALLING:
            line = command(context.home, "recall", NAME, event)
            wanted.append({**_RECALLING[event], **_entry(line, timeout)})
        text = merge(text, ("hooks", event), wanted, lambda entry: _is_ours(context, entry))
    return text


def _drop(text: str, context: InstallContext) -> str:
    return drop_entries(text, lambda entry: _is_ours(context, entry))


def _entry(line: str, timeout: int) -> dict[str, object]:
    return {"type": "command", "bash": line, "timeoutSec": timeout}


def _is_ours(context: InstallContext, entry: object) -> bool:
    return runs_ours(context, entry, key="bash")
