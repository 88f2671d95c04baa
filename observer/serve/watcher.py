"""Reports the saves of editors and tools without hooks, so that an agent hears of them.

One thread waits for inotify events in the folders of recent projects. When the writing has settled
it asks git what differs and reads that; when hooks have had their time it asks the store what they
reported, records the rest as events, and withdraws what a hook reports later. What git itself wrote
is left out: git's hooks report it. No history of the files is kept, and no text that git has.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Literal, NamedTuple, TypeAlias

from observer.core.clock import now_ms
from observer.core.errors import NotFound, ObserverError
from observer.core.events import AnyBody, Event, Forget
from observer.core.paths import is_inside
from observer.ingest.duplicates import WINDOW_MS, path_written
from observer.ingest.file_changes import (
    Save,
    bulk_change_event,
    has_effect,
    merge_saves,
    save_event,
)
from observer.serve.watch_set import WatchSet
from observer.serve.worker import Services, Watcher
from observer.store.reader import StoreReader

log = logging.getLogger(__name__)

MOST_WAIT_MS = 60_000
"""The saves of an editor that saves all the time are reported at least this often."""
MOST_SAVES = 8  # most separate saves of one file that wait; each holds the whole text


class _Waiting:
    """The saves of one file that wait, in their order, since the first and the last came."""

    def __init__(self, now_ms: int) -> None:
        self.saves: list[Save] = []
        self.from_ms = self.to_ms = now_ms

    @property
    def due_ms(self) -> int:
        return min(self.to_ms + WINDOW_MS, self.from_ms + MOST_WAIT_MS)


class PendingSaves:
    """The waiting saves, by work tree and path."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], _Waiting] = {}

    def add(self, root: str, saves: Iterable[Save], *, now_ms: int) -> None:
        """Add saves; those that were found together are due together."""
        for save in saves:
            waiting = self._waiting.setdefault((root, save.path), _Waiting(now_ms))
            waiting.to_ms = now_ms
            waiting.saves.append(save)
            if len(waiting.saves) > MOST_SAVES:
                waiting.saves[:2] = [merge_saves(*waiting.saves[:2])]

    def due_ms(self) -> int | None:
        """Return when the next file is due, None if nothing waits."""
        return min((one.due_ms for one in self._waiting.values()), default=None)

    def due(self, now_ms: int) -> dict[str, list[list[Save]]]:
        """Return, by tree, the saves of each file that have waited long enough; they stay."""
        found: dict[str, list[list[Save]]] = {}
        for (root, _), waiting in self._waiting.items():
            if waiting.due_ms <= now_ms:
                found.setdefault(root, []).append(list(waiting.saves))
        return found

    def drop(self, root: str, files: Iterable[Sequence[Save]]) -> None:
        """Remove the saves of files, which were reported."""
        for saves in files:
            del self._waiting[root, saves[0].path]


def unreported(saves: Iterable[Save], reported_ms: Iterable[int]) -> Save | None:
    """Return one file's saves, joined, that no hook reported at these times; None for none."""
    times = list(reported_ms)
    left = [save for save in saves if not is_reported(save, times)]
    whole = reduce(merge_saves, left) if left else None
    return whole if whole and has_effect(whole) else None


def is_reported(save: Save, reported_ms: Iterable[int]) -> bool:
    """Return True if a hook's report at one of the times may be that of the save."""
    return any(save.from_ms - WINDOW_MS <= at_ms <= save.to_ms + WINDOW_MS for at_ms in reported_ms)


CLIENT = "watch"
ROUTE = "watch/write"
MANY = 25  # more files than this at once become one event: a generator wrote them, not a person
LATE_REPORT_MS = 600_000  # how late a hook may report a write that was reported here already

_NO_AGENTS = frozenset({"git", "bash", "zsh", "fish", CLIENT})

Author: TypeAlias = Literal["person", "system"]


class _Reported(NamedTuple):
    save: Save
    root: str
    item: int
    at_ms: int


class SaveReporter:
    """Reports saves, and remembers them as long as a hook may still report them too."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._spool = services.spool
        self._record = services.record
        self.reported: list[_Reported] = []

    def report(self, root: str, files: Sequence[Sequence[Save]]) -> bool:
        """Report the saves of each file as one write; return False if it is too early to know."""
        if not self._spool.is_empty():
            return False  # a hook may have reported it, and the event is not stored yet
        covers = self._spool.pauses.covers
        files = [
            [
                save
                for save in saves
                if not (covers(save.from_ms, [root]) or covers(save.to_ms, [root]))
            ]
            for saves in files
        ]
        if not any(files):
            return True
        with self._store.read() as reader:
            hooks = self._hook_writes(reader, [save for saves in files for save in saves])
            is_certain = not _is_agent_at_work(reader, root)
        left = [
            unreported(saves, hooks.get(f"{root}/{saves[0].path}", ())) for saves in files if saves
        ]
        saves = sorted((save for save in left if save), key=lambda save: save.to_ms)
        if len(saves) > MANY:
            self._record([_event(bulk_change_event(saves, root), root, saves[0].to_ms)], None)
        elif saves:
            author: Author = "person" if is_certain else "system"
            receipts = self._record(
                [_event(save_event(save, root), root, save.to_ms, author) for save in saves], None
            )
            self.reported += [
                _Reported(save, root, receipt.item, now_ms())
                for save, receipt in zip(saves, receipts, strict=True)
                if receipt.item is not None
            ]
        return True

    def withdraw(self) -> None:
        """Delete the reports of writes that hooks, which know more, reported after all."""
        self.reported = [one for one in self.reported if one.at_ms > now_ms() - LATE_REPORT_MS]
        if not self.reported:
            return
        with self._store.read() as reader:
            hooks = self._hook_writes(reader, [one.save for one in self.reported])
        twice = [
            one
            for one in self.reported
            if is_reported(one.save, hooks.get(f"{one.root}/{one.save.path}", ()))
        ]
        if twice:
            self._record([_event(Forget(item=one.item), one.root, now_ms()) for one in twice], None)
            self.reported = [one for one in self.reported if one not in twice]

    def _hook_writes(self, reader: StoreReader, saves: Collection[Save]) -> dict[str, list[int]]:
        """Return when hooks reported writes at the time of the saves, by the file's real path."""
        from_ms = min(save.from_ms for save in saves) - WINDOW_MS
        to_ms = max(save.to_ms for save in saves) + WINDOW_MS
        found: dict[str, list[int]] = {}
        for recorded in reader.written_near(from_ms=from_ms, to_ms=to_ms):
            event = recorded.event
            if event.route != ROUTE and (path := path_written(event)):
                found.setdefault(_real_path(path), []).append(event.at_ms)
        for path, at_ms in self._spool.pauses.withheld(from_ms=from_ms, to_ms=to_ms):
            found.setdefault(_real_path(path), []).append(at_ms)
        return found


