"""Sessions as a client keeps them, its hook calls read from them, and the events of those."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec import structs

from observer.clients.envelope import Envelope, Json, Object
from observer.clients.payload import inner, text
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import Undecodable
from observer.core.events import Event
from observer.core.routes import import_route
from observer.importers.source import (
    SUFFIXES,
    FoundSession,
    Problems,
    SessionSource,
    files_in,
    import_id,
    last_ms,
    lines,
    parse,
    time_of,
)
from observer.ingest.decode import decode_call
from observer.ingest.duplicates import LIVE_MS
from observer.projects.worktree import normalise

_ENDS = frozenset({"SessionEnd", "SessionShutdown", "dispose", "session_shutdown", "sessionEnd"})


class HookCall(NamedTuple):
    """One hook call: its time, event and payload, and the branch that was checked out.

    `key` is the same whenever the session is read, and unique within it; what `is_open` may get an
    end.
    """

    at_ms: int
    event: str
    payload: dict[str, Json]
    branch: str
    key: str
    is_open: bool = False


CallsOf: TypeAlias = Callable[[FoundSession, Problems], Iterable[HookCall]]


def read_session(
    client: str, calls_of: CallsOf, found: FoundSession, settings: Settings, problems: Problems
) -> Iterator[Event]:
    """Yield the events of a session, from the calls that `calls_of` reads.

    What may still go on has no end, nor have its open calls; the last minute is left to the hooks.
    """
    at_ms, idle_ms = now_ms(), settings.session_idle_minutes * 60_000
    remote = ""
    with suppress(ValueError):  # its client kept none that can be one
        remote = normalise(found.remote, base=found.folder or "/")
    env = {"CLAUDE_PROJECT_DIR": found.folder} if found.folder else {}
    for call in calls_of(found, problems):
        may_go_on = call.is_open or call.event in _ENDS
        if at_ms - call.at_ms < (idle_ms if may_go_on else LIVE_MS):
            continue
        envelope = Envelope(
            id=import_id(client, found.id, call.key),
            at_ms=call.at_ms,
            client=client,
            event=call.event,
            env=env,
        )
        branch = "" if call.branch == "HEAD" else call.branch
        known = {"remote": remote} if remote else {}
        try:
            for event in decode_call(envelope, call.payload, cap_bytes=settings.event_cap_bytes):
                yield structs.replace(event, route=import_route(client), branch=branch, **known)
        except Undecodable as error:
            problems.add(f"unreadable {call.event} ({error.message})", found.paths[0])


# --- sessions of one record a line ----------------------------------------------------------------
#
# They are found by their first lines, and read. A session may lie in several files: copies of it,
# and files of its sub-agents.

GLANCED = 40
"""Records at the beginning of a file that are looked at."""
_REPLY_MS = 1
_END_MS = 1000


class Opening(NamedTuple):
    """What the first records of a file say; "" for what they do not."""

    session: str
    folder: str
    first_ms: int
    last_ms: int = 0


Opener: TypeAlias = Callable[[Path, Iterable[Object]], Opening | None]


def records(path: Path, problems: Problems) -> Iterator[Object]:
    """Yield the records of a file; what cannot be read is counted."""
    for line in lines(path, problems):
        record = parse(line, path, problems)
        if record is not None:
            yield record


def find_sessions(
    opener: Opener,
    paths: Sequence[Path],
    problems: Problems,
    *,
    endings: tuple[str, ...] = SUFFIXES,
    is_one: Callable[[Path], bool] = lambda _: True,
) -> list[FoundSession]:
    """Return the sessions in files, and in the files below folders that end so and are such."""
    files: dict[str, list[tuple[Path, Opening]]] = defaultdict(list)
    for path in files_in(paths, endings, is_one):
        if opening := opener(path, islice(records(path, Problems()), GLANCED)):
            files[opening.session].append((path, opening))
        else:
            problems.add("file without a session", path)
    return [_session(name, group) for name, group in files.items()]


def source_of(
    name: str,
    place: tuple[str, str, str],
    opener: Opener,
    calls_of: CallsOf,
    *,
    endings: tuple[str, ...] = SUFFIXES,
    is_one: Callable[[Path], bool] = lambda _: True,
) -> SessionSource:
    """Return a client's importer; a place is `settings`, `variable` and `sessions` of one."""
    find = partial(find_sessions, opener, endings=endings, is_one=is_one)
    return SessionSource(name, *place, find=find, read=partial(read_session, name, calls_of))


def first_said(found: Iterable[Object], *names: str) -> str:
    """Return the first of these fields that one of the records holds."""
    return next((said for record in found if (said := text(record, *names))), "")


