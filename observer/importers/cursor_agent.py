"""Transcripts of Cursor's agent: `~/.cursor/projects/*/agent-transcripts`, one file a conversation.

A line has a role and a message with text and tool calls. It has no result of a call, and a time
only where newer versions put one before a prompt: how calls ended is not known, and what has no
time counts just before the file was written last. Copies of a conversation are united.

The format is the client's own; it is read as others have described it, and was not tried with the
client. What the IDE keeps in its database too (`agent-transcripts/ID/ID.jsonl`) is left to that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.core.clock import LAST_MS
from observer.importers.calls import HookCall, read_session
from observer.importers.jsonl import Problems, files_below, lines, parse
from observer.importers.records import Opening, RecordCalls, find_sessions, words_of
from observer.importers.source import FoundSession

_TRANSCRIPTS = "agent-transcripts"
_SUB_AGENTS = "subagents"
_ROLES = frozenset({"user", "assistant"})
_ASKED = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_AT = re.compile(
    r"\A\s*<timestamp>\w+, (\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M) "
    r"\(UTC(?:([+-]\d{1,2})(?::(\d\d))?)?\)</timestamp>"
)
_OWN = re.compile(r"\s*<(?!user_query)[a-z_]+>")
"""How messages begin that no person has typed."""
_FOLDERS = ("working_directory", "path", "target_directory", "file_path")


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the conversations in files, and in all files of transcripts below folders."""
    files = (
        file
        for path in paths
        for file in files_below(path, (".jsonl",))
        if file == path or (file.parent.name == _TRANSCRIPTS and _SUB_AGENTS not in file.parts)
    )
    return find_sessions(_opening, list(files), problems)


def _opening(path: Path, found: Iterable[Object]) -> Opening | None:
    known = list(found)
    if not known or any(text(one, "role") not in _ROLES for one in known if "message" in one):
        return None
    if not any("message" in one for one in known) or any("uuid" in one for one in known):
        return None
    times = [at_ms for at_ms, _ in _timed(path, Problems())]
    return Opening(path.stem, _folder(path, known), min(times), max(times))


def _folder(path: Path, known: Iterable[Object]) -> str:
    """Return the folder of which the transcripts' own folder is named, as far as calls name it."""
    if path.parent.name != _TRANSCRIPTS:
        return ""
    slug = path.parent.parent.name
    given = (
        inner(part, "input") for one in known for part in rows(inner(one, "message"), "content")
    )
    named = [one for each in given if (one := text(each, *_FOLDERS)).startswith("/")]
    for path_named in map(PurePosixPath, named):
        for folder in map(str, (path_named, *path_named.parents)):
            if re.sub(r"[^A-Za-z0-9]", "-", folder[1:]) == slug:
                return folder
    return ""


def _timed(path: Path, problems: Problems) -> Iterator[tuple[int, Object]]:
    """Yield the records of a file with their times in UTC milliseconds, each after the last."""
    count = sum(1 for _ in lines(path, Problems()))
    at_ms = max(path.stat().st_mtime_ns // 1_000_000 - count, 1)
    for line in lines(path, problems):
        record = parse(line, path, problems) or {}
        said_ms = _said_ms(words_of(inner(record, "message").get("content")))
        at_ms = at_ms + 1 if said_ms is None else said_ms
        yield at_ms, record


def _said_ms(said: str) -> int | None:
    if (found := _AT.match(said)) is None:
        return None
    with suppress(ValueError, OverflowError):
        here = datetime.strptime(found[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=UTC)
        ahead = int(found[2] or 0) * 60
        ahead += int(found[3] or 0) * (-1 if ahead < 0 else 1)
        at_ms = int((here - timedelta(minutes=ahead)).timestamp() * 1000)
        return at_ms if 0 < at_ms <= LAST_MS else None
    return None


class _Calls(RecordCalls):
    """The calls of a conversation; of a record that several copies hold, the oldest one's time."""

    start, end = "sessionStart", "sessionEnd"

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        if path != self._found.paths[0]:
            return  # it was read with the first
        seen: set[tuple[bytes, int]] = set()
        for copy in sorted(self._found.paths, key=lambda one: (one.stat().st_mtime_ns, one)):
            times: Counter[bytes] = Counter()
            for at_ms, record in _timed(copy, problems):
                name = blake2b(repr(record).encode(errors="replace"), digest_size=12).digest()
                times[name] += 1
                if (name, times[name]) not in seen:
                    seen.add((name, times[name]))
                    yield {**record, "at": at_ms, "key": f"{name.hex()}-{times[name]}"}

    def time_of(self, record: Object) -> int | None:
        at_ms: int = record["at"]  # type: ignore[assignment] # `records` has put it there
        return at_ms

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        common: dict[str, Json] = {"conversation_id": self.session, "hook_event_name": event}
        roots: list[Json] = [self.folder] if self.folder else []
        return {**common, "workspace_roots": roots, **fields}

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, content = text(record, "key"), inner(record, "message").get("content")
        said = words_of(content)
        if text(record, "role") == "user":
            asked = "\n".join(_ASKED.findall(said)) or ("" if _OWN.match(said) else said)
            if asked.strip():
                yield from self.prompt(at_ms, asked, key)
            return
        self.say(at_ms, said, key)
        for number, part in enumerate(rows({"parts": content}, "parts")):
            if text(part, "type") == "tool_use":
                asked_of: Object = {
                    "tool_name": text(part, "name"),
                    "tool_input": dict(inner(part, "input")),
                }
                yield self.call(at_ms, "postToolUse", asked_of, f"{key}-{number}")

    def asked(self, words: str) -> tuple[str, Object]:
        return "beforeSubmitPrompt", {"prompt": words}

    def reply(self, words: str, _: Object) -> tuple[str, Object]:
        return "afterAgentResponse", {"text": words}


read = partial(read_session, "cursor", _Calls)
