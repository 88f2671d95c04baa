"""Qwen Code: `~/.qwen/projects/*/chats/*.jsonl`, one file a session, and those of its sub-agents.

The format is the client's own and undocumented; seen in version 0.24.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.importers.records import (
    HookCall,
    Opening,
    RecordCalls,
    first_ms,
    first_said,
    source_of,
    words_of,
)

_RELAY = "tool_call"
_TYPED = frozenset({"", "mid_turn_user_message"})
_SUMMARY = re.compile(r"<(summary|state_snapshot)>(.*?)</\1>", re.DOTALL)


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    known = list(found)
    session, at_ms = first_said(known, "sessionId"), first_ms(known)
    is_chat = any("uuid" in record for record in known)
    if not session or at_ms is None or not is_chat:
        return None
    return Opening(session, first_said(known, "cwd"), at_ms)


class _Calls(RecordCalls):
    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        if record.get("forkedFrom"):
            return  # a copy, in a session that was made from another
        self.folder = text(record, "cwd") or self.folder
        self.branch = text(record, "gitBranch") or self.branch
        self.agent = {}
        if record.get("isSidechain"):
            name = text(record, "agentName") or "general-purpose"
            self.agent = {"agent_id": text(record, "agentId") or name, "agent_type": name}
        kind, key = text(record, "type"), text(record, "uuid")
        if kind == "user" and not self.agent and text(record, "subtype") in _TYPED:
            shown = text(inner(record, "systemPayload"), "displayText")
            if words := shown or words_of(inner(record, "message").get("parts")):
                yield from self.prompt(at_ms, words, key)
        elif kind == "assistant":
            self._answer(at_ms, record, key)
        elif kind == "tool_result":
            yield from self._results(at_ms, record)
        elif text(record, "subtype") == "chat_compression":
            history = list(rows(inner(record, "systemPayload"), "compressedHistory"))
            said = words_of(history[0].get("parts")) if history else ""
            found = _SUMMARY.search(said)
            summary = f"<summary>{found[2] if found else said}</summary>"
            yield self.call(at_ms, "PostCompact", {"compact_summary": summary}, key)

    def _answer(self, at_ms: int, record: Object, key: str) -> None:
        message = inner(record, "message")
        for part in rows(message, "parts"):
            call = inner(part, "functionCall")
            name, given = text(call, "name"), inner(call, "args")
            if name == _RELAY:
                name, given = text(given, "name"), inner(given, "arguments")
            self.asked_of[text(call, "id")] = (name, given)
        if not self.agent:
            self.say(at_ms, words_of(message.get("parts")), key)

    def _results(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        result = inner(record, "toolCallResult")
        for part in rows(inner(record, "message"), "parts"):
            answer = inner(part, "functionResponse")
            call = text(answer, "id")
            if call not in self.asked_of or text(result, "status") == "cancelled":
                continue
            name, given = self.asked_of.pop(call)
            response = inner(answer, "response")
            fields: dict[str, Json] = {"tool_name": name, "tool_input": dict(given), **self.agent}
            failed = text(result, "status") == "error" and (text(response, "output") or "failed")
            if error := text(response, "error") or failed:
                yield self.call(at_ms, "PostToolUseFailure", {**fields, "error": error}, call)
            else:
                shown = result.get("resultDisplay")
                said: Json = {"llmContent": response.get("output"), "returnDisplay": shown}
                yield self.call(at_ms, "PostToolUse", {**fields, "tool_response": said}, call)


SOURCES = (source_of("qwen", (".qwen", "QWEN_HOME", "projects"), _opening, _Calls),)
