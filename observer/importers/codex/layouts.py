"""The lines of rollouts in all layouts that Codex has had, as the steps that today's have.

Since autumn 2025 a line is `{timestamp, type, payload}`. Before, the first line said id and time,
and the others were the bare items of the conversation, without times. Before that, when the client
was written in TypeScript, a file was one object with `session` and `items`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.importers.jsonl import Problems, lines, parse, read_object, time_of

ENDINGS = (".jsonl", ".jsonl.gz", ".json")
META, CONTEXT, EVENT, ITEM = "session_meta", "turn_context", "event_msg", "response_item"

_OBJECT = ".json"
_GLANCED = 40
_FOLDER = re.compile(r"<cwd>([^<\n]+)</cwd>|Current working directory: ([^\n]+)")


_MARKS = {
    "prompt": (b'"user_message"', b'"UserMessage"'),
    "end": (b'"task_complete"',),
    "commands": (b'"CommandExecution"',),
    "changes": (b'"FileChange"', b'"patch_apply_end"'),
    "tools": (b'"McpToolCall"',),
}


class Step(NamedTuple):
    """A step of a session: its time, its type, and what it says."""

    at_ms: int
    kind: str
    payload: Object


def steps(path: Path, problems: Problems) -> Iterator[Step]:
    """Yield the steps of a rollout, the session itself first."""
    records = _records(path, problems)
    first = next(records, {})
    begun_ms = time_of(first)
    if begun_ms is None or "type" in first or not text(first, "id"):
        yield from _steps(first)
        for record in records:
            yield from _steps(record)
        return
    early = list(islice(records, _GLANCED))
    yield Step(begun_ms, META, {**first, "cwd": _folder(early)})
    # Without times of their own, they keep their order.
    for number, record in enumerate(_chained(early, records), start=1):
        at_ms = time_of(record)
        yield Step(begun_ms + number if at_ms is None else at_ms, ITEM, record)


def events_in(path: Path) -> frozenset[str]:
    """Return what a rollout has events of, beside messages and calls.

    "prompt", "end" (of a turn), "commands", "changes" (of files) and "tools" (of servers).
    """
    found: set[str] = set()
    for line in lines(path, Problems()):
        found |= {name for name, marks in _MARKS.items() if any(map(line.data.__contains__, marks))}
        if len(found) == len(_MARKS):
            break
    return frozenset(found)


def _chained(early: Iterable[Object], later: Iterable[Object]) -> Iterator[Object]:
    yield from early
    yield from later


def _records(path: Path, problems: Problems) -> Iterator[Object]:
    if path.suffix == _OBJECT:
        whole = read_object(path, problems) or {}
        yield inner(whole, "session")
        yield from rows(whole, "items")
        return
    for line in lines(path, problems):
        yield parse(line, path, problems) or {}


def _steps(record: Object) -> Iterator[Step]:
    at_ms = time_of(record)
    if at_ms is not None:
        yield Step(at_ms, text(record, "type"), inner(record, "payload"))


def _folder(early: Iterable[Object]) -> str:
    """Return where a session went on whose first line does not say it."""
    for record in early:
        if found := _FOLDER.search(said_in(record)):
            return (found[1] or found[2]).strip()
        if folder := text(inner(record, "arguments"), "workdir"):
            return folder
    return ""


def said_in(item: Object) -> str:
    """Return the text of a message."""
    content: Json = item.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text(part, "text") for part in rows(item, "content"))