def first_ms(found: Iterable[Object]) -> int | None:
    """Return the first time that one of the records says."""
    return next((at_ms for record in found if (at_ms := time_of(record)) is not None), None)


def words_of(content: object) -> str:
    """Return the text of a message: a string, or parts, of which thoughts are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    said = [part for part in parts if isinstance(part, dict) and not part.get("thought")]
    return "\n".join(filter(None, (text(part, "text") for part in said)))


def _session(name: str, group: Sequence[tuple[Path, Opening]]) -> FoundSession:
    openings = sorted((opening for _, opening in group), key=lambda one: one.first_ms)
    begun_ms = openings[0].first_ms
    return FoundSession(
        id=name,
        paths=tuple(path for path, _ in group),
        folder=next((one.folder for one in openings if one.folder), ""),
        first_ms=begun_ms,
        last_ms=max(begun_ms, *(one.last_ms or last_ms(path) for path, one in group)),
        size_bytes=sum(path.stat().st_size for path, _ in group),
    )


class RecordCalls(ABC):
    """The hook calls of one session, from the records of its files.

    A reply comes at the end of a turn: before the next prompt, or at the end. `asked_of` keeps the
    tool and the arguments of calls, by their ids, until their results come; `usage` the tokens of
    answers by keys; `said` what the agent said last (time, words, key), None once a turn was broken
    off; `agent` the fields of the sub-agent that is read.
    """

    start, asked, replied, end = "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"
    words = "last_assistant_message"
    """What hooks call the words of a reply."""
    time = "timestamp"
    model: tuple[str, ...] = ("", "model")
    """Where a record names its model: in which of its fields ("" for none), by which names."""

    def __init__(self, found: FoundSession, problems: Problems) -> None:
        self.session = found.id
        self.folder = found.folder
        self.branch = ""
        self._found = found
        self._last_ms = 0
        self._problems = problems
        self.asked_of: dict[str, tuple[str, Object]] = {}
        self.agent: Object = {}
        self.said: tuple[int, str, str] | None = None
        self.usage: dict[str, Mapping[str, int]] = {}

    def __iter__(self) -> Iterator[HookCall]:
        """Yield the hook calls."""
        for path in self._found.paths:
            for record in self.records(path, self._problems):
                at_ms = time_of(record, self.time)
                if at_ms is None:
                    continue
                is_first = not self._last_ms
                self._last_ms = max(self._last_ms, at_ms)
                found = list(self.read(at_ms, record))
                if is_first:  # after it was read, for it may name folder and branch
                    first = islice(self.records(self._found.paths[0], Problems()), GLANCED)
                    inside, *names = self.model
                    heads = (inner(record, inside) if inside else record for record in first)
                    model = first_said(heads, *names)
                    fields: Object = {"source": "startup", "reason": "startup", "model": model}
                    yield self.call(self._found.first_ms, self.start, fields, "start")
                yield from found
            yield from self.stopped()
        if self._last_ms:
            at_ms = self._last_ms + _END_MS
            yield self.call(at_ms, self.end, {"reason": "other"}, f"{at_ms}")

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        """Yield the records of a file."""
        return records(path, problems)

    @abstractmethod
    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        """Yield what a record reports."""

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        """Return the payload of a hook call."""
        common: dict[str, Json] = {"session_id": self.session, "cwd": self.folder}
        return {**common, "hook_event_name": event, **fields}

    def call(self, at_ms: int, event: str, fields: Object, key: str) -> HookCall:
        """Return a hook call."""
        self._last_ms = max(self._last_ms, at_ms)
        payload = self.payload(event, fields)
        return HookCall(at_ms, event, payload, self.branch, f"{event}/{key}")

    def prompt(self, at_ms: int, words: str, key: str) -> Iterator[HookCall]:
        """Yield the end of the turn before, and a prompt."""
        yield from self.stopped()
        yield self.call(at_ms, self.asked, {"prompt": words}, key)

    def say(self, at_ms: int, words: str, key: str) -> None:
        """Note what the agent says; the last of it is the reply."""
        if words.strip():
            self.said = at_ms, words, key

    def stopped(self) -> Iterator[HookCall]:
        """Yield the end of the turn, if the agent said anything in it."""
        said, self.said = self.said, None
        if said is not None:
            at_ms, words, key = said
            counts = self.usage.values()
            usage: Json = {
                name: sum(one[name] for one in counts) for name in next(iter(counts), {})
            }
            self.usage = {}
            fields: Object = {self.words: words, "usage": usage}
            yield self.call(at_ms + _REPLY_MS, self.replied, fields, key)
