"""Takes up what no hook reports: commits, stale items, memory files, imports in the background."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec

from observer.core import config
from observer.core.clock import now_ms
from observer.core.disk import replace
from observer.core.errors import ObserverError
from observer.core.events import Event
from observer.core.model import UNASSIGNED, Place, Project
from observer.core.paths import is_inside, read_plain
from observer.core.value import decode_json
from observer.git.process import is_under_way
from observer.importers.run import FinishedImports
from observer.importers.shelf.memory_files import NAME, changes, find
from observer.importers.source import FoundSession, Problems
from observer.ingest.commits import NO_COMMIT, unreported_commits, with_session
from observer.projects import PlaceCache
from observer.serve.worker import OnChange, Services, Worker, heard
from observer.staleness.worktree_sync import sync_worktree

log = logging.getLogger(__name__)

LOOK_S = 30.0
"""How often the work trees are looked at: a HEAD that moved without an event is noticed then."""
SETTLED_S = 10.0
"""A HEAD that stands still for so long has been reported, if its hooks run: their reports say whose
session it was, and come first."""
SESSIONS = 8  # sessions of a project, the latest, among whose commands a commit's is looked for
BEFORE_MS, AFTER_MS = 60_000, 600_000
"""When the command that made a commit may have ended, before and after the commit's time."""


class HeadWorker(Worker):
    """Follows HEAD of every known work tree."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._places = PlaceCache()
        self._seen: dict[str, str] = {}
        with suppress(OSError, msgspec.MsgspecError):
            self._seen = decode_json(read_plain(self._home.heads), dict[str, str])
        self._moved: dict[str, tuple[str, float]] = {}

    async def run(self) -> None:
        """Look at the work trees now and then, until cancelled."""
        while True:
            self._news.clear()
            await self._attempt_in_thread("commits", self.look)
            await asyncio.sleep(1)
            await heard(self._news, within_s=SETTLED_S if self._moved else LOOK_S)

    def look(self) -> None:
        """Record what was committed where HEAD moved and stands still; raise what went wrong."""
        if not self._spool.is_empty():
            return  # perhaps a hook's report
        with self._store.read() as reader:
            projects = [each for each in reader.projects() if each.id != UNASSIGNED]
        before, problem = dict(self._seen), None
        for project in projects:
            for root in project.roots:
                place = self._places.at(root)
                if place.root == root and place.git:
                    try:
                        self._follow(place, project.id)
                    except ObserverError as error:
                        problem = error
        if self._seen != before:
            replace(self._home.heads, msgspec.json.encode(self._seen))
        if problem:
            raise problem

    def _follow(self, place: Place, project_id: int) -> None:
        head = place.commit or NO_COMMIT
        # A name that says nothing about the work tree: a purge leaves the file alone.
        name = hashlib.sha256(os.fsencode(place.root)).hexdigest()[:24]
        seen = self._seen.get(name)
        if seen is None:  # what was committed before is for an import to read
            self._seen[name] = head
        if seen is None or seen == head:
            self._moved.pop(name, None)
            return
        if self._moved.get(name, ("", 0.0))[0] != head:
            self._moved[name] = head, time.monotonic()
        has_settled = time.monotonic() - self._moved[name][1] >= SETTLED_S
        if not has_settled or self._is_paused(place.root, now_ms()):
            return
        if place.commit and not is_under_way(place.root):
            if events := self._events(place, seen, project_id):
                self._record(events, None)
            self._seen[name] = head

    def _events(self, place: Place, seen: str, project_id: int) -> list[Event]:
        """Return what is to be recorded, without what was committed in private or in a pause."""
        found, private = [], self._home.spool / "private"
        commits = unreported_commits(place, seen)
        with self._store.read() as reader:
            sessions = reader.sessions(project_id=project_id, limit=SESSIONS)
            for event in commits:
                # A commit's time has no milliseconds.
                is_paused = any(self._is_paused(place.root, event.at_ms + ms) for ms in (0, 999))
                if is_paused or (private / event.dedup.rpartition(":")[2]).exists():
                    continue
                from_ms, to_ms = event.at_ms - BEFORE_MS, event.at_ms + AFTER_MS
                near = [
                    one
                    for session in sessions
                    for one in reader.recorded_near(session.id, from_ms=from_ms, to_ms=to_ms)
                ]
                found.append(with_session(event, near))
        return found

    def _is_paused(self, root: str, at_ms: int) -> bool:
        return self._spool.pauses.covers(at_ms, [root])


LOOK_EVERY_S = 60.0


class MemoryFileWorker(Worker):
    """Looks at the memory files of the folders of which some were imported."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._seen: list[FoundSession] | None = None

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await self._attempt_in_thread("memory files", self.look)
            await asyncio.sleep(LOOK_EVERY_S)

    def look(self) -> None:
        """Store what has changed since the last look."""
        imported = FinishedImports(self._home.imports).names(NAME)
        if not imported:
            return
        folders = self._folders(imported)
        found = find(folders, Problems())
        if found == self._seen:
            return
        settings = config.load(self._home)
        with self._store.read() as reader:
            events = changes(reader, folders, settings, now_ms=now_ms())
        if events:
            self._record(events, None)
        self._seen = found

    def _folders(self, imported: frozenset[str]) -> Sequence[Path]:
        with self._store.read() as reader:
            roots = {root for project in reader.projects() for root in project.roots}
        within = {root for root in roots if any(is_inside(name, root) for name in imported)}
        if not all(any(is_inside(name, root) for root in within) for name in imported):
            within.add(str(Path.home()))
        at_ms = now_ms()
        return [
            Path(root)
            for root in sorted(within)
            if Path(root).is_dir() and not self._spool.pauses.covers(at_ms, [root])
        ]


