"""Drains the spool whenever something is in it, closes idle sessions, and sweeps the spool."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import StoreUnavailable
from observer.ingest.pipeline import Drained
from observer.serve.inotify import Call, WatchLost, WatchRefused, watch_folders
from observer.serve.worker import Health, Services, Worker, background, heard

POLL_S = 0.2

Wakes = Mapping[Path, Callable[[str], None]]
"""By folder, what is called with the name of a file that appeared there; "" for any."""


async def watch(wakes: Wakes, health: Health, *, growing: Collection[Path] = ()) -> None:
    """Call what belongs to a folder soon after a file came, or in a `growing` one grew."""
    try:
        await _follow(wakes, growing)
    except (WatchLost, WatchRefused) as error:
        health.degrade("watch", f"{error}; looking every {POLL_S:g} s instead")
    while True:
        await asyncio.sleep(POLL_S)
        for wake in wakes.values():
            wake("")


async def _follow(wakes: Wakes, growing: Collection[Path]) -> None:
    loop, call = asyncio.get_running_loop(), Call()
    arrivals = [str(folder) for folder in wakes if folder not in growing]
    watched = watch_folders(map(str, wakes), arrivals=arrivals, step_ms=0)
    thread = background(1, "home watch")
    try:
        while True:
            for path in map(Path, await loop.run_in_executor(thread, partial(watched.wait, call))):
                if path in wakes:
                    raise WatchLost(f"{path} is gone")
                wakes[path.parent](path.name)
    finally:
        call.set()
        thread.submit(watched.close)
        thread.shutdown(wait=False)


log = logging.getLogger(__name__)

LOOK_ANYWAY_S = 30.0  # drain at least this often, in case a change was not reported
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0)
NOTIFY_EVERY_S = 15.0
"""Least time between two notifications in a long drain: each costs a tenth of a commit."""
FEW, REST_SHARE, MOST_REST_S = 100, 4.0, 0.15
"""After several entries, fewer than that, which are no backlog, so many times as long as storing
them took more are awaited, within limits: each commit costs as much as some ten events. Beside 20
sources of 10 events a second, searches wait 23 ms instead of 33, 62 instead of 81 (p95)."""
IDLE_CHECK_S = 60.0
SWEEP_S = 3600.0
ABANDONED_MS = 86_400_000  # a temporary file this old belongs to a hook that was killed


def rest_s(entries: int, took_s: float) -> float:
    """Return how long to wait after storing so many entries in that time."""
    return min(MOST_REST_S, REST_SHARE * took_s) if 1 < entries < FEW else 0.0


class DrainWorker(Worker):
    """Drains one spool; `wake` starts a round."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._failures = 0
        self._is_last = False

    async def run(self) -> None:
        """Drain whenever woken, until cancelled."""
        while True:
            self._news.clear()
            # The writer reports what keeps the store from writing.
            if await self._attempt("drain", self.drain, quiet=StoreUnavailable):
                self._failures = 0
                await heard(self._news, within_s=LOOK_ANYWAY_S)
            else:
                # Not woken by news: a burst of hooks must not hammer a store that is full.
                await asyncio.sleep(BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)])
                self._failures += 1

    async def finish(self, *, wait_s: float) -> None:
        """Drain once more, for `wait_s` at most."""
        self._is_last = True
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._attempt("drain", self.drain, quiet=StoreUnavailable)

    async def run_chores(self) -> None:
        """Close idle sessions and sweep the spool, until cancelled."""

        def sweep() -> None:
            if swept := self._spool.sweep(before_ms=now_ms() - ABANDONED_MS):
                log.info("removed %d unfinished files of killed hooks", swept)

        next_sweep = 0.0
        while True:
            await self._attempt("close_idle", self._close_idle, quiet=StoreUnavailable)
            if time.monotonic() >= next_sweep:
                await self._attempt_in_thread("sweep", sweep)
                next_sweep = time.monotonic() + SWEEP_S
            await asyncio.sleep(IDLE_CHECK_S)

    async def drain(self) -> None:
        """Store everything that is in the spool now; raise StoreUnavailable, and the rest stays."""
        touched: set[int] = set()
        next_notice = 0.0
        drained = Drained(entries=1)
        try:
            began_s = time.monotonic()
            # What comes from now on wakes the next round. To find nothing opens a transaction all
            # the same, which takes a twelfth of what storing one event does.
            while drained.entries and not drained.is_all:
                drained = await self._writer.run(self._pipeline.drain)
                touched |= drained.projects
                took_s = time.monotonic() - began_s
                if time.monotonic() >= next_notice:
                    self._notify(touched)
                    next_notice = time.monotonic() + NOTIFY_EVERY_S
                await asyncio.sleep(0 if self._is_last else rest_s(drained.entries, took_s))
                began_s = time.monotonic()
        finally:
            self._notify(touched)
        # Only an emptied spool proves that nothing is stuck; a transaction without rows may
        # succeed on a full disk.
        self._health.recover("store")

    def _notify(self, touched: set[int]) -> None:
        if touched:
            self._on_change(frozenset(touched))
            touched.clear()

    async def _close_idle(self) -> None:
        if not await asyncio.to_thread(self._spool.is_empty):
            return  # a session that looks silent may go on in what is not stored yet
        if projects := await self._writer.run(self._pipeline.close_idle):
            self._on_change(projects)
