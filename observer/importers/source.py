"""Importers of sessions: the rows of `shelf`, what they find, and the files that they read.

A line that is cut, no JSON or without end is counted with its place, and the rest is read.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

from observer.clients.envelope import Object
from observer.clients.payload import number, text
from observer.core import json_text
from observer.core.clock import LAST_MS, iso_ms
from observer.core.config import Settings
from observer.core.disk import UnexpectedFile, open_plain
from observer.core.errors import NotFound
from observer.core.events import Custom, Event, Prompt, Remember, Reply, kind_of
from observer.core.plugins import modules_of
from observer.core.routes import import_route
from observer.core.value import chunks
from observer.git.log import commit_history
from observer.ingest.commits import import_events
from observer.projects import detect_place

SUFFIXES = (".jsonl", ".jsonl.gz")
LINE_BYTES = 32 << 20
"""A longer line is no record: it is counted and not read."""
OBJECT_BYTES = 64 << 20
"""A larger file that is one object is counted and not read."""


class Line(NamedTuple):
    """One line: its number from 1 in the file, and its bytes."""

    number: int
    data: bytes
    is_whole: bool


_TAIL_BYTES = 64 << 10
_FIRST_MS = 10**12
"""In 2001: a smaller number does not count milliseconds."""
_TIME = re.compile(rb'"timestamp" ?: ?"([^"\\]{10,40})"')


class Problems:
    """What could not be read: counts by reason, and the place of the first of each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.places: dict[str, str] = {}

    def add(self, reason: str, path: Path, line: int = 0) -> None:
        """Count something that was left out, in a line of a file, or the file as a whole."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.places.setdefault(reason, f"{path}:{line}" if line else str(path))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain file, or one that gzip packed. Raises: OSError, UnexpectedFile (it is none)."""
    handle, _ = open_plain(path.resolve())
    with os.fdopen(handle, "rb") as file:
        if path.suffix == ".gz":
            with gzip.open(file, "rb") as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield file


def lines(path: Path, problems: Problems, *, with_empty: bool = False) -> Iterator[Line]:
    """Yield the lines of a file, empty ones where asked for; what cannot be read is counted."""
    try:
        with opened(path) as file:
            number = 0
            while data := file.readline(LINE_BYTES):
                number += 1
                if len(data) == LINE_BYTES and not data.endswith(b"\n"):
                    problems.add("line longer than any record", path, number)
                    while data and not data.endswith(b"\n"):
                        data = file.readline(LINE_BYTES)
                elif with_empty or data.strip():
                    yield Line(number, data, data.endswith(b"\n"))
    except (OSError, EOFError, UnexpectedFile) as error:
        problems.add(f"unreadable file ({error})", path)


def parse(line: Line, path: Path, problems: Problems) -> dict[str, Any] | None:
    """Return the object of a line; None, and a count, if it holds none."""
    try:
        value = json_text.load(line.data)
    except (ValueError, RecursionError):
        # A client that writes just now, or was killed, leaves the last line unfinished.
        problems.add("corrupt line" if line.is_whole else "unfinished last line", path, line.number)
        return None
    if not isinstance(value, dict):
        problems.add("corrupt line", path, line.number)
        return None
    return value


def read_object(path: Path, problems: Problems) -> dict[str, Any] | None:
    """Return the object that a file is; None, and a count, if it is none."""
    try:
        with opened(path) as file:
            data = file.read(OBJECT_BYTES + 1)
    except (OSError, EOFError, UnexpectedFile) as error:
        problems.add(f"unreadable file ({error})", path)
        return None
    if len(data) > OBJECT_BYTES:
        problems.add("file larger than any session", path)
        return None
    return parse(Line(0, data, is_whole=True), path, problems)


