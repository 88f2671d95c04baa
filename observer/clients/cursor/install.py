"""Cursor: hooks in `hooks.json`, the MCP server in `mcp.json`.

One event name that the installed version does not know voids the whole file without a word, so
only those are registered that every version with session hooks has.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import drop_entries, runs_ours
from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan, command
from observer.config_files.json_entries import drop_server, edit_json, merge, put_server
from observer.core.errors import ConfigInvalid

NAME = "cursor"

_EVENTS: dict[str, dict[str, object]] = {
    "sessionStart": {"timeout": 10},
    "beforeSubmitPrompt": {"timeout": 5},
    "afterShellExecution": {"timeout": 5},
    "afterMCPExecution": {"timeout": 5},
    "afterFileEdit": {"timeout": 5},
    "postToolUse": {"matcher": "Read|Grep|Delete|Task|WebFetch|WebSearch", "timeout": 5},
    "postToolUseFailure": {"timeout": 5},
    "subagentStop": {"timeout": 5},
    "afterAgentResponse": {"timeout": 5},
    "stop": {"timeout": 5},
    "sessionEnd": {"timeout": 5},
}
"""Timeouts in seconds. `postToolUse` only for what no `after…` event reports; those report more."""

_RECALLING: dict[str, dict[str, object]] = {
    "postToolUse": {"matcher": "Shell"},
    "postToolUseFailure": {"matcher": "Shell"},
}
"""Nothing before an action: those hooks permit or deny it, and a permission is the person's."""

_EMPTY: tuple[object, ...] = ({}, {"version": 1})


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server.

    Raises:
        ConfigInvalid: the hooks file is a symbolic link, which Cursor refuses to read.
    """
    hooks = _folder(context) / "hooks.json"
    if hooks.is_symlink():
        raise ConfigInvalid(
            f"{hooks} is a symbolic link, and Cursor refuses hooks files that are",
            hint="put the file itself in its place, then repeat",
        )
    return InstallPlan(
        edits=(
            edit_json(hooks, lambda text: _put(text, context)),
            edit_json(_servers(context), lambda text: put_server(text, context)),
        ),
        notes=("Open a new chat in Cursor; Settings > Hooks shows whether the file was accepted.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(
                _folder(context) / "hooks.json",
                lambda text: drop_entries(text, lambda entry: runs_ours(context, entry)),
                leftovers=_EMPTY,
            ),
            edit_json(_servers(context), lambda text: drop_server(text, context)),
        )
    )


def _folder(context: InstallContext) -> Path:
    if context.project:
        return context.project / ".cursor"
    return context.place("CURSOR_DATA_DIR", ".cursor")


def _servers(context: InstallContext) -> Path:
    return _folder(context) / "mcp.json"


def _put(text: str, context: InstallContext) -> str:
    if jsonc.at(text, ("version",)) is None:
        text = jsonc.put(text, ("version",), 1)
    for event, options in _EVENTS.items():
        scripts = [command(context.home, "post", NAME, event)]
        if event == "sessionStart":
            scripts.append(command(context.home, "context", NAME))
        wanted = [{"command": line, **options} for line in scripts]
        if event in _RECALLING:
            line = command(context.home, "recall", NAME, event)
            wanted.append({"command": line, **_RECALLING[event], "timeout": 5})
        text = merge(text, ("hooks", event), wanted, lambda entry: runs_ours(context, entry))
    return text
