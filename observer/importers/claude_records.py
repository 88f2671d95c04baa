"""The records of a session's transcripts, by time and each once, and what their parts say.

A first pass notes where each record lies; the records are parsed again one by one as they are
asked for, so that a session of any size needs little memory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from observer.clients.envelope import Json
from observer.clients.payload import inner, rows, text
from observer.importers.jsonl import Line, Problems, lines, opened, parse, time_of

Record = Mapping[str, Any]
"""One record of a transcript; of its fields nothing is certain."""

KINDS = frozenset({"assistant", "progress", "queue-operation", "system", "user"})
"""Types of records that say what happened; the others are the client's bookkeeping."""

_CLIENTS_COMMANDS = frozenset(
    """
    /add-dir /agents /bug /clear /compact /config /context /cost /doctor /exit /export /extra-usage
    /fast /feedback /help /hooks /ide /login /logout /mcp /memory /model /output-style /permissions
    /plan /plugin /privacy-settings /quit /release-notes /rename /resume /rewind /skills /stats
    /status /statusline /tasks /terminal-setup /theme /todos /upgrade /usage /vim
    """.split()  # noqa: SIM905 - as all word lists are written here
)
"""Commands that the client answers itself, without a hook."""
_OWN = re.compile(
    r"\s*(?:<(?:task-notification|agent-notification|system-reminder|local-command-|bash-input"
    r"|bash-stdout|bash-stderr|command-name|command-message|user-prompt-submit-hook)"
    r"|\[Request interrupted by user|Caveat: |\{\"task_id\":)"
)
_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


class Head(NamedTuple):
    """Where a record lies, and what has to be known of it before its turn.

    `key` is the same in every copy of the record; `agent` is the sub-agent that it is of.
    """

    at_ms: int
    file: int
    offset: int
    kind: str
    operation: str
    agent: str
    key: str


class Row(NamedTuple):
    """A record with its head."""

    head: Head
    record: Record

    @property
    def at_ms(self) -> int:
        """The record's time in UTC milliseconds."""
        return self.head.at_ms


class Records:
    """The records of one session, however many files hold it.

    Args:
        paths: its transcripts, those of its sub-agents included.
        session: its id; records of other sessions in the same files are left out.
        known: ids of records that belong to the session that this one was forked from.
        problems: counts what cannot be read.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        session: str,
        *,
        problems: Problems,
        known: AbstractSet[str] = frozenset(),
    ) -> None:
        self._paths = sorted(paths)
        self._problems = problems
        seen: set[str] = set()
        self.heads: Sequence[Head] = sorted(
            head
            for number, path in enumerate(self._paths)
            for head in _heads(number, path, session, seen=seen, known=known, problems=problems)
        )

    def __iter__(self) -> Iterator[Row]:
        """Yield the records by time; one that says none has that of the one before it."""
        return self.of(self.heads)

    def folder(self) -> tuple[str, str]:
        """Return the first folder and branch that a record names; a first record has neither."""
        first = next((row.record for row in self if text(row.record, "cwd")), {})
        return text(first, "cwd"), text(first, "gitBranch")

    def of(self, heads: Iterable[Head]) -> Iterator[Row]:
        """Yield some of the records."""
        with ExitStack() as stack:
            files: dict[int, IO[bytes]] = {}
            for head in heads:
                if head.file not in files:
                    files[head.file] = stack.enter_context(opened(self._paths[head.file]))
                files[head.file].seek(head.offset)
                data = files[head.file].readline()
                line = Line(head.offset, 0, data, is_whole=True)
                record = parse(line, self._paths[head.file], Problems())
                if record is not None:  # it was changed between the two passes
                    yield Row(head, record)


def _heads(
    number: int,
    path: Path,
    session: str,
    *,
    seen: set[str],
    known: AbstractSet[str],
    problems: Problems,
) -> Iterator[Head]:
    last_ms: int | None = None
    for line in lines(path, problems):
        record = parse(line, path, problems)
        if record is None or not is_of(record, session) or text(record, "uuid") in known:
            continue
        kind, said_ms = text(record, "type"), time_of(record)
        at_ms = last_ms = last_ms if said_ms is None else said_ms
        name = text(record, "uuid").encode(errors="replace") or line.data.strip()
        key = hashlib.blake2b(name, digest_size=12).hexdigest()
        if kind in KINDS and at_ms is not None and key not in seen:
            seen.add(key)
            agent = text(record, "agentId") if record.get("isSidechain") else ""
            yield Head(at_ms, number, line.offset, kind, text(record, "operation"), agent, key)


def is_of(record: Record, session: str) -> bool:
    """Return True if a record belongs to a session and was not copied from the one before it."""
    return record.get("sessionId", session) == session and not record.get("forkedFrom")


def blocks(record: Record) -> list[Mapping[str, Json]]:
    """Return the content blocks of a message; a plain text is one block."""
    message = inner(record, "message")
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(rows(message, "content"))


def prompt_of(record: Record) -> str | None:
    """Return what the person typed, or None if the record is not a prompt."""
    # A turn that came through a channel is marked as the client's own, but for where it is from.
    is_own = bool(record.get("isMeta")) and not text(inner(record, "origin"), "kind")
    if is_own or record.get("isCompactSummary") or record.get("isSidechain"):
        return None
    parts = blocks(record)
    if any(part.get("type") == "tool_result" for part in parts):
        return None
    said = "\n".join(
        text(part, "text")
        for part in parts
        if part.get("type") == "text" and not text(part, "text").startswith("<ide_")
    )
    if found := _NAME.search(said[:400]):
        name = found[1].strip()
        name = name if name.startswith("/") else f"/{name}"
        if name in _CLIENTS_COMMANDS:
            return None
        given = _ARGUMENTS.search(said)
        return f"{name} {given[1].strip() if given else ''}".strip()
    return typed_prompt(said)


def typed_prompt(said: str) -> str | None:
    """Return a text, or None if the client wrote it, or answers it itself."""
    words = said.split(maxsplit=1)
    return None if not words or words[0] in _CLIENTS_COMMANDS or _OWN.match(said) else said


def is_hook(record: Record, event: str) -> bool:
    """Return True if a record reports that a hook of this event ran."""
    data = inner(record, "data")
    return data.get("type") == "hook_progress" and data.get("hookEvent") == event