IMPORT_LOOK_S = 60.0
"""How often it is looked for an import, and a process that failed is started again."""
_LEAVE_S = 5.0
_COMPLAINT_BYTES = 4096


class _Progress(msgspec.Struct):
    done: int


class ImportWorker(Worker):
    """Runs `observer import --worker` while there is something for it to do."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.done = 0

    async def run(self) -> None:
        """Start the process whenever it is needed, until cancelled."""
        while True:
            self._news.clear()
            is_needed = bool(self._settings.follow) or self._home.importing.exists()
            if not is_needed or await self._attempt("import", self._work):
                await heard(self._news, within_s=IMPORT_LOOK_S)
            else:
                await asyncio.sleep(IMPORT_LOOK_S)

    async def _work(self) -> None:
        """Run the process until it ends; raise ObserverError with what it said, or OSError."""
        self.done = 0
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "observer", "import", "--worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
        )

        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - pipes

        async def complaint(errors: asyncio.StreamReader) -> str:
            """Return what the process complained of last, once it has ended."""
            kept = b""
            async for line in errors:
                kept = line[:_COMPLAINT_BYTES] if line.startswith(b"error: ") else kept
            return kept.decode(errors="replace").removeprefix("error: ").strip()

        complained = asyncio.create_task(complaint(process.stderr))
        try:
            async for line in process.stdout:
                with suppress(msgspec.DecodeError):
                    self.done = decode_json(line, _Progress).done
            said = await complained
        finally:
            complained.cancel()
            process.stdin.close()  # it leaves between two groups of sessions
            try:
                async with asyncio.timeout(_LEAVE_S):
                    await process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise ObserverError(said or f"the import ended with exit code {process.returncode}")


PAUSE_S = 1.0  # changes within this time are processed together
REST = 1.0  # seconds of pause for each second of work, so that others have the processor
LONGEST_REST_S = 0.2


class WorkAbandoned(Exception):
    """The daemon stops; the next one continues the work."""


class StalenessWorker(Worker):
    """Follows the history of touched projects; `on_revised` hears, in the loop, which changed."""

    def __init__(self, services: Services, *, on_revised: OnChange) -> None:
        super().__init__(services)
        self._on_revised = on_revised
        self._loop = asyncio.get_running_loop()
        self._places = PlaceCache()
        self._leaving = threading.Event()
        self._rested_s = time.monotonic()

    async def run(self) -> None:
        """Follow what changes, until cancelled."""
        try:
            while True:
                left = await asyncio.to_thread(self._round, self._take_touched())
                self._touched.update(left)
                await asyncio.sleep(PAUSE_S)
                await heard(self._news, within_s=LOOK_S)
                self._news.clear()
        finally:
            self._leaving.set()

    def _round(self, touched: set[int]) -> set[int]:
        """Follow each project that is behind; return the ids of those that failed."""
        problems: list[str] = []
        left = touched
        with suppress(WorkAbandoned), _noted(problems):
            behind = self._behind(touched)
            left = {project.id for project in behind}
            write = partial(self._writer.write, self._store)
            for project in behind:
                with _noted(problems):
                    if sync_worktree(self._store, write, project, pause=self._pause):
                        self._loop.call_soon_threadsafe(self._on_revised, {project.id})
                    left.remove(project.id)
        if problems:
            self._health.degrade("staleness", "; ".join(problems))
        else:
            self._health.recover("staleness")
        return left

    def _behind(self, touched: set[int]) -> list[Project]:
        with self._store.read() as reader:
            heads = {worktree.root: worktree.head for worktree in reader.worktrees()}
            projects = reader.projects()

        def has_moved(root: str) -> bool:
            place = self._places.at(root)
            return (place.commit if place.root == root else "") != heads.get(root, "")

        return [
            project
            for project in projects
            if project.id != UNASSIGNED
            and (project.id in touched or any(map(has_moved, project.roots)))
        ]

    def _pause(self) -> None:
        worked_s = time.monotonic() - self._rested_s
        if self._leaving.wait(min(REST * worked_s, LONGEST_REST_S)):
            raise WorkAbandoned
        self._rested_s = time.monotonic()


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    try:
        yield
    except WorkAbandoned:
        raise
    except ObserverError as error:
        problems.append(str(error))
    except Exception as error:
        log.exception("the validity of items was not updated")
        problems.append(f"{type(error).__name__}; see the log")
