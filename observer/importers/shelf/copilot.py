"""GitHub Copilot CLI: `~/.copilot/session-state/*/events.jsonl`, one file a session.

The client has a schema of these events; seen in versions 1.0.64 to 1.0.102.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.importers.records import HookCall, Opening, RecordCalls, source_of
from observer.importers.source import FoundSession, Problems, time_of

_AROUND = re.compile(r"<(current_datetime|reminder)>.*?</\1>\s*", re.DOTALL)
_REFUSED = frozenset({"denied", "rejected"})


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    for record in found:
        data, at_ms = inner(record, "data"), time_of(record)
        if text(record, "type") == "session.start" and at_ms is not None:
            session = text(data, "sessionId")
            return Opening(session, text(inner(data, "context"), "cwd"), at_ms) if session else None
    return None


class _Calls(RecordCalls):
    model = ("data", "selectedModel", "model")

    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        self._agents: dict[str, str] = {}
        self._handed_back: dict[str, str] = {}

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        kind, key, data = text(record, "type"), text(record, "id"), inner(record, "data")
        agent = text(record, "agentId") or text(data, "parentToolCallId")
        self._note(at_ms, kind, key, data, agent)
        if kind == "abort" and not agent:
            self.said = None
        elif kind == "session.resume":
            yield self.call(at_ms, "SessionStart", {"source": "resume"}, key)
        elif kind == "session.compaction_complete" and data.get("success") is not False:
            summary = f"<summary>{text(data, 'summaryContent')}</summary>"
            fields: Object = {"trigger": text(data, "trigger"), "compact_summary": summary}
            yield self.call(at_ms, "PostCompact", fields, key)
        elif kind == "user.message":
            is_own = agent or data.get("source") or data.get("isAutopilotContinuation")
            said = text(data, "content") or _AROUND.sub("", text(data, "transformedContent"))
            if not is_own and said.strip():
                yield from self.prompt(at_ms, said, key)
        elif kind == "tool.execution_complete":
            yield from self._done(at_ms, data, agent)
        elif kind in {"subagent.completed", "subagent.failed"}:
            agent = agent or text(data, "toolCallId")
            said = self._handed_back.pop(agent, "") or text(data, "error")
            name = text(data, "agentName")
            fields = {"agent_id": agent, "agent_type": name, "response": said}
            yield self.call(at_ms, "SubagentStop", fields, key)

    def _note(self, at_ms: int, kind: str, key: str, data: Object, agent: str) -> None:
        if kind in {"session.start", "session.resume", "session.context_changed"}:
            context = inner(data, "context") or data
            self.folder = text(context, "cwd") or self.folder
            self.branch = text(context, "branch") or self.branch
        elif kind == "assistant.message":
            for call in rows(data, "toolRequests"):
                asked = (text(call, "name"), inner(call, "arguments"))
                self.asked_of.setdefault(text(call, "toolCallId"), asked)
            said = text(data, "content")
            if not agent:
                self.say(at_ms, said, key)
            elif said:
                self._handed_back[agent] = said
        elif kind == "tool.execution_start":
            given = inner(data, "arguments")
            self.asked_of[text(data, "toolCallId")] = (text(data, "toolName"), given)
        elif kind == "subagent.started":
            self._agents[agent or text(data, "toolCallId")] = text(data, "agentName")

    def _done(self, at_ms: int, data: Object, agent: str) -> Iterator[HookCall]:
        call, error = text(data, "toolCallId"), inner(data, "error")
        if call not in self.asked_of or text(error, "code") in _REFUSED:
            return
        name, given = self.asked_of.pop(call)
        fields: dict[str, Json] = {"tool_name": name, "tool_input": dict(given)}
        if agent:
            fields |= {"agent_id": agent, "agent_type": self._agents.get(agent, "")}
        if data.get("success") is False:
            failed: Object = {**fields, "error": text(error, "message")}
            yield self.call(at_ms, "PostToolUseFailure", failed, call)
            return
        said = text(inner(data, "result"), "content")
        fields["tool_result"] = {"result_type": "success", "text_result_for_llm": said}
        yield self.call(at_ms, "PostToolUse", fields, call)


SOURCES = (source_of("copilot", (".copilot", "COPILOT_HOME", "session-state"), _opening, _Calls),)
