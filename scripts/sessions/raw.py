"""The tool calls of transcripts, as the raw records have them: the oracle's own reading."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')

Json = dict[str, Any]


class RawCall(NamedTuple):
    """A call; `done_ms` is None where it has no result, times are in milliseconds."""

    session: str
    tool: str
    given: Json
    asked_ms: int
    done_ms: int | None = None
    is_error: bool = False


def raw_calls(paths: Iterable[Path], session: str) -> dict[str, RawCall]:
    """Return the calls of a session and its sub-agents by their ids."""
    found: dict[str, RawCall] = {}
    for path in paths:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", errors="replace") as file:
            for record in filter(None, map(_record, file)):
                for message in _messages(record):
                    _add(found, message, session)
    return found


def added_lines(call: RawCall) -> set[str]:
    """Return the lines that an edit brings in, without the space around them."""
    old, new = call.given.get("old_string", ""), call.given.get("new_string", "")
    before, after = (
        {line.strip() for line in str(text).split("\n")}
        for text in (old, new or call.given.get("content", ""))
    )
    return after - before


def _record(line: str) -> Json | None:
    for text in (line, _ESCAPE.sub(lambda found: found[0] if found[1] else r"\\", line)):
        try:
            record = json.loads(text)
        except ValueError:
            continue
        return record if isinstance(record, dict) else None
    return None


def _messages(record: Json) -> Iterator[Json]:
    """Yield a record, or the record of a sub-agent inside it."""
    data = record.get("data")
    inside = data if isinstance(data, dict) and data.get("type") == "agent_progress" else {}
    yield inside.get("message") or record


def _add(found: dict[str, RawCall], record: Json, session: str) -> None:
    content = (record.get("message") or {}).get("content")
    for block in content if isinstance(content, list) else ():
        kind = block.get("type")
        if kind == "tool_use" and block["id"] not in found:
            given = block.get("input") or {}
            found[block["id"]] = RawCall(session, block["name"], given, _time(record))
        elif kind == "tool_result":
            call = found.get(block["tool_use_id"])
            if call and call.done_ms is None:
                is_error = bool(block.get("is_error"))
                done = call._replace(done_ms=_time(record), is_error=is_error)
                found[block["tool_use_id"]] = done


def _time(record: Json) -> int:
    at = datetime.fromisoformat(record["timestamp"])
    return round(at.timestamp() * 1000)
