"""Pi: `~/.pi/agent/sessions/*/*.jsonl`, one file a session; a fork begins with older copies.

The client describes the format; seen in version 0.74.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.importers.records import HookCall, Opening, RecordCalls, source_of, words_of
from observer.importers.source import time_of

_COUNTS = {
    "input": "input",
    "output": "output",
    "cache_read": "cacheRead",
    "cache_write": "cacheWrite",
}


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    head = next(iter(found), {})
    session, at_ms = text(head, "id"), time_of(head)
    if text(head, "type") != "session" or not session or at_ms is None:
        return None
    return Opening(session, text(head, "cwd"), at_ms)


class _Calls(RecordCalls):
    start, asked, replied = "session_start", "before_agent_start", "agent_end"
    end, words = "session_shutdown", "text"

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        given: dict[str, Json] = {"type": event, **fields}
        return {"event": given, "cwd": self.folder, "sessionId": self.session}

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        if at_ms < self._found.first_ms:
            return
        kind, key, message = text(record, "type"), text(record, "id"), inner(record, "message")
        role = text(message, "role")
        if kind == "compaction":
            yield self.call(at_ms, "session_compact", {"summary": text(record, "summary")}, key)
        elif role == "user" and (said := words_of(message.get("content"))).strip():
            yield from self.prompt(at_ms, said, key)
        elif role == "assistant":
            for part in rows(message, "content"):
                self.asked_of[text(part, "id")] = (text(part, "name"), inner(part, "arguments"))
            self.say(at_ms, words_of(message.get("content")), key)
            usage = inner(message, "usage")
            self.usage[key] = {name: number(usage, field) or 0 for name, field in _COUNTS.items()}
        elif role == "toolResult":
            call = text(message, "toolCallId")
            _, given = self.asked_of.pop(call, ("", {}))
            fields: dict[str, Json] = {
                "toolName": text(message, "toolName"),
                "toolCallId": call,
                "input": dict(given),
                "content": message.get("content"),
                "isError": message.get("isError"),
            }
            yield self.call(at_ms, "tool_result", fields, call)


SOURCES = (source_of("pi", (".pi/agent", "PI_CODING_AGENT_DIR", "sessions"), _opening, _Calls),)
