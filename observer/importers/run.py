"""An import: where it looks, what it would bring, carried out, in the background, followed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from observer.commands.command_line import printed_commits
from observer.core import config, json_text
from observer.core.clock import now_ms
from observer.core.disk import replace
from observer.core.errors import DaemonUnavailable, NotFound
from observer.core.events import Command, Event
from observer.core.paths import Home, is_inside, read_plain
from observer.core.value import Value, chunks, decode_json
from observer.git.process import git_output
from observer.importers.source import FoundSession, Problems, SessionSource, events_of, groups
from observer.ingest.duplicates import LIVE_MS
from observer.local import client
from observer.projects import detect_place
from observer.store.database import SqliteStore

# --- the work trees in which importers look ------------------------------------------------------

MOST_COMMITS = 3
"""Of a session in a missing folder, so many are looked for in each known repository."""


def known_roots(home: Home) -> set[str]:
    """Return the roots of the projects that are in the memory, of those that exist."""
    if not home.database.exists():
        return set()
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        roots = [root for project in reader.projects() for root in project.roots]
    return {root for root in roots if Path(root).is_dir()}


@cache
def _around(folder: str) -> str:
    if not Path(folder).is_dir():
        return ""
    place = detect_place(folder)
    return place.root if place.git or place.marker else ""


def placed(found: FoundSession, roots: Iterable[str]) -> FoundSession:
    """Return what a project's name stands for with the root of that name, if there is just one."""
    if not found.folder or found.folder.startswith("/"):
        return found
    called = [root for root in roots if Path(root).name == found.folder]
    return found._replace(folder=called[0] if len(called) == 1 else "")


def with_repositories(events: Iterable[Event], roots: Collection[str]) -> list[Event]:
    """Return events, those of missing folders with the work tree that has their commits."""
    said = list(events)
    made: dict[str, list[str]] = {}
    for one in said:
        if isinstance(one.body, Command) and not one.remote:
            made.setdefault(one.session, []).extend(printed_commits(one.body.output))
    found = {
        session: _with_commits(commits, roots)
        for session, commits in made.items()
        if commits and not any(_around(one.cwd) for one in said if one.session == session)
    }
    return [
        structs.replace(one, remote=remote) if (remote := found.get(one.session)) else one
        for one in said
    ]


