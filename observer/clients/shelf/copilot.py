"""GitHub Copilot CLI: hooks of `~/.copilot/hooks/*.json`, one JSON object on standard input.

Names of fields and events are in snake_case and Claude Code's where the hook is registered as
`SessionStart`, in camelCase and Copilot's own where it is registered as `sessionStart`. A command
that fails is a success whose text ends with its exit code; a call has no id, and the end of a turn
no words. Source: payloads of 1.0.102 in both forms; the client's hook reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson
from msgspec import structs

from observer.clients import tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.config_files.context import InstallContext, command
from observer.clients.config_files.json_entries import Servers
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.parts import ConfigFile, HookEntries, installer_of, scripts
from observer.clients.payload import inner, text
from observer.core.events import Delegation, Event

NAME = "copilot"

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse and PostToolUseFailure repeat the input and know the end",
    "PermissionRequest": "the answer is what happens next",
    "UserPromptTransformed": "UserPromptSubmit reports the prompt",
    "Notification": "the client waiting for somebody is not an event",
}
"""Events of which nothing is kept, and why."""


def _editor(call: tools.ToolCall) -> tools.ToolEffect | Delegation:
    """Return what the one editing tool of older versions did, by the command that it was given."""
    return _COMMANDS.get(text(call.given, "command"), tools.other)(call)


_COMMANDS: Mapping[str, tools.Maker] = {
    "view": tools.read,
    "create": tools.write,
    "str_replace": tools.edit,
    "insert": tools.edit,
}

TOOLS: Mapping[str, tools.Maker] = {
    "bash": tools.command,
    "powershell": tools.command,
    "view": tools.read,
    "create": tools.write,
    "edit": tools.edit,
    "insert": tools.edit,
    "str_replace_editor": _editor,
    "grep": tools.grep,
    "rg": tools.grep,
    "glob": tools.find,
    "web_fetch": tools.fetch,
    "web_search": tools.ask_web,
    "task": tools.delegate,
    "Bash": tools.command,
    "Read": tools.read,
    "Write": tools.write,
    "Edit": tools.edit,
    "Grep": tools.grep,
    "Glob": tools.find,
    "WebFetch": tools.fetch,
    "Agent": tools.delegate,
}
"""Its own names, and those it has for hooks in Claude Code's form."""

_EVENTS = {"userPromptSubmitted": "UserPromptSubmit", "agentStop": "Stop"}
_FIELDS = {
    "sessionId": "session_id",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolResult": "tool_response",
    "tool_result": "tool_response",
    "agentId": "agent_id",
    "agentType": "agent_type",
    "agentName": "agent_type",
    "agent_name": "agent_type",
    "response": "last_assistant_message",
}
"""Its names of fields that Claude Code has by another one."""
_END = re.compile(
    r"\n?<(?:(?:shellId: \S{1,80} completed|exited) with exit code (?P<code>-?\d{1,9})"
    r"|command with shellId: \S{1,80} is still running[^\n]*)>\s*\Z"
)
"""The last line of a command's output: how it ended, or that it goes on."""
_CREATED = "Created file "


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    given: dict[str, Json] = {_FIELDS.get(name, name): value for name, value in payload.items()}
    given["hook_event_name"] = _event_name(envelope, payload)
    return _DIALECT.read(envelope, given)


def _host(_: Envelope, payload: Object) -> str:
    """Return who ran the hook: VS Code runs these hooks as well, and names event and session so."""
    return "vscode" if "sessionId" in payload and "hookEventName" in payload else NAME


def _event_name(envelope: Envelope, payload: Object) -> str:
    name = text(payload, "hook_event_name", "hookName") or envelope.event
    return _EVENTS.get(name, name[:1].upper() + name[1:])


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    """Read the result of a call, and the exit code that stands at the end of a command's output."""
    result = inner({"result": call.response}, "result")
    said = text(result, "text_result_for_llm", "textResultForLlm")
    kind = text(result, "result_type", "resultType")
    failed = call.failed or kind not in {"", "success"}
    if end := _END.search(said):
        code = int(end["code"]) if end["code"] else None
        return structs.replace(call, response=said[: end.start()], exit_code=code, failed=None)
    response: Json = {"type": "create", "text": said} if said.startswith(_CREATED) else said
    error = call.error or (said if failed else "")
    return structs.replace(call, response=response, error=error, failed=failed)


_DIALECT = Dialect(
    client=NAME,
    tools=TOOLS,
    noise=NOISE,
    correct=_correct,
    session_variable="COPILOT_AGENT_SESSION_ID",
)


# --- how it is installed -------------------------------------------------------------------------

# Seconds. Nothing is asked before a tool call: a hook that fails there, and be it that the script
# is gone, denies the call.
_TIMEOUTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PostToolUse": 5,
    "PostToolUseFailure": 5,
    "SubagentStop": 5,
    "PreCompact": 5,
    "Stop": 5,
    "SessionEnd": 5,
}


def _wanted(context: InstallContext) -> Mapping[str, Sequence[object]]:
    def entry(line: str, timeout: int) -> dict[str, object]:
        return {"type": "command", "bash": line, "timeoutSec": timeout}

    wanted: dict[str, list[object]] = {
        event: [entry(line, timeout) for line in scripts(NAME, event, context)]
        for event, timeout in _TIMEOUTS.items()
    }
    recall = command(context.home, "recall", NAME, "PostToolUse")
    wanted["PostToolUse"].append({"matcher": "Bash", **entry(recall, 5)})
    return wanted


def _format_reminder(text: str, event: str) -> bytes:
    # Copilot CLI reads the outer field, VS Code, which runs the same hooks, the inner one.
    inner = {"hookEventName": event, "additionalContext": text}
    return orjson.dumps({"additionalContext": text, "hookSpecificOutput": inner})


def _folder(context: InstallContext) -> Path:
    return context.place("COPILOT_HOME", ".copilot")


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        host=_host,
        installer=installer_of(
            ConfigFile(
                lambda context: _folder(context) / "hooks" / "observer.json",
                [HookEntries(_wanted, key="bash", version=1)],
                leftovers=({}, {"version": 1}),
            ),
            ConfigFile(
                lambda context: _folder(context) / "mcp-config.json",
                [Servers(extra={"type": "local", "tools": ["*"]})],
            ),
            notes=["Restart Copilot CLI; it reads its hooks when it starts."],
        ),
        programs=("copilot",),
        folders=(".copilot",),
        transcripts=(".copilot/session-state",),
        tried="1.0.102",
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="COPILOT_AGENT_SESSION_ID",
        marker_variables=("COPILOT_CLI",),
        resume="copilot --resume={}",
        context_file="CONTEXT.copilot.json",
        wrap_context=lambda text: _format_reminder(text, "SessionStart"),
        format_reminder=_format_reminder,
    ),
)
