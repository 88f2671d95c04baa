"""Cursor: `hooks.json` of the IDE, of `cursor-agent` and, through it, hooks made for Claude Code.

Key of a session is `conversation_id`; where it happened is `workspace_roots`, for the hook's own
folder is Cursor's. Source: the hook engine in the client's SDK, 1.0.32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson
from msgspec import structs

from observer.clients import parts, tools
from observer.clients.claude_events import key_of
from observer.clients.client import Client, Reader, bodies, prompt_sample
from observer.clients.config_files.context import InstallContext, InstallPlan
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.payload import (
    event_of,
    flag,
    inner,
    joined,
    parsed,
    rows,
    span_ms,
    text,
    token_usage,
    words,
)
from observer.core import events
from observer.core.errors import ConfigInvalid
from observer.core.own_tools import SERVERLESS
from observer.core.text import word_set

NAME = "cursor"

NOISE = word_set(
    """
    beforeShellExecution beforeMCPExecution preToolUse beforeTabFileRead afterAgentThought
    workspaceOpen
    """
)

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="Shell",
    read="Read",
    write="Write",
    edit="Edit StrReplace MultiEdit EditNotebook",
    delete="Delete",
    grep="Grep SemanticSearch",
    find="Glob LS",
    fetch="WebFetch",
    ask_web="WebSearch",
    delegate="Task",
)

_CLAUDE_NAMES = {"UserPromptSubmit": "beforeSubmitPrompt"}
_BASE = frozenset(
    {"conversation_id", "generation_id", "model", "model_id", "model_params", "session_id"}
    | {"hook_event_name", "cursor_version", "workspace_roots", "user_email", "transcript_path"}
)
_JSON_STARTS = ("{", "[", '"')
_BY_A_PERSON = frozenset({"beforeSubmitPrompt", "afterTabFileEdit"})


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn one hook call into the events it reports."""
    name = text(payload, "hook_event_name") or envelope.event
    name = _CLAUDE_NAMES.get(name, name[:1].lower() + name[1:])
    if name in NOISE:
        return
    own = text(payload, "conversation_id", "session_id")
    own = own or envelope.env.get("CURSOR_CONVERSATION_ID", "") or envelope.stand_in_session
    around = filter(None, [envelope.env.get("CURSOR_PROJECT_DIR")])
    roots = words(payload, "workspace_roots") or tuple(around)
    cwd = text(payload, "cwd") or next(iter(roots), "")
    turn, parent = text(payload, "generation_id"), text(payload, "parent_conversation_id")
    for body in bodies(_READERS.get(name), payload, kind=f"{NAME}:{name}", beside=_BASE):
        # A delegation is part of the conversation that delegates, whichever of the two reports it.
        session = (parent if isinstance(body, events.Delegation) else "") or own
        yield structs.replace(
            event_of(envelope, body, client=NAME, session=session, cwd=cwd, name=name),
            turn=turn,
            roots=roots,
            dedup=key_of(session, payload, body, turn),
            author="person" if name in _BY_A_PERSON else "agent",
        )


def _session_start(payload: Object) -> events.AnyBody:
    background = flag(payload, "is_background_agent")
    source = "background" if background else text(payload, "composer_mode")
    parent = text(payload, "parent_conversation_id")
    return events.SessionStart(source=source, model=text(payload, "model"), parent_session=parent)


def _prompt(payload: Object) -> events.AnyBody:
    attached = (row for row in rows(payload, "attachments") if row.get("type") == "file")
    files = tuple(filter(None, (text(row, "file_path") for row in attached)))
    return events.Prompt(text=text(payload, "prompt"), files=files)


def _after_shell(payload: Object) -> events.AnyBody:
    # Neither exit code nor folder: only the output shows how it went.
    given, output = {"command": text(payload, "command")}, payload.get("output")
    duration_ms = span_ms(payload, "duration")
    call = tools.ToolCall(tool="Shell", given=given, response=output, duration_ms=duration_ms)
    return tools.command(call)


def _after_mcp(payload: Object) -> events.AnyBody:
    server = text(payload, "mcp_server_name")
    name = text(payload, "tool_name").removeprefix(SERVERLESS)
    tool = f"mcp__{server}__{name}" if server else f"{SERVERLESS}{name}"
    given, answer = inner(payload, "tool_input"), _unpacked(payload, "result_json")
    took_ms = span_ms(payload, "duration")
    call = tools.ToolCall(tool=tool, given=given, response=answer, duration_ms=took_ms)
    return tools.make(call, {})


def _call(payload: Object, *, failed: bool | None) -> tools.ToolCall:
    return tools.ToolCall(
        tool=text(payload, "tool_name"),
        given=inner(payload, "tool_input"),
        response=_unpacked(payload, "tool_output"),
        error=text(payload, "error_message", "failure_type") if failed else "",
        failed=failed,
        interrupted=bool(flag(payload, "is_interrupt")),
        duration_ms=span_ms(payload, "duration"),
    )


def _unpacked(payload: Object, name: str) -> Json:
    """Return what a field holds, also where it is JSON inside a string."""
    value = payload.get(name)
    found = parsed(value) if isinstance(value, str) and value.startswith(_JSON_STARTS) else None
    return value if found is None else found


