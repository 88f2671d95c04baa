"""Claude Code: hooks of `settings.json`, one JSON object on standard input.

Key of a session is `session_id`; `agent_id` marks what a sub-agent did. Success and failure of a
tool are two events. Source: the client's hook reference, 2.1.240, and its SDK's types, 0.3.330.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias
from zlib import crc32

import msgspec

from observer.clients import tools
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.payload import dump, flag, inner, joined, rest, span_ms, text
from observer.core.events import (
    AnyBody,
    Compaction,
    Custom,
    Delegation,
    Event,
    FileWrite,
    Prompt,
    Reply,
    SessionEnd,
    SessionStart,
    ToolUse,
)

NAME = "claude-code"

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse and PostToolUseFailure repeat the input and know the end",
    "PostToolBatch": "PostToolUse reports each call of the batch",
    "MessageDisplay": "fragments of what Stop reports whole",
    "Notification": "the client waiting for somebody is not an event",
    "UserPromptExpansion": "UserPromptSubmit reports the prompt",
    "PermissionRequest": "the answer is what happens next",
    "PreModelSwitch": "PostModelSwitch reports it",
    "PostModelSwitch": "says nothing about the work",
    "Setup": "the client's own maintenance",
    "TeammateIdle": "the client's own scheduling",
    "Elicitation": "ElicitationResult reports question and answer",
    "ConfigChange": "the client's own settings",
    "InstructionsLoaded": "the same files at every start",
    "CwdChanged": "every event carries its folder",
    "DirectoryAdded": "every event carries its folder",
}
"""Events of which nothing is kept, and why."""

SYNTHETIC = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Sources of prompts that no person wrote: the client waking itself."""

_OWN_WORDS = re.compile(
    r"<(?:task-notification|system-reminder|local-command-\w+|command-(?:name|message|args)"
    r"|bash-(?:input|stdout|stderr))>"
)
"""How the client's own messages begin; older versions give no source and pass them as prompts."""
_REMINDERS = re.compile(r"\A(?:\s*<system-reminder>.*?</system-reminder>)+\s*(?=\S)", re.DOTALL)
"""What the client puts before the words of a person; only there, or blanks take quadratic time."""

TOOLS: Mapping[str, tools.Maker] = {
    "Bash": tools.command,
    "PowerShell": tools.command,
    "Write": tools.write,
    "Edit": tools.edit,
    "MultiEdit": tools.edit,
    "NotebookEdit": tools.edit,
    "Read": tools.read,
    "Glob": tools.find,
    "LS": tools.find,
    "Grep": tools.grep,
    "WebFetch": tools.fetch,
    "WebSearch": tools.ask_web,
    "Agent": tools.delegate,
    "Task": tools.delegate,
}

_Operation: TypeAlias = Literal["create", "edit", "delete"]
_FILE_CHANGES: Mapping[str, _Operation] = {"add": "create", "change": "edit", "unlink": "delete"}
_BASE = frozenset(
    {"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode"}
    | {"agent_id", "agent_type", "effort"}
)
_EXIT = "Exit code "


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    name = text(payload, "hook_event_name", "hookEventName") or envelope.event
    reader = _READERS.get(name)
    if name in NOISE:
        return ()
    body = reader(payload) if reader is not None else _unknown(name, payload)
    return () if body is None else (_event(envelope, payload, name=name, body=body),)


def host(envelope: Envelope, payload: Object) -> str:
    """Return who really ran the hook: several clients run the hooks installed for this one."""
    if "CURSOR_VERSION" in envelope.env or "cursor_version" in payload:
        return "cursor"
    if "DEVIN_PROJECT_DIR" in envelope.env:
        return "devin"
    if "sessionId" in payload:
        return "vscode" if "hookEventName" in payload else "copilot"
    return NAME


def _event(envelope: Envelope, payload: Object, *, name: str, body: AnyBody) -> Event:
    session = text(payload, "session_id", "sessionId") or envelope.env.get(
        "CLAUDE_CODE_SESSION_ID", ""
    )
    project = envelope.env.get("CLAUDE_PROJECT_DIR")
    return Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=NAME,
        body=body,
        session=session or envelope.stand_in_session,
        agent=_agent(payload),
        turn=text(payload, "prompt_id"),
        cwd=text(payload, "cwd") or envelope.cwd,
        roots=(project,) if project else (),
        host=envelope.host,
        route=f"{envelope.client}/{name}",
        dedup=_dedup(session, payload, body),
        author="person" if isinstance(body, Prompt) else "agent",
    )


