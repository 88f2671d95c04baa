"""Gemini CLI: `~/.gemini/tmp/*/chats`, one file a session, and those of its sub-agents.

Files of old versions are one JSON object, those of newer ones a record a line, where a message that
goes on is written again. The format is undocumented; seen in version 0.61.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, prose, rows, text, words
from observer.importers.records import (
    GLANCED,
    HookCall,
    Opening,
    RecordCalls,
    records,
    source_of,
    words_of,
)
from observer.importers.source import SUFFIXES, FoundSession, Problems, read_object, time_of

_CHATS = "chats"
_SESSION = "session-"
_ROOT = ".project_root"
_OBJECT = ".json"

_AGENT = "subagent"
_WORKSPACE = re.compile(r"Workspace Directories:\**\n\s*- (/[^\n]+)")
_OWN = re.compile(r"\s*(?:<session_context>|<state_snapshot>|[/?][\w:-]*(?:\s|\Z))")
"""How texts begin that are no prompts: the client's own, and commands that it answers itself."""
_DONE = frozenset({"success", "error"})


def _opening(path: Path, _: Iterable[Object]) -> Opening | None:
    known = list(islice(_records(path, Problems()), GLANCED))
    head = known[0] if known else {}
    begun_ms = time_of(head, "startTime")
    session = text(head, "sessionId")
    if not session or begun_ms is None:
        return None
    if head.get("kind") == _AGENT:
        session = path.parent.name
    return Opening(session, _folder(path, known), begun_ms)


def _folder(path: Path, known: Sequence[Object]) -> str:
    chats = next((one for one in path.parents if one.name == _CHATS), path)
    with suppress(OSError, UnicodeDecodeError):
        return (chats.parent / _ROOT).read_text(encoding="utf-8").strip()
    if named := words(known[0], "directories"):
        return named[0]
    said = (_WORKSPACE.search(words_of(record.get("content"))) for record in known)
    return next((found[1].strip() for found in said if found), "")


def _records(path: Path, problems: Problems) -> Iterator[Object]:
    """Yield the head of a session, and its messages, those that were written again too."""
    whole = path.suffix == _OBJECT
    found = [read_object(path, problems) or {}] if whole else records(path, problems)
    for record in found:
        yield {name: value for name, value in record.items() if name != "messages"}
        yield from rows(record, "messages")
        yield from rows(inner(record, "$set"), "messages")


class _Calls(RecordCalls):
    asked, replied, words = "BeforeAgent", "AfterAgent", "prompt_response"

    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        self._seen: set[str] = set()

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        self.agent = {}
        for record in _records(path, problems):
            if record.get("kind") == _AGENT:
                self.agent = {"agent_id": text(record, "sessionId"), "agent_type": _AGENT}
            yield record

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        kind, key = text(record, "type"), text(record, "id")
        if kind == "gemini":
            for call in rows(record, "toolCalls"):
                yield from self._done(at_ms, call)
            if not self.agent:
                self.say(at_ms, words_of(record.get("content")), key)
                tokens = inner(record, "tokens")
                given, cached = number(tokens, "input") or 0, number(tokens, "cached") or 0
                written = (number(tokens, "output") or 0) + (number(tokens, "thoughts") or 0)
                spent = {"input": given - cached, "output": written, "cache_read": cached}
                self.usage[key] = spent
        elif kind == "user" and key not in self._seen and not self.agent:
            said = words_of(record.get("content"))
            if said.strip() and not _OWN.match(said):
                self._seen.add(key)
                yield from self.prompt(at_ms, said, key)

    def _done(self, at_ms: int, call: Object) -> Iterator[HookCall]:
        key = text(call, "id")
        if key in self._seen or text(call, "status") not in _DONE:
            return
        self._seen.add(key)
        result = call.get("result")
        parts = rows(call, "result") if isinstance(result, list) else (inner(call, "result"),)
        answers = (inner(one, "functionResponse") for one in parts)
        response = inner(next(answers, {}), "response")
        shown = call.get("resultDisplay")
        said: dict[str, Json] = {"llmContent": response.get("output"), "returnDisplay": shown}
        if error := text(response, "error") or (
            ""
            if text(call, "status") != "error"
            else text(response, "output") or prose(call.get("resultDisplay")) or "failed"
        ):
            said["error"] = {"message": error}
        fields: dict[str, Json] = {
            "tool_name": text(call, "name"),
            "tool_input": dict(inner(call, "args")),
            "tool_response": said,
            **self.agent,
        }
        done_ms = time_of(call)
        yield self.call(at_ms if done_ms is None else done_ms, "AfterTool", fields, key)


SOURCES = (
    source_of(
        "gemini",
        (".", "GEMINI_CLI_HOME", ".gemini/tmp"),
        _opening,
        _Calls,
        endings=(*SUFFIXES, _OBJECT),
        is_one=lambda file: _CHATS in file.parts or file.name.startswith(_SESSION),
    ),
)