def _event(body: AnyBody, folder: str, at_ms: int, author: Author = "system") -> Event:
    return Event(
        id=uuid.uuid4().hex,
        at_ms=at_ms,
        client=CLIENT,
        body=body,
        cwd=folder,
        roots=(folder,),
        route=ROUTE,
        author=author,
    )


def _real_path(path: str) -> str:
    """Return a path by its folder's real name; the file itself may be gone."""
    folder, _, name = path.rpartition("/")
    try:
        return f"{os.path.realpath(folder)}/{name}"
    except ValueError:  # NUL or lone surrogates
        return path


def _is_agent_at_work(reader: StoreReader, root: str) -> bool:
    """Return True if an agent whose writes have no hooks may have been the author."""
    here = {project.id for project in reader.projects() if root in project.roots}
    return any(
        session.client not in _NO_AGENTS
        and (session.project_id in here or is_inside(session.cwd, root))
        for session in reader.sessions(active=True, limit=50)
    )


SETTLED_S = 0.5  # after this long without a change, the writing has settled
UNSETTLED_MS = 5_000  # a file that is written all the time is read this often
LOCKED_MS = 60_000  # after this long git's lock counts as stale
MOST_CHANGED = 2_000  # most separate paths of one tree; with more, the tree is scanned as a whole


class WatchWorker(Watcher):
    """The watch as a task of the daemon; its rounds run in a thread of their own."""

    def __init__(self, services: Services) -> None:
        super().__init__("watching", services)
        self._watched = WatchSet(services)
        self.shown = self._watched.shown
        self._reporter = SaveReporter(services)
        self._pending = PendingSaves()
        self._changed: dict[str, tuple[int, set[str]]] = {}  # by root: since when, which paths
        self._last_change_s = 0.0

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects, which may not be watched yet."""
        if self._watched.is_news(projects) or self._reporter.reported:
            self._call.set()

    async def run(self) -> None:
        """Watch until cancelled; only sleep if the settings turn the watch off."""
        await (super().run() if self._settings.watch else asyncio.Event().wait())

    async def finish(self) -> None:
        """Report the remaining changes; call it once `run` has ended."""
        if self._settings.watch:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
        self._thread.shutdown()

    def _end(self) -> None:
        try:
            self._watched.close()
            self._look()
            self._report(sys.maxsize)
        except Exception as error:  # an error of ours must not keep the daemon from leaving
            known = isinstance(error, OSError | ObserverError)
            log.warning("the last writes were not reported: %s", error, exc_info=not known)

    def _work(self) -> None:
        self._note(self._watched.refresh_if_due())
        waits = [self._watched.wait_s()]
        waits += [SETTLED_S] if self._changed else []
        if (due_ms := self._pending.due_ms()) is not None:
            waits.append(max((due_ms - now_ms()) / 1000, SETTLED_S))
        self._note(self._watched.wait(self._call, wait_s=min(waits)))
        if self._changed and time.monotonic() - self._last_change_s >= SETTLED_S:
            self._look()
        self._report(now_ms())
        self._reporter.withdraw()

    def _note(self, paths: Collection[str]) -> None:
        at_ms = now_ms()
        for path in paths:
            tree = self._watched.tree_of(path)
            if tree is None or not tree.concerns(path):
                continue
            since_ms, changed = self._changed.setdefault(tree.root, (at_ms, set()))
            changed.add(path)
            if len(changed) > MOST_CHANGED:
                changed.clear()
                changed.add(tree.root)
            if at_ms - since_ms <= UNSETTLED_MS:
                self._last_change_s = time.monotonic()

    def _look(self) -> None:
        at_ms = now_ms()
        for root, (since_ms, changed) in list(self._changed.items()):
            tree = self._watched.trees.get(root)
            if tree and tree.git.is_locked and at_ms - since_ms < LOCKED_MS:
                continue
            del self._changed[root]
            if tree is None or not self._watched.update(tree, changed):
                continue
            try:
                saves = tree.look(changed, since_ms=since_ms, now_ms=now_ms())
                self._pending.add(root, saves, now_ms=now_ms())
            except (NotFound, OSError) as error:
                self._watched.give_up(tree, str(error))

    def _report(self, at_ms: int) -> None:
        for root, files in self._pending.due(at_ms).items():
            if self._reporter.report(root, files):
                self._pending.drop(root, files)
