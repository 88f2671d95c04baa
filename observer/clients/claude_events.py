"""Reads hook payloads in the form of Claude Code's, which other clients have taken over. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

from msgspec.structs import replace

from observer.clients import tools
from observer.clients.client import Reader, bodies
from observer.clients.envelope import Envelope, Object
from observer.clients.payload import event_of, flag, inner, span_ms, text, token_usage
from observer.core import events


class Dialect(NamedTuple):
    """What a client says in a way of its own.

    `aliases` are its names of events; `readers` are of further events, by Claude Code's names, or
    other ones of the same. `correct` turns a tool call into what it says; `turn` is the field, and
    `session_variable` the variable, that names the turn and the session.
    """

    client: str
    tools: Mapping[str, tools.Maker]
    noise: Collection[str]
    aliases: Mapping[str, str] = {}
    readers: Mapping[str, Reader] = {}
    correct: Callable[[tools.ToolCall], tools.ToolCall] = lambda call: call
    turn: str = "prompt_id"
    session_variable: str = ""

    def read(self, envelope: Envelope, payload: Object) -> Iterator[events.Event]:
        """Yield the events that one hook call reports; none where nothing of it is kept."""
        given = text(payload, "hook_event_name", "hookEventName") or envelope.event
        name = self.aliases.get(given, given)
        if given in self.noise:
            return
        found: Iterable[events.AnyBody]
        if name in _TOOL_EVENTS:
            call = self.correct(read_call(payload, failed=name == "PostToolUseFailure"))
            found = tools.effects(call, self.tools)
        else:
            reader = self.readers.get(name) or _READERS.get(name)
            found = bodies(reader, payload, kind=f"{self.client}:{name}", beside=_BASE)
        session = text(payload, "session_id", "sessionId")
        session = session or envelope.env.get(self.session_variable, "")
        project = envelope.env.get("CLAUDE_PROJECT_DIR")
        cwd, turn = text(payload, "cwd"), text(payload, self.turn)
        # Without an id, `agent_type` names the main agent's own persona.
        agent_id = text(payload, "agent_id")
        for body in found:
            yield replace(
                event_of(envelope, body, client=self.client, session=session, cwd=cwd, name=given),
                agent=f"{text(payload, 'agent_type')}/{agent_id}" if agent_id else "",
                turn=turn,
                roots=(project,) if project else (),
                dedup=key_of(session, payload, body, turn),
            )


_CONTINUED = "This session is being continued"
_BEFORE_SUMMARY = "\nSummary:\n"
_AFTER_SUMMARY = "\n\nIf you need specific details from before compaction"
_Operation: TypeAlias = Literal["create", "edit", "delete"]
_FILE_CHANGES: Mapping[str, _Operation] = {"add": "create", "change": "edit", "unlink": "delete"}
_BASE = frozenset(
    {"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode"}
    | {"agent_id", "agent_type", "effort", "turn_id", "timestamp", "model"}
)
_TOOL_EVENTS = frozenset({"PostToolUse", "PostToolUseFailure"})


def key_of(session: str, payload: Object, body: events.AnyBody, turn: str) -> str:
    """Return what two reports of one event have in common, "" where nothing is known to be."""
    tool_use = text(payload, "tool_use_id")
    if tool_use:
        return f"tool:{session}:{tool_use}:after"
    if isinstance(body, events.Prompt) and turn:
        return f"prompt:{session}:{turn}:{crc32(body.text.encode()):08x}"
    if isinstance(body, events.SessionEnd) and (at := text(payload, "timestamp")):
        return f"end:{session}:{at[:16]}"  # by the minute: some ends are reported three times
    return ""


def read_call(payload: Object, *, failed: bool) -> tools.ToolCall:
    """Return the tool call that an event reports, whose answer is an error if it failed."""
    return tools.ToolCall(
        tool=text(payload, "tool_name"),
        given=inner(payload, "tool_input"),
        response=None if failed else payload.get("tool_response"),
        error=text(payload, "error") if failed else "",
        failed=failed,
        interrupted=failed and bool(flag(payload, "is_interrupt")),
        duration_ms=span_ms(payload, "duration_ms"),
    )


def _subagent(payload: Object) -> events.AnyBody | None:
    agent = text(payload, "agent_type")
    if payload.get("agent_type") == "":
        return None  # the client's own helper, which writes the summary of a compaction
    return events.Delegation(agent=agent, result=text(payload, "last_assistant_message"))


def _compaction(payload: Object) -> events.AnyBody:
    """Read a compaction; its summary stands in tags, in a transcript between the client's words."""
    summary = text(payload, "compact_summary")
    if summary.startswith(_CONTINUED):
        _, mark, after = summary.partition(_BEFORE_SUMMARY)
        summary = (after if mark else summary).partition(_AFTER_SUMMARY)[0]
    kept = summary.rpartition("<summary>")[2].partition("</summary>")[0].strip()
    return events.Compaction(trigger=text(payload, "trigger"), summary=kept)


def _task(payload: Object) -> events.AnyBody:
    given = {
        "taskId": text(payload, "task_id"),
        "subject": text(payload, "task_subject"),
        "description": text(payload, "task_description"),
    }
    return tools.other(tools.ToolCall(tool=text(payload, "hook_event_name"), given=given))


_READERS: Mapping[str, Reader] = {
    "SessionStart": lambda payload: events.SessionStart(
        source=text(payload, "source"), model=text(payload, "model")
    ),
    "SessionEnd": lambda payload: events.SessionEnd(reason=text(payload, "reason")),
    "UserPromptSubmit": lambda payload: events.Prompt(text=text(payload, "prompt")),
    "Stop": lambda payload: events.Reply(
        text=text(payload, "last_assistant_message"), usage=token_usage(inner(payload, "usage"))
    ),
    "SubagentStart": _subagent,
    "SubagentStop": _subagent,
    "PreCompact": _compaction,
    "PostCompact": _compaction,
    "FileChanged": lambda payload: events.FileWrite(
        path=text(payload, "file_path"), operation=_FILE_CHANGES.get(text(payload, "event"), "edit")
    ),
    "TaskCreated": _task,
    "TaskCompleted": _task,
}
