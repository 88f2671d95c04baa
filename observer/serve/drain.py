"""Drains the spool whenever something is in it, sweeps it, and keeps the index up to date."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import mmap
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import ObserverError, StoreUnavailable
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
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

    _is_last = False

    async def run(self) -> None:
        """Drain whenever woken, until cancelled."""
        failures = 0
        while True:
            self._news.clear()
            # The writer reports what keeps the store from writing.
            if await self._attempt("drain", self.drain, quiet=StoreUnavailable):
                failures = 0
                await heard(self._news, within_s=LOOK_ANYWAY_S)
            else:
                # Not woken by news: a burst of hooks must not hammer a store that is full.
                await asyncio.sleep(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)])
                failures += 1

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


# --- the index: refreshed and embedded soon after, compacted in quiet ----------------------------


def give_memory_back() -> None:
    """Give back free memory of the C allocator to the system; does nothing without glibc."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return  # not glibc
    trim(0)


def forget_code(maps: Path = Path("/proc/self/maps")) -> None:
    """Take libraries' code out of this process's memory until it runs again; Linux only, 25 MB."""
    with suppress(OSError):
        libc = ctypes.CDLL(None, use_errno=True)
        for line in maps.read_text().splitlines():
            place, rights, *_, name = line.split(maxsplit=5)
            if rights == "r-xp" and name.startswith("/"):
                begin, end = (int(each, 16) for each in place.split("-"))
                size = ctypes.c_size_t(end - begin)
                libc.madvise(ctypes.c_void_p(begin), size, mmap.MADV_DONTNEED)


PAUSE_S = 0.3  # changes within this time are indexed together; a search does not wait for it
QUIET_S = 2.0  # after this long without changes the index is compacted, and memory given back
GIVE_BACK_S = 10.0
"""Where it is never quiet memory is given back so often: 2 ms, and a few for the next search."""
BATCH = 16  # items embedded at a time: half a second with a model that is slow
REST_EVERY_S, UNUSED_S = 60.0, 180.0
"""How often is looked whether the model was not used for so long, and is let go: 40 MB."""
STILL_S = 20.0
LATEST_S = 300.0
"""Changes are embedded once nothing more came for `STILL_S`, after `LATEST_S` at the latest: the
items of a session change with each of its events."""


class IndexWorker(Worker):
    """`run` refreshes the index, `run_embedding` embeds; `touch` wakes both. The third rests."""

    def __init__(self, services: Services, index: Index, model: LazyModel) -> None:
        super().__init__(services)
        self._index = index
        self._model = model
        self._stored = asyncio.Event()
        self._gave_back_s = time.monotonic()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Wake if something was stored, also in no project, as the notes of a folder may be."""
        if any(True for _ in projects):
            self.wake()

    def wake(self) -> None:
        """Wake both tasks."""
        super().wake()
        self._stored.set()

    async def run(self) -> None:
        """Index what is stored, soon after it is, until cancelled; compact the index when idle."""
        while True:
            is_fresh = await self._did(self._refresh)
            await asyncio.sleep(PAUSE_S)
            if is_fresh:
                await heard(self._news, within_s=QUIET_S)
            if is_fresh and not self._news.is_set():
                await self._did(self._tidy)
            await self._news.wait()
            self._news.clear()

    async def run_embedding(self) -> None:
        """Embed all items without a vector, then those that come, until cancelled."""
        after = await self._embed_from(0)
        if not self._model.problem:
            with suppress(ObserverError):  # they do no harm, and the next start drops them
                await self._writer.run(self._pipeline.drop_other_vectors)
        while True:
            await self._stored.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LATEST_S):
                    while self._stored.is_set():
                        self._stored.clear()
                        await heard(self._stored, within_s=STILL_S)
            self._stored.clear()
            after = await self._embed_from(after)

    async def run_resting(self) -> None:
        """Let go of what nobody needs for a while, until cancelled."""
        while True:
            await asyncio.sleep(REST_EVERY_S)
            await self._did(self._rest)

    async def _did(self, work: Callable[[], None]) -> bool:
        return await self._attempt_in_thread("index", work, quiet=StoreUnavailable)

    async def _embed_from(self, after: int) -> int:
        try:
            while not self._model.problem:
                began_s = time.monotonic()
                made = await asyncio.to_thread(self._pipeline.embedded, after, limit=BATCH)
                took_s = time.monotonic() - began_s
                await self._writer.run(self._pipeline.keep_embedded, made)
                await asyncio.sleep(took_s)  # others need the processor more
                if made.last_change == after:
                    break
                after = made.last_change
                self._news.set()
        except ObserverError as error:
            log.info("embedding waits: %s", error)
        if self._model.problem:
            self._health.degrade("model", self._model.problem)
        return after

    def _tidy(self) -> None:
        """Compact the index and give back memory: after 10,000 items 46 of 215 MB stay in use."""
        self._index.tidy()
        self._give_back()

    def _rest(self) -> None:
        if self._model.let_go(unused_s=UNUSED_S):
            self._index.rest()
            self._store.rest()
            self._give_back()
            forget_code()

    def _refresh(self) -> None:
        with self._store.read() as reader:
            self._index.refresh(reader)
        if time.monotonic() - self._gave_back_s > GIVE_BACK_S:
            self._give_back()

    def _give_back(self) -> None:
        give_memory_back()
        self._gave_back_s = time.monotonic()
