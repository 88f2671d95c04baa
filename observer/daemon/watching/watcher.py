"""Reports writes that no hook reported: another editor's, a formatter's, a code generator's.

One thread waits for inotify events in the folders of recent projects. When the writing has settled
it asks git what differs and reads that; when hooks have had their time it asks the store what they
reported, and records the rest as events. What git itself wrote (a checkout of ten thousand files)
is left out: git's hooks report it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import NotFound, StoreUnavailable
from observer.daemon.health import Health
from observer.daemon.status import Watched
from observer.daemon.watching.inotify import Call
from observer.daemon.watching.saves import PendingSaves, SaveReporter
from observer.daemon.watching.watch_set import WatchSet
from observer.notes.values import Record
from observer.spool.spool import Spool
from observer.store.interface import Store

SETTLED_S = 0.5
"""After this long without a change, the writing has settled."""
UNSETTLED_MS = 5_000
"""A file that is written all the time is read this often."""
LOCKED_MS = 60_000
"""After this long git's lock counts as stale."""
MOST_CHANGED = 2_000
"""Most separate paths of one tree; with more, the tree is scanned as a whole."""


class _Changed:
    """The paths of one tree that changed, and since when."""

    def __init__(self, since_ms: int) -> None:
        self.since_ms = since_ms
        self.paths: set[str] = set()


class WatchLoop:
    """The rounds of the watch thread.

    Args:
        watched: the watched trees.
        reporter: reports saves.
        call: set to begin a round at once.
    """

    def __init__(self, watched: WatchSet, reporter: SaveReporter, *, call: Call) -> None:
        self._watched = watched
        self._reporter = reporter
        self._call = call
        self._pending = PendingSaves()
        self._changed: dict[str, _Changed] = {}
        self._last_change_s = 0.0

    def round(self) -> None:
        """Wait for something to do, and do it.

        Raises:
            StoreUnavailable: nothing is lost, the next round reports it.
        """
        self._note(self._watched.refresh_if_due())
        self._note(self._watched.wait(self._call, wait_s=self._wait_s()))
        if self._changed and time.monotonic() - self._last_change_s >= SETTLED_S:
            self._look()
        self._report(now_ms())
        self._reporter.withdraw()

    def end(self) -> None:
        """Read and report all changes at once.

        Raises:
            StoreUnavailable: they are lost.
        """
        self._watched.close()
        self._look()
        self._report(sys.maxsize)

    def _wait_s(self) -> float:
        due_ms = self._pending.due_ms()
        waits = [self._watched.wait_s()]
        waits += [SETTLED_S] if self._changed else []
        waits += [max((due_ms - now_ms()) / 1000, SETTLED_S)] if due_ms is not None else []
        return min(waits)

    def _note(self, paths: Collection[str]) -> None:
        at_ms = now_ms()
        for path in paths:
            tree = self._watched.tree_of(path)
            if tree is None or not tree.concerns(path):
                continue
            changed = self._changed.setdefault(tree.root, _Changed(at_ms))
            changed.paths.add(path)
            if len(changed.paths) > MOST_CHANGED:
                changed.paths = {tree.root}
            is_restless = at_ms - changed.since_ms > UNSETTLED_MS
            self._last_change_s = self._last_change_s if is_restless else time.monotonic()

    def _look(self) -> None:
        """Read what changed, except in trees where git is at work."""
        at_ms = now_ms()
        for root, changed in list(self._changed.items()):
            tree = self._watched.tree(root)
            if tree and tree.is_busy and at_ms - changed.since_ms < LOCKED_MS:
                continue
            del self._changed[root]
            if tree is None or not self._watched.update(tree, changed.paths):
                continue
            try:
                saves = tree.look(changed.paths, since_ms=changed.since_ms, now_ms=now_ms())
            except NotFound as error:
                self._watched.give_up(tree, str(error))
                continue
            self._pending.add(root, saves, now_ms=now_ms())

    def _report(self, at_ms: int) -> None:
        for root, files in self._pending.due(at_ms).items():
            if self._reporter.report(root, files):
                self._pending.drop(root, [saves[0].path for saves in files])


log = logging.getLogger(__name__)

RETRY_S = 5.0


class WatchWorker:
    """The watch as a task of the daemon.

    Args:
        record: stores events; called in the watch's own thread.
    """

    def __init__(
        self, store: Store, spool: Spool, record: Record, settings: Settings, *, health: Health
    ) -> None:
        self._is_wanted = settings.watch
        self._health = health
        self._watched = WatchSet(store, settings, health)
        self._reporter = SaveReporter(store, spool, record)
        self._over = threading.Event()
        self._call = Call()
        self._watch = WatchLoop(self._watched, self._reporter, call=self._call)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="watch")

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects, which may not be watched yet."""
        if self._watched.is_news(projects) or self._reporter.may_be_too_early:
            self._call.set()

    def shown(self) -> tuple[Watched, ...]:
        """Return the trees that are watched, and those that are not, with reasons."""
        return self._watched.shown()

    async def run(self) -> None:
        """Watch until cancelled; only sleep if the settings turn the watch off."""
        loop = asyncio.get_running_loop()
        try:
            while self._is_wanted:
                await loop.run_in_executor(self._thread, self._round)
            await asyncio.Event().wait()
        finally:
            self._over.set()
            self._call.set()

    async def finish(self) -> None:
        """Report the remaining changes; call it once `run` has ended."""
        if self._is_wanted:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
        self._thread.shutdown()

    def _round(self) -> None:
        try:
            self._watch.round()
        except StoreUnavailable:
            self._over.wait(RETRY_S)  # the store's own part of the health has it
        except OSError as error:
            self._health.degrade("watching", str(error))
            self._over.wait(RETRY_S)
        except Exception as error:
            log.exception("watching failed")
            self._health.degrade("watching", f"{type(error).__name__}: {error}; see the log")
            self._over.wait(RETRY_S)

    def _end(self) -> None:
        try:
            self._watch.end()
        except Exception:
            log.exception("the last writes were not reported")
