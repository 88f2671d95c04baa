"""The records of Claude Code transcripts: reading them, and what their parts say."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

Json = dict[str, Any]

REFUSED = "The user doesn't want to proceed with this tool use"
"""How the result of a call begins that the person did not allow."""

_NAMES_OF_CLIENTS_COMMANDS = (
    "/add-dir /agents /bug /clear /compact /config /context /cost /doctor /exit /export "
    "/extra-usage /fast /feedback /help /hooks /ide /login /logout /mcp /memory /model "
    "/output-style /permissions /plan /plugin /privacy-settings /quit /release-notes /rename "
    "/resume /rewind /skills /stats /status /statusline /tasks /terminal-setup /theme /todos "
    "/upgrade /usage /vim"
)
_CLIENTS_COMMANDS = frozenset(_NAMES_OF_CLIENTS_COMMANDS.split())
"""Commands that the client answers itself, without a hook."""
_OWN = re.compile(
    r"\s*(?:<(?:task-notification|system-reminder|local-command-|bash-input|bash-stdout|bash-stderr"
    r"|command-name|command-message|user-prompt-submit-hook)|\[Request interrupted by user"
    r"|Caveat: )"
)
_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


class Row(NamedTuple):
    """A record of a transcript and its time in milliseconds."""

    at_ms: int
    record: Json


def read_rows(paths: Iterable[Path], session: str) -> list[Row]:
    """Return the records of one session by time, each once, however many files hold it."""
    seen: set[str] = set()
    rows = []
    for path in sorted(paths):
        for record in _records(path):
            key = str(record.get("uuid") or msgspec.json.encode(record))
            if record.get("sessionId", session) == session and key not in seen:
                seen.add(key)
                rows.append(Row(to_ms(record["timestamp"]), record))
    return sorted(rows, key=lambda row: row.at_ms)


def to_ms(stamp: str) -> int:
    """Return an ISO 8601 time as UTC milliseconds."""
    return int(datetime.fromisoformat(stamp).timestamp() * 1000)


def blocks(record: Json) -> list[Json]:
    """Return the content blocks of a message; a plain text is one block."""
    content = (record.get("message") or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def text_of(content: object) -> str:
    """Return the text of a message's or a result's content."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part.get("text", "")
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text"
    )


def prompt_of(record: Json) -> str | None:
    """Return what the person typed, or None if the record is not a prompt."""
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("isSidechain"):
        return None
    parts = blocks(record)
    if any(part.get("type") == "tool_result" for part in parts):
        return None
    text = "\n".join(
        part["text"]
        for part in parts
        if part.get("type") == "text" and not part["text"].startswith("<ide_")
    )
    if found := _NAME.search(text[:400]):
        return _slash_command(found[1].strip(), text)
    return None if not text.strip() or is_of_client(text) else text


def is_of_client(text: str) -> bool:
    """Return True if the client, not the person, wrote a text."""
    return _OWN.match(text) is not None


def is_hook(record: Json, event: str) -> bool:
    """Return True if a record reports that a hook of this event ran."""
    data = record.get("data") or {}
    return data.get("type") == "hook_progress" and data.get("hookEvent") == event


def _slash_command(name: str, text: str) -> str | None:
    name = name if name.startswith("/") else f"/{name}"
    if name in _CLIENTS_COMMANDS:
        return None
    given = _ARGUMENTS.search(text)
    return f"{name} {given[1].strip() if given else ''}".strip()


def _records(path: Path) -> Iterator[Json]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            try:
                record = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if isinstance(record, dict) and "type" in record and record.get("timestamp"):
                yield record
