"""GitHub Copilot CLI: `~/.copilot/session-state/*/events.jsonl`, one file a session.

The client has a schema of these events, which it does not promise; seen in versions 1.0.64 to
1.0.102. Beyond what its hooks report, they have what the agent said at the end of a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.importers.jsonl import Problems, time_of
from observer.importers.records import HookCall, Opening, RecordCalls, find_sessions, read_session
from observer.importers.source import FoundSession, SessionSource

_AROUND = re.compile(r"<(current_datetime|reminder)>.*?</\1>\s*", re.DOTALL)
"""What the client puts around a prompt."""
_REFUSED = frozenset({"denied", "rejected"})


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    for record in found:
        data, at_ms = inner(record, "data"), time_of(record)
        if text(record, "type") == "session.start" and at_ms is not None:
            session = text(data, "sessionId")
            return Opening(session, text(inner(data, "context"), "cwd"), at_ms) if session else None
    return None


find = partial(find_sessions, _opening)


class _Row(NamedTuple):
    """A record: its time, id and data, and the sub-agent that it is of."""

    at_ms: int
    key: str
    data: Object
    agent: str


class _Calls(RecordCalls):
    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        self._agents: dict[str, str] = {}
        self._handed_back: dict[str, str] = {}

    def model_of(self, record: Object) -> str:
        return text(inner(record, "data"), "selectedModel", "model")

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        readers: Mapping[str, Callable[[_Row], Iterator[HookCall]]] = {
            "session.start": self._begun,
            "session.resume": self._resumed,
            "session.context_changed": self._begun,
            "session.compaction_complete": self._compacted,
            "user.message": self._asked,
            "assistant.message": self._answered,
            "abort": self._aborted,
            "tool.execution_start": self._called,
            "tool.execution_complete": self._done,
            "subagent.started": self._handed_over,
            "subagent.completed": self._came_back,
            "subagent.failed": self._came_back,
        }
        reader, data = readers.get(text(record, "type")), inner(record, "data")
        if reader is not None:
            agent = text(record, "agentId") or text(data, "parentToolCallId")
            yield from reader(_Row(at_ms, text(record, "id"), data, agent))

    def _begun(self, row: _Row) -> Iterator[HookCall]:
        context = inner(row.data, "context") or row.data
        self.folder = text(context, "cwd") or self.folder
        self.branch = text(context, "branch") or self.branch
        yield from ()

    def _resumed(self, row: _Row) -> Iterator[HookCall]:
        yield from self._begun(row)
        yield self.call(row.at_ms, "SessionStart", {"source": "resume"}, row.key)

    def _compacted(self, row: _Row) -> Iterator[HookCall]:
        if row.data.get("success") is not False:
            summary = f"<summary>{text(row.data, 'summaryContent')}</summary>"
            trigger = text(row.data, "trigger")
            fields: Object = {"trigger": trigger, "compact_summary": summary}
            yield self.call(row.at_ms, "PostCompact", fields, row.key)

    def _asked(self, row: _Row) -> Iterator[HookCall]:
        is_own = row.agent or row.data.get("source") or row.data.get("isAutopilotContinuation")
        said = text(row.data, "content") or _AROUND.sub("", text(row.data, "transformedContent"))
        if not is_own and said.strip():
            yield from self.prompt(row.at_ms, said, row.key)

    def _answered(self, row: _Row) -> Iterator[HookCall]:
        said = text(row.data, "content")
        for call in rows(row.data, "toolRequests"):
            asked = (text(call, "name"), inner(call, "arguments"))
            self.asked_of.setdefault(text(call, "toolCallId"), asked)
        if not row.agent:
            self.say(row.at_ms, said, row.key)
        elif said:
            self._handed_back[row.agent] = said
        yield from ()

    def _aborted(self, row: _Row) -> Iterator[HookCall]:
        if not row.agent:
            self.interrupt()
        yield from ()

    def _called(self, row: _Row) -> Iterator[HookCall]:
        given = inner(row.data, "arguments")
        self.asked_of[text(row.data, "toolCallId")] = (text(row.data, "toolName"), given)
        yield from ()

    def _done(self, row: _Row) -> Iterator[HookCall]:
        call = text(row.data, "toolCallId")
        error = inner(row.data, "error")
        if call not in self.asked_of or text(error, "code") in _REFUSED:
            return
        name, given = self.asked_of.pop(call)
        fields: dict[str, Json] = {"tool_name": name, "tool_input": dict(given)}
        if row.agent:
            fields |= {"agent_id": row.agent, "agent_type": self._agents.get(row.agent, "")}
        if row.data.get("success") is False:
            failed: Object = {**fields, "error": text(error, "message")}
            yield self.call(row.at_ms, "PostToolUseFailure", failed, call)
            return
        said = text(inner(row.data, "result"), "content")
        fields["tool_result"] = {"result_type": "success", "text_result_for_llm": said}
        yield self.call(row.at_ms, "PostToolUse", fields, call)

    def _handed_over(self, row: _Row) -> Iterator[HookCall]:
        agent = row.agent or text(row.data, "toolCallId")
        self._agents[agent] = text(row.data, "agentName")
        yield from ()

    def _came_back(self, row: _Row) -> Iterator[HookCall]:
        agent = row.agent or text(row.data, "toolCallId")
        said = self._handed_back.pop(agent, "") or text(row.data, "error")
        name = text(row.data, "agentName")
        fields: Object = {"agent_id": agent, "agent_type": name, "response": said}
        yield self.call(row.at_ms, "SubagentStop", fields, row.key)


read = partial(read_session, "copilot", _Calls)
SOURCES = (
    SessionSource("copilot", ".copilot", "COPILOT_HOME", "session-state", find=find, read=read),
)