def files_in(
    paths: Iterable[Path],
    endings: tuple[str, ...] = SUFFIXES,
    is_one: Callable[[Path], bool] = lambda _: True,
) -> Iterable[Path]:
    """Return files, each once, and those below folders whose names end so and that are such."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            found[path] = None
            continue
        for folder, below, names in os.walk(path):
            below.sort()
            files = (Path(folder, name) for name in sorted(names) if name.endswith(endings))
            found |= dict.fromkeys(filter(is_one, files))
    return found


def time_of(record: Object, field: str = "timestamp") -> int | None:
    """Return a time, in ISO 8601 or milliseconds, as UTC milliseconds; None if it says none."""
    at_ms = number(record, field)
    if at_ms is None or at_ms < _FIRST_MS:
        at_ms = iso_ms(text(record, field))
    return at_ms if at_ms is not None and 0 <= at_ms <= LAST_MS else None


def last_ms(path: Path) -> int:
    """Return the last time that a file names; of a packed one, when it was written."""
    if path.suffix == ".gz":
        return path.stat().st_mtime_ns // 1_000_000
    with opened(path) as file:
        file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
        times = _TIME.findall(file.read())
    found = (time_of({"timestamp": each.decode("ascii", "replace")}) for each in times)
    return max((at_ms for at_ms in found if at_ms is not None), default=0)


MOST_SESSIONS = 20
MOST_BYTES = 64 << 20
"""Sessions are imported in groups of so many, or so many bytes: the newest group first, and within
one by time, as they went on beside each other."""


class FoundSession(NamedTuple):
    """A session that can be imported, as far as a glance at its files shows.

    `before` are the files of sessions that it was forked from, whose records it repeats. `state`
    differs once it has changed, where a file holds many. `remote` is its repository's URL, if
    known.
    """

    id: str
    paths: tuple[Path, ...]
    folder: str
    first_ms: int
    last_ms: int
    size_bytes: int
    before: tuple[Path, ...] = ()
    state: str = ""
    remote: str = ""

    def fingerprint(self) -> str:
        """Return a text that differs once it, or a file of it, has changed."""
        if self.state:
            return self.state
        stats = (path.stat() for path in self.paths)
        return " ".join(f"{stat.st_size}:{stat.st_mtime_ns}" for stat in stats)


Finder: TypeAlias = Callable[[Sequence[Path], Problems], list[FoundSession]]
Reader: TypeAlias = Callable[[FoundSession, Settings, Problems], Iterator[Event]]


class SessionSource(NamedTuple):
    """An importer of one client's sessions, or of notes and histories (not `is_of_sessions`).

    They are in `sessions` of the folder `settings` below the user's home, or of the one that the
    environment's `variable` names, and `inside` work trees (`.` for one itself).
    """

    name: str
    settings: str
    variable: str
    sessions: str
    find: Finder
    read: Reader
    inside: tuple[str, ...] = ()
    is_of_sessions: bool = True

    def folder(self, environ: Mapping[str, str]) -> Path:
        """Return where its sessions are for a user with this environment."""
        chosen = environ.get(self.variable, "")
        home = Path(chosen) if chosen.startswith("/") else Path.home() / self.settings
        return home / self.sessions

    def can_follow(self) -> bool:
        """Return True if sessions go on where it looks, in a folder of the user's."""
        return self.is_of_sessions and bool(self.settings) and not self.inside

    def paths(self, environ: Mapping[str, str], roots: Iterable[str] = ()) -> tuple[Path, ...]:
        """Return the folders and files where it looks, in some work trees too, if they exist."""
        usual = [self.folder(environ)] if self.settings or self.sessions else []
        here = (Path(root, place) for root in roots for place in self.inside)
        return tuple(path for path in dict.fromkeys([*usual, *here]) if path.exists())


def groups(found: Iterable[FoundSession]) -> Iterator[list[FoundSession]]:
    """Return sessions in the groups in which they are imported."""
    newest = sorted(found, key=lambda one: (one.last_ms, one.id), reverse=True)
    size_of = attrgetter("size_bytes")
    return chunks(newest, most=MOST_SESSIONS, size_of=size_of, most_size=MOST_BYTES)


def events_of(
    source: SessionSource, group: Iterable[FoundSession], settings: Settings, problems: Problems
) -> list[Event]:
    """Return the events of sessions by time."""
    read = (event for one in group for event in source.read(one, settings, problems))
    return sorted(read, key=lambda event: event.at_ms)


_SECONDS_UNTIL = 10**11
"""Smaller numbers are seconds (until the year 5138), larger ones milliseconds."""


def import_id(*parts: str) -> str:
    """Return the id of an imported event, which follows from what names it in its source."""
    identity = "\0".join(parts).encode(errors="replace")
    return f"import-{blake2b(identity, digest_size=16).hexdigest()}"


class Origin(NamedTuple):
    """Where events come from: the importer, the client that was talked to, its session."""

    source: str
    client: str = ""
    session: str = ""
    cwd: str = ""


def event_of(
    origin: Origin, body: Prompt | Reply | Custom | Remember, at_ms: int, *name: str
) -> Event:
    """Return an event whose id follows from what it says, when, and a name within its session."""
    said = body.content if isinstance(body, Remember) else body.text
    return Event(
        id=import_id(origin.source, origin.session, kind_of(body), str(at_ms), *name, said),
        at_ms=at_ms,
        client=origin.client or origin.source,
        body=body,
        session=origin.session,
        cwd=origin.cwd,
        route=import_route(origin.source),
        author="person" if isinstance(body, Prompt) else "agent",
        branch="",
    )


def moment_ms(value: object) -> int | None:
    """Return a time (ISO 8601, UTC without a zone; a number since 1970) as UTC ms; None if none."""
    if isinstance(value, str):
        at_ms = iso_ms(value.strip())
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LAST_MS:
        at_ms = int(value if abs(value) >= _SECONDS_UNTIL else value * 1000)
    else:
        return None
    return at_ms if at_ms is not None and 0 < at_ms <= LAST_MS else None


def commits(folder: str) -> Iterator[Event]:
    """Return the events of all commits that HEAD contains, parents before children.

    Raises: NotFound (no repository that can be a project), ObserverError (it is damaged).
    """
    place = detect_place(folder)
    if not place.git:
        raise NotFound(f"no git repository around {folder}", hint="name a folder of one")
    return import_events(place, commit_history(place.root), route=HISTORY_ROUTE)


SHELF = "observer.importers.shelf"
HISTORY_ROUTE = "history/git"
"""Of commits that no hook brought: git's hooks have reported nothing by them."""


@cache
def sources() -> Mapping[str, SessionSource]:
    """Return all importers by name, Atuin before shells, those that look in work trees last."""
    found = [source for module in modules_of(SHELF) for source in module.SOURCES]
    return {one.name: one for one in sorted(found, key=lambda one: (bool(one.inside), one.name))}


def source_called(name: str) -> SessionSource | None:
    """Return an importer; of the modules only its own is imported if that is called as it is."""
    module = f"{SHELF}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and find_spec(module):
        for source in import_module(module).SOURCES:
            if source.name == name:
                return cast("SessionSource", source)
    return sources().get(name)