def _stop(payload: Object) -> events.AnyBody | None:
    # afterAgentResponse has reported a turn that ended well.
    status = text(payload, "status")
    is_well = status in {"", "completed"}
    return None if is_well else events.Custom(name=f"{NAME}:stop", text=status)


def _subagent_start(payload: Object) -> Iterable[events.AnyBody]:
    parent = text(payload, "parent_conversation_id")
    yield events.Delegation(task=text(payload, "task"), agent=text(payload, "subagent_type"))
    if parent and text(payload, "conversation_id") not in {"", parent}:
        model = text(payload, "subagent_model", "model")
        yield events.SessionStart(source="subagent", model=model, parent_session=parent)


_READERS: Mapping[str, Reader] = {
    "sessionStart": _session_start,
    "sessionEnd": lambda payload: events.SessionEnd(reason=text(payload, "reason", "final_status")),
    "beforeSubmitPrompt": _prompt,
    "afterShellExecution": _after_shell,
    "afterMCPExecution": _after_mcp,
    "beforeReadFile": lambda payload: events.FileRead(
        paths=words(payload, "file_path"), tool="Read"
    ),
    "afterFileEdit": lambda payload: tools.edit(tools.ToolCall(tool="Write", given=payload)),
    "afterTabFileEdit": lambda payload: tools.edit(tools.ToolCall(tool="Tab", given=payload)),
    "postToolUse": lambda payload: tools.effects(
        _call(payload, failed=None if payload.get("tool_name") == "Shell" else False), TOOLS
    ),
    "postToolUseFailure": lambda payload: tools.effects(_call(payload, failed=True), TOOLS),
    "afterAgentResponse": lambda payload: events.Reply(
        text=text(payload, "text"), usage=token_usage(payload)
    ),
    "stop": _stop,
    "preCompact": lambda payload: events.Compaction(trigger=text(payload, "trigger")),
    "subagentStart": _subagent_start,
    "subagentStop": lambda payload: events.Delegation(
        task=text(payload, "task", "description"),
        agent=text(payload, "subagent_type"),
        result=joined(text(payload, "summary"), text(payload, "error_message")),
    ),
}

# --- how it is installed -------------------------------------------------------------------------

# One event name that the installed version does not know voids the whole file without a word, so
# only those are registered that every version with session hooks has.
HOOKS = parts.Hooks(
    client=NAME,
    # Seconds. `postToolUse` is only for what no `after…` event reports; those report more.
    reporting=parts.seconds("sessionStart", 10)
    | parts.seconds("beforeSubmitPrompt afterShellExecution afterMCPExecution afterFileEdit", 5)
    | {"postToolUse": {"matcher": "Read|Grep|Delete|Task|WebFetch|WebSearch", "timeout": 5}}
    | parts.seconds("postToolUseFailure subagentStop afterAgentResponse stop sessionEnd", 5),
    # Nothing before an action: those hooks permit or deny it, and a permission is the person's.
    recalling={"postToolUse": "Shell", "postToolUseFailure": "Shell"},
    start="sessionStart",
    version=1,
    is_grouped=False,
)


def _folder(context: InstallContext) -> Path:
    if context.project:
        return context.project / ".cursor"
    return context.place("CURSOR_DATA_DIR", ".cursor")


_FILES = parts.installer_of(
    parts.config_file(
        lambda context: _folder(context) / "hooks.json",
        HOOKS.edited,
        leftovers=({}, {"version": 1}),
    ),
    parts.config_file(lambda context: _folder(context) / "mcp.json", parts.Servers().edited),
    notes=["Open a new chat in Cursor; Settings > Hooks shows whether the file was accepted."],
)


def _install(context: InstallContext) -> InstallPlan:
    """Plan hooks and MCP server; raise ConfigInvalid for a link, which Cursor refuses."""
    hooks = _folder(context) / "hooks.json"
    if context.is_wanted and hooks.is_symlink():
        message = f"{hooks} is a symbolic link, and Cursor refuses hooks files that are"
        hint = "put the file itself in its place, then repeat"
        raise ConfigInvalid(message, hint=hint)
    return _FILES(context)


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=_install,
        per_project=True,
        programs=("cursor", "cursor-agent"),
        folders=(".cursor", ".config/Cursor", "Library/Application Support/Cursor"),
        transcripts=(".cursor/projects", ".cursor/chats"),
        sample=prompt_sample(
            "beforeSubmitPrompt", conversation_id="@SESSION@", cursor_version="3.20.17"
        ),
        session_variable="CURSOR_CONVERSATION_ID",
        marker_variables=("CURSOR_AGENT",),
        resume="cursor-agent --resume {}",
        # It runs the hooks installed for Claude Code beside its own, and reports an edit or a
        # command both as such and as a tool call.
        reports_twice=True,
        has_plugin=True,
        context_file="CONTEXT.cursor.json",
        wrap_context=lambda text: orjson.dumps({"additional_context": text}),
        format_reminder=lambda text, _: orjson.dumps(
            {"continue": True, "additional_context": text}
        ),
    ),
)