def _agent(payload: Object) -> str:
    # Without an id, `agent_type` names the main agent's own persona.
    agent_id = text(payload, "agent_id")
    return f"{text(payload, 'agent_type')}/{agent_id}" if agent_id else ""


def _dedup(session: str, payload: Object, body: AnyBody) -> str:
    tool_use = text(payload, "tool_use_id")
    if tool_use:
        return f"tool:{session}:{tool_use}:after"
    turn = text(payload, "prompt_id")
    if isinstance(body, Prompt) and turn:
        return f"prompt:{session}:{turn}:{crc32(body.text.encode()):08x}"
    return ""


def _session_start(payload: Object) -> AnyBody:
    return SessionStart(source=text(payload, "source"), model=text(payload, "model"))


def _session_end(payload: Object) -> AnyBody:
    return SessionEnd(reason=text(payload, "reason"))


def _prompt(payload: Object) -> AnyBody | None:
    said = _REMINDERS.sub("", text(payload, "prompt"), count=1)
    is_synthetic = text(payload, "source") in SYNTHETIC or _OWN_WORDS.match(said) is not None
    return None if is_synthetic else Prompt(text=said)


def _stop(payload: Object) -> AnyBody:
    return Reply(text=text(payload, "last_assistant_message"))


def _stop_failure(payload: Object) -> AnyBody:
    said = joined(text(payload, "error"), text(payload, "error_details"))
    return Custom(name=f"{NAME}:StopFailure", text=said)


def _subagent(payload: Object) -> AnyBody:
    return Delegation(
        agent=text(payload, "agent_type"), result=text(payload, "last_assistant_message")
    )


def _compaction(payload: Object) -> AnyBody:
    summary = text(payload, "compact_summary")
    kept = summary.rpartition("<summary>")[2].partition("</summary>")[0].strip()
    return Compaction(trigger=text(payload, "trigger"), summary=kept)


def _file_changed(payload: Object) -> AnyBody:
    operation = _FILE_CHANGES.get(text(payload, "event"), "edit")
    return FileWrite(path=text(payload, "file_path"), operation=operation)


def _task(payload: Object) -> AnyBody:
    given: dict[str, Json] = {
        "taskId": text(payload, "task_id"),
        "subject": text(payload, "task_subject"),
        "description": text(payload, "task_description"),
    }
    return ToolUse(tool=text(payload, "hook_event_name"), input=dump(given))


def _tool(payload: Object) -> AnyBody:
    return tools.make(_call(payload), TOOLS)


def _call(payload: Object) -> tools.ToolCall:
    return tools.ToolCall(
        tool=text(payload, "tool_name"),
        given=inner(payload, "tool_input"),
        response=payload.get("tool_response"),
        failed=False,
        duration_ms=span_ms(payload, "duration_ms"),
    )


def _failed_tool(payload: Object) -> AnyBody:
    exit_code, error = _split_exit(text(payload, "error"))
    call = msgspec.structs.replace(
        _call(payload),
        response=None,
        error=error,
        failed=True,
        exit_code=exit_code,
        interrupted=bool(flag(payload, "is_interrupt")),
    )
    return tools.make(call, TOOLS)


def _split_exit(error: str) -> tuple[int | None, str]:
    """Part "Exit code N", the first line of a failed command, from its output."""
    first, _, rest = error.partition("\n")
    digits = first.removeprefix(_EXIT).strip()
    if first.startswith(_EXIT) and digits.isdecimal() and len(digits) < 10:
        return int(digits), rest
    return None, error


def _unknown(name: str, payload: Object) -> AnyBody:
    return Custom(name=f"{NAME}:{name}", text=rest(payload, beside=_BASE))


_READERS: Mapping[str, Callable[[Object], AnyBody | None]] = {
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool,
    "PostToolUseFailure": _failed_tool,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SubagentStart": _subagent,
    "SubagentStop": _subagent,
    "PreCompact": _compaction,
    "PostCompact": _compaction,
    "FileChanged": _file_changed,
    "TaskCreated": _task,
    "TaskCompleted": _task,
}
