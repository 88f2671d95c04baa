"""GitHub Copilot CLI: hooks of `~/.copilot/hooks/*.json`, one JSON object on standard input.

Names are Claude Code's where the hook is registered as `SessionStart`, Copilot's own where it is
registered as `sessionStart`. Source: payloads of 1.0.102 in both forms; the client's reference.
VS Code runs these hooks and Claude Code's; arguments of tools are in camelCase. Source: the
client's documentation, of 2026-10-14; no payload was recorded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson
from msgspec import structs

from observer.clients import tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.config_files.context import InstallContext
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.parts import Hooks, Servers, config_file, installer_of, placed
from observer.clients.payload import inner, text
from observer.core.events import Delegation, Event
from observer.core.text import word_set

NAME, VSCODE = "copilot", "vscode"

NOISE = word_set("PreToolUse PermissionRequest UserPromptTransformed Notification")


def _editor(call: tools.ToolCall) -> tools.ToolEffect | Delegation:
    """Return what the one editing tool of older versions did, by the command that it was given."""
    name = text(call.given, "command")
    return TOOLS.get("edit" if name == "str_replace" else name, tools.other)(call)


TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="bash powershell Bash",
    read="view Read",
    write="create Write",
    edit="edit insert Edit",
    grep="grep rg Grep",
    find="glob Glob",
    fetch="web_fetch WebFetch",
    ask_web="web_search",
    delegate="task Agent",
) | {"str_replace_editor": _editor}
"""Its own names, and those it has for hooks in Claude Code's form."""

_OWN_NAMES = {"userPromptSubmitted": "UserPromptSubmit", "agentStop": "Stop"}
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
    name = text(payload, "hook_event_name", "hookName") or envelope.event
    given["hook_event_name"] = _OWN_NAMES.get(name, name[:1].upper() + name[1:])
    return _DIALECT.read(envelope, given)


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

VSCODE_TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="run_in_terminal",
    read="read_file",
    write="create_file",
    edit="replace_string_in_file",
    grep="grep_search semantic_search",
    find="file_search list_dir",
    delegate="runSubagent",
)
_VSCODE = Dialect(client=VSCODE, tools=VSCODE_TOOLS, noise={"PreToolUse"})

# --- how they are installed -----------------------------------------------------------------------

# Seconds. Nothing is asked before a tool call: a hook that fails there, and be it that the script
# is gone, denies the call.
_OPTIONS = {"type": "command", "timeoutSec": 5}
_EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop"),
    *("PreCompact", "Stop", "SessionEnd"),
)
HOOKS = Hooks(
    client=NAME,
    reporting=dict.fromkeys(_EVENTS, _OPTIONS) | {"SessionStart": {**_OPTIONS, "timeoutSec": 10}},
    recalling={"PostToolUse": "Bash"},
    asking=_OPTIONS,
    key="bash",
    version=1,
    is_grouped=False,
)


def _format_reminder(text: str, event: str) -> bytes:
    # Copilot CLI reads the outer field, VS Code, which runs the same hooks, the inner one.
    inner = {"hookEventName": event, "additionalContext": text}
    return orjson.dumps({"additionalContext": text, "hookSpecificOutput": inner})


def _vscode_servers(context: InstallContext) -> Path:
    is_mac = sys.platform == "darwin"
    on_mac = context.user_home / "Library" / "Application Support"
    folder = on_mac if is_mac else context.place("XDG_CONFIG_HOME", ".config")
    return folder / "Code" / "User" / "mcp.json"


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        # VS Code runs these hooks as well, and names event and session so.
        host=lambda _, payload: (
            VSCODE if "sessionId" in payload and "hookEventName" in payload else NAME
        ),
        installer=installer_of(
            config_file(
                placed("COPILOT_HOME", ".copilot", "hooks/observer.json"),
                HOOKS.edited,
                leftovers=({}, {"version": 1}),
            ),
            config_file(
                placed("COPILOT_HOME", ".copilot", "mcp-config.json"),
                Servers(extra={"type": "local", "tools": ["*"]}).edited,
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
    Client(
        name=VSCODE,
        read=_VSCODE.read,
        installer=installer_of(
            config_file(_vscode_servers, Servers(("servers",), {"type": "stdio"}).edited),
            notes=["VS Code runs the hooks of Copilot CLI: observer install copilot"],
        ),
        programs=("code",),
        folders=(".config/Code", "Library/Application Support/Code"),
        reports_twice=True,  # it runs the hooks of Copilot CLI and of Claude Code
    ),
)