def _with_commits(commits: Sequence[str], roots: Iterable[str]) -> str:
    for root in sorted(roots):
        for commit in commits[-MOST_COMMITS:]:
            with suppress(NotFound):
                if git_output(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None:
                    return root
    return ""


# --- which sessions were imported whole, from files of which state: none is read again -----------


class FinishedImports:
    """Fingerprints of imported sessions; without them all is imported again, to no effect."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, dict[str, str]] = {}
        with suppress(OSError, ValueError, RecursionError):
            said = json_text.load(file.read_bytes())
            if isinstance(said, dict):
                self._known = {name: one for name, one in said.items() if isinstance(one, dict)}

    def holds(self, source: str, session: str, fingerprint: str) -> bool:
        """Return True if a session was imported from files that have not changed since."""
        return self._known.get(source, {}).get(session) == fingerprint

    def names(self, source: str) -> frozenset[str]:
        """Return the ids of what was imported from a source, whether or not it has changed."""
        return frozenset(self._known.get(source, ()))

    def add(self, source: str, fingerprints: Mapping[str, str]) -> None:
        """Keep that sessions were imported; they are given by their ids."""
        self._known.setdefault(source, {}).update(fingerprints)
        replace(self._file, json_text.dump(self._known))


# --- what an import would bring -------------------------------------------------------------------


class Choice(NamedTuple):
    """Which sessions are imported: those of files, since a time, in a folder."""

    paths: tuple[Path, ...] = ()
    since_ms: int = 0
    project: str = ""


class Plan(NamedTuple):
    """What was found of a source in `paths`: all, how many are known, what is to be read."""

    source: SessionSource
    paths: tuple[Path, ...]
    found: list[FoundSession]
    known: int
    new: list[FoundSession]
    problems: Problems


def plan_import(
    home: Home,
    sources: Iterable[SessionSource],
    choice: Choice,
    finished: FinishedImports,
    environ: Mapping[str, str],
) -> list[Plan]:
    """Return what an import would bring, of sources that have something, work trees' own last."""
    roots = known_roots(home)
    plans = []
    for source in sources:
        paths = choice.paths or source.paths(environ, sorted(roots))
        plans.append(plan_source(home, source, choice._replace(paths=paths), finished, roots))
        folders = {one.folder for one in plans[-1].found}
        roots |= {root for folder in folders if folder and (root := _around(folder))}
    return [plan for plan in plans if plan.found]


def plan_source(
    home: Home,
    source: SessionSource,
    choice: Choice,
    finished: FinishedImports,
    roots: Collection[str] = (),
) -> Plan:
    """Return what an import of one source would bring, from the chosen paths alone."""
    problems = Problems()
    there = source.find(choice.paths, problems)
    if any(one.folder and not one.folder.startswith("/") for one in there):
        known = known_roots(home).union(roots)
        there = [placed(one, known) for one in there]
    found = [
        one
        for one in there
        if one.last_ms >= choice.since_ms
        and (not choice.project or is_inside(one.folder, choice.project))
    ]
    recorded: Collection[str] = ()
    if home.database.exists() and not source.is_of_sessions:
        recorded = finished.names(source.name) & {one.id for one in found}
    elif home.database.exists():
        with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
            recorded = {one.id for one in found if reader.session_called(one.id)}
    new = [
        one
        for one in found
        if not (one.id in recorded and finished.holds(source.name, one.id, one.fingerprint()))
    ]
    return Plan(source, choice.paths, found, len(recorded), new, problems)


def size_of(sessions: Iterable[FoundSession]) -> int:
    """Return the bytes of sessions' files."""
    return sum(one.size_bytes for one in sessions)


# --- imports that the daemon carries out in the background ----------------------------------------


class QueuedSource(Value):
    """A source, and the files or folders of which its sessions are imported."""

    name: str
    paths: tuple[str, ...]


class QueuedImport(Value):
    """An import in the background: what was chosen, the sessions to read, how many are stored."""

    sources: tuple[QueuedSource, ...]
    since_ms: int = 0
    project: str = ""
    sessions: int = 0
    done: int = 0

    def choices(
        self, sources: Mapping[str, SessionSource]
    ) -> Iterator[tuple[SessionSource, Choice]]:
        """Yield the sources that are still known, and what was chosen of each."""
        for one in self.sources:
            paths = tuple(path for each in one.paths if (path := Path(each)).exists())
            if paths and one.name in sources:
                yield sources[one.name], Choice(paths, self.since_ms, self.project)


def queue(home: Home, asked: QueuedImport) -> None:
    """Keep an import for the daemon, or how far it is; it takes the place of the one before."""
    replace(home.importing, msgspec.json.encode(asked))


def queued(home: Home) -> QueuedImport | None:
    """Return the import that is not finished yet; None without one, or with one that is damaged."""
    try:
        return decode_json(read_plain(home.importing), QueuedImport)
    except (OSError, ValueError):  # it is asked for again, which stores nothing twice
        return None


def drop(home: Home) -> bool:
    """Take the import in the background as finished, or given up; False if there was none."""
    try:
        home.importing.unlink()
    except FileNotFoundError:
        return False
    return True


# --- carrying it out: groups are read while the daemon stores those before ------------------------

BATCH = 200
BATCH_BYTES = 8 << 20
"""Events of one request, stored in one transaction, or bytes of them; what hooks spool meanwhile is
stored before the next one."""
NICENESS = 10
WAIT_S = 120.0

FATES = ("stored", "known", "excluded", "purged", "expired")

Counts = Counter[str]
Send: TypeAlias = Callable[[bytes], Mapping[str, int]]


def give_way() -> None:
    """Let everything else on the machine go first, from now on."""
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def to_daemon(home: Home, *, starts: bool = True) -> Send:
    """Return what sends events to the daemon, and `starts` another one where it has gone."""

    def send(batch: bytes) -> Mapping[str, int]:
        try:
            receipt: Mapping[str, int] = client.call(home, "POST", "/import", batch, wait_s=WAIT_S)
        except DaemonUnavailable:
            if not starts:
                raise
            client.ensure_daemon(home, wait_s=20)  # it was replaced; ids prevent duplicates
            receipt = client.call(home, "POST", "/import", batch, wait_s=WAIT_S)
        return receipt

    return send


def end_import(home: Home) -> None:
    """Have the daemon link what was imported with what was before and after it, now or later."""
    with suppress(DaemonUnavailable):
        client.call(home, "POST", "/import/end", wait_s=WAIT_S)


def import_planned(
    home: Home,
    plan: Plan,
    finished: FinishedImports,
    send: Send,
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> Counts:
    """Import the sessions of a plan, newest first; return what became of their events.

    `advance` is called with the number of further sessions stored, and may raise to end the import.
    """
    settings = config.load(home)
    # A session that may go on is read again, whether or not its files change.
    over_ms = now_ms() - settings.session_idle_minutes * 60_000
    counts: Counts = Counter()
    roots = known_roots(home)

    def sent(group: list[FoundSession], events: list[Event], marks: Mapping[str, str]) -> None:
        for batch in batches(events):
            counts.update(send(batch))
        finished.add(plan.source.name, marks)
        advance(len(group))

    with ThreadPoolExecutor(1) as sender:
        waiting: Future[None] | None = None
        for group in groups(plan.new):
            # Before they are read: what is written meanwhile is for the next import.
            marks = {
                one.id: one.fingerprint()
                for one in group
                if one.last_ms < over_ms or not plan.source.is_of_sessions
            }
            read = events_of(plan.source, group, settings, plan.problems)
            events = with_repositories(read, roots)
            if waiting:
                waiting.result()
            else:
                give_way()
            waiting = sender.submit(sent, group, events, marks)
        if waiting:
            waiting.result()
    return counts


def batches(events: Iterable[Event]) -> Iterator[bytes]:
    """Yield lists of events as JSON, each of which is stored in one transaction."""
    encoded = map(msgspec.json.encode, events)
    for batch in chunks(encoded, most=BATCH, size_of=len, most_size=BATCH_BYTES):
        yield b"[%b]" % b",".join(batch)


# --- following sessions while they go on ----------------------------------------------------------
#
# The last minute of a session is left to the hooks, so a session that goes on is read once a
# minute. What is read is read as a whole: a file that was replaced, cut or packed is like any
# other, and the ids of events keep what is known from being stored again.

LOOK_EVERY_S = 10.0

_State = tuple[int, int, int]


@dataclass
class Follower:
    """Follows the sessions of one source, but those that ended before `since_ms`."""

    source: SessionSource
    paths: tuple[Path, ...]
    finished: FinishedImports
    since_ms: int
    idle_ms: int
    files: Mapping[Path, _State] = field(default_factory=dict)
    sessions: dict[str, FoundSession] = field(default_factory=dict)
    read_ms: dict[str, int] = field(default_factory=dict)
    due_ms: dict[str, int] = field(default_factory=dict)

    def look(self, at_ms: int) -> Plan:
        """Return what is to be read now: sessions that go on each minute, and at their end."""
        problems = Problems()
        files = dict(_states(self.paths))
        written = [path for path, one in files.items() if self.files.get(path) != one]
        # What is in a write-ahead log is of its database.
        changed = {path.with_name(path.name.removesuffix("-wal")) for path in written}
        self.files = files
        for one in self._found(changed, problems) if changed else ():
            is_new = one != self.sessions.get(one.id) and not changed.isdisjoint(one.paths)
            self.sessions[one.id] = one
            known = (self.source.name, one.id, one.fingerprint())
            if is_new and one.last_ms >= self.since_ms and not self.finished.holds(*known):
                self.due_ms[one.id] = max(at_ms, self.read_ms.get(one.id, 0) + LIVE_MS)
        due = [self.sessions[name] for name, when_ms in self.due_ms.items() if when_ms <= at_ms]
        for one in due:
            del self.due_ms[one.id]
            self.read_ms[one.id] = at_ms
            for after_ms in (self.idle_ms, LIVE_MS):  # the first that is to come counts
                if one.last_ms + after_ms > at_ms:
                    self.due_ms[one.id] = one.last_ms + after_ms
        return Plan(self.source, self.paths, due, 0, due, problems)

    def _found(self, changed: Collection[Path], problems: Problems) -> list[FoundSession]:
        """Return the sessions that changed files are of; all of them if a file is a new one."""
        known = {path: one for one in self.sessions.values() for path in one.paths}
        suffixes = {path.suffix for path in known}
        named = {path for path in changed if not known or path.suffix in suffixes}
        if not known.keys() >= named:
            return self.source.find(self.paths, problems)
        touched = {one.id: one for path, one in known.items() if path in named}
        paths = [path for one in touched.values() for path in (*one.paths, *one.before)]
        return [one for one in self.source.find(paths, problems) if one.id in touched]


def _states(paths: Iterable[Path]) -> Iterator[tuple[Path, _State]]:
    for path in paths:
        for folder, _, names in (
            os.walk(path) if path.is_dir() else ((path.parent, (), (path.name,)),)
        ):
            for name in names:
                file = Path(folder, name)
                with suppress(OSError):
                    status = file.stat()
                    yield file, (status.st_size, status.st_mtime_ns, status.st_ino)
