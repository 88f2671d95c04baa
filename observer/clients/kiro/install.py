"""Kiro: hooks in both of its formats, the MCP server in `settings/mcp.json`.

`hooks/*.json` (v1) is read by the IDE from 1.0 and the CLI from 3.0; the older harness, which
headless runs still use, knows only hooks inside an agent's file. There is no such file for the
built-in agent, so we bring an agent of our own, and every agent the user has gets the hooks too:
else its sessions would go unseen. An event that both formats report is one event in the store.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients.hook_groups import drop_entries, runs_ours
from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan, command
from observer.config_files.file_edits import FileEdit, read
from observer.config_files.json_entries import drop_server, edit_json, merge, put_server

NAME = "kiro"
OLD_NAME = "kiro-cli"

# Seconds. SessionEnd is missing from older versions, which may refuse a file that names it.
_TRIGGERS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreToolUse": 5,
    "PostToolUse": 10,
    "Stop": 10,
}
_AGENT_EVENTS = ("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")
_AGENT_TIMEOUT_MS = 5000
_AGENT: dict[str, object] = {
    "name": "observer",
    "description": "The default agent, with a memory of earlier sessions",
    "tools": ["*"],
    "includeMcpJson": True,
}
_EMPTY_HOOKS: tuple[object, ...] = ({}, {"version": "v1"})


def install(context: InstallContext) -> InstallPlan:
    """Plan hooks in both formats, an agent that has them, and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(_hooks(context), lambda text: _put_hooks(text, context)),
            *(_without_hooks(path, context) for path in _other_hooks(context)),
            *(
                edit_json(path, lambda text: _put_agent_hooks(text, context))
                for path in _agents(context)
                if path != _own_agent(context)
            ),
            edit_json(_own_agent(context), lambda text: _put_agent(text, context)),
            edit_json(_servers(context), lambda text: put_server(text, context)),
        ),
        notes=(
            "Trust the workspace in Kiro: it loads nothing in one that is not trusted.",
            "Kiro CLI before 3.0, and headless runs: kiro-cli agent set-default --name observer",
        ),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of all of it."""
    return InstallPlan(
        edits=(
            *(_without_hooks(path, context) for path in (_hooks(context), *_other_hooks(context))),
            *(_without_agent_hooks(path, context) for path in _agents(context)),
            edit_json(_servers(context), lambda text: drop_server(text, context)),
        )
    )


def _folder(context: InstallContext) -> Path:
    return (context.project or context.user_home) / ".kiro"


def _hooks(context: InstallContext) -> Path:
    return _folder(context) / "hooks" / "observer.json"


def _servers(context: InstallContext) -> Path:
    return _folder(context) / "settings" / "mcp.json"


def _own_agent(context: InstallContext) -> Path:
    return _folder(context) / "agents" / "observer.json"


def _agents(context: InstallContext) -> list[Path]:
    return sorted((_folder(context) / "agents").glob("*.json"))


def _other_hooks(context: InstallContext) -> list[Path]:
    """Return hook files of others that name us: Kiro itself converts an agent's hooks to such."""
    own = _hooks(context)
    mark = str(context.home.hooks).encode()
    paths = sorted(own.parent.glob("*.json"))
    return [path for path in paths if path != own and mark in (read(path) or b"")]


# --- v1 files ------------------------------------------------------------------------------------


def _put_hooks(text: str, context: InstallContext) -> str:
    if jsonc.at(text, ("version",)) is None:
        text = jsonc.put(text, ("version",), "v1")
    wanted = [_hook(context, trigger) for trigger in _TRIGGERS]
    wanted.insert(1, _starting(context))
    return merge(text, ("hooks",), wanted, lambda entry: _is_our_hook(context, entry))


def _hook(context: InstallContext, trigger: str) -> dict[str, object]:
    entry: dict[str, object] = {"name": f"observer-{trigger}", "trigger": trigger}
    if trigger.endswith("ToolUse"):
        entry["matcher"] = ".*"
    line = command(context.home, "post", NAME, trigger)
    return {**entry, "action": {"type": "command", "command": line}, "timeout": _TRIGGERS[trigger]}


def _starting(context: InstallContext) -> dict[str, object]:
    return {
        "name": "observer-context",
        "trigger": "SessionStart",
        "action": {"type": "command", "command": command(context.home, "context", NAME)},
        "timeout": _TRIGGERS["SessionStart"],
    }


def _without_hooks(path: Path, context: InstallContext) -> FileEdit:
    return edit_json(
        path,
        lambda text: merge(text, ("hooks",), [], lambda entry: _is_our_hook(context, entry)),
        leftovers=_EMPTY_HOOKS,
    )


def _is_our_hook(context: InstallContext, entry: object) -> bool:
    return isinstance(entry, dict) and runs_ours(context, entry.get("action"))


# --- hooks inside agents -------------------------------------------------------------------------


def _put_agent(text: str, context: InstallContext) -> str:
    for key, value in _AGENT.items():
        if jsonc.at(text, (key,)) is None:
            text = jsonc.put(text, (key,), value)
    return _put_agent_hooks(text, context)


def _put_agent_hooks(text: str, context: InstallContext) -> str:
    for event in _AGENT_EVENTS:
        lines = [command(context.home, "post", OLD_NAME, event)]
        if event == "agentSpawn":
            lines.append(command(context.home, "context", OLD_NAME))
        matcher = {"matcher": "*"} if event.endswith("ToolUse") else {}
        wanted = [{**matcher, "command": line, "timeout_ms": _AGENT_TIMEOUT_MS} for line in lines]
        text = merge(text, ("hooks", event), wanted, lambda entry: runs_ours(context, entry))
    return text


def _without_agent_hooks(path: Path, context: InstallContext) -> FileEdit:
    return edit_json(
        path,
        lambda text: drop_entries(text, lambda entry: runs_ours(context, entry)),
        leftovers=({}, _AGENT),
    )
