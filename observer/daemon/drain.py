"""Empties the spool whenever something is in it, and keeps the store's chores.

Promises: an event stays in the spool until it is stored; a store that cannot write is tried again
and again, ever more rarely; a fault in one round is logged, shown by `status`, and survived.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from observer.core.clock import now_ms
from observer.core.errors import StoreUnavailable
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeLost
from observer.daemon.spool_watch import heard
from observer.daemon.writer import WriterThread
from observer.ingest.pipeline import Pipeline
from observer.spool.spool import Spool

log = logging.getLogger(__name__)

LOOK_ANYWAY_S = 10.0
"""Drain at least this often, in case the kernel kept a change to itself."""
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0)
NOTIFY_EVERY_S = 15.0
"""In a long drain; what others make of the news costs a tenth of it at every commit."""
IDLE_CHECK_S = 20.0
SWEEP_S = 3600.0
ABANDONED_MS = 86_400_000
"""A temporary file this old belongs to a hook that was killed."""


class DrainWorker:
    """The rounds of one daemon; `wake` starts one, from the event loop's thread.

    Args:
        told: called with the projects in which something was stored, soon after the commit.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        spool: Spool,
        writer: WriterThread,
        *,
        health: Health,
        told: Callable[[frozenset[int]], None],
    ) -> None:
        self._pipeline = pipeline
        self._spool = spool
        self._writer = writer
        self._health = health
        self._told = told
        self._news = asyncio.Event()
        self._failures = 0

    def wake(self) -> None:
        """Say that there is something to drain."""
        self._news.set()

    async def keep_draining(self) -> None:
        """Drain whenever woken, until cancelled."""
        while True:
            self._news.clear()
            if await self._round(self.drain):
                self._failures = 0
                await heard(self._news, within_s=LOOK_ANYWAY_S)
            else:
                # Not woken by news: a storm of hooks must not hammer a store that is full.
                await asyncio.sleep(BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)])
                self._failures += 1

    async def finish(self, *, wait_s: float) -> None:
        """Drain once more, for `wait_s` at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._round(self.drain)

    async def keep_chores(self) -> None:
        """Close idle sessions and sweep the spool, until cancelled."""
        next_sweep = 0.0
        while True:
            await self._round(self._close_idle)
            if time.monotonic() >= next_sweep:
                await self._round(self._sweep)
                next_sweep = time.monotonic() + SWEEP_S
            await asyncio.sleep(IDLE_CHECK_S)

    async def drain(self) -> None:
        """Store everything that is in the spool now.

        Raises:
            StoreUnavailable: the store cannot write; what is left stays in the spool.
        """
        touched: set[int] = set()
        next_told = 0.0
        try:
            while (drained := await self._writer.run(self._pipeline.drain)).entries:
                touched |= drained.projects
                if time.monotonic() >= next_told:
                    self._tell(touched)
                    next_told = time.monotonic() + NOTIFY_EVERY_S
        finally:
            self._tell(touched)
        # Only an emptied spool proves that nothing is stuck; a transaction without rows may
        # succeed on a full disk.
        self._health.recover("store")

    def _tell(self, touched: set[int]) -> None:
        if touched:
            self._told(frozenset(touched))
            touched.clear()

    async def _close_idle(self) -> None:
        if await asyncio.to_thread(self._spool.depth):
            return  # a session that looks silent may go on in what is not stored yet
        if projects := await self._writer.run(self._pipeline.close_idle):
            self._told(projects)

    async def _sweep(self) -> None:
        before_ms = now_ms() - ABANDONED_MS
        swept = await asyncio.to_thread(self._spool.sweep, before_ms=before_ms)
        if swept:
            log.info("removed %d unfinished files of killed hooks", swept)

    async def _round(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Do one piece of work; False says that it failed, and that `Health` knows why.

        Raises:
            HomeLost: the one failure that no other round can mend.
        """
        part = work.__name__.strip("_")
        try:
            await work()
        except StoreUnavailable:
            return False  # the writer told
        except HomeLost:
            raise
        except Exception as error:
            log.exception("%s failed", part)
            self._health.degrade(part, f"{type(error).__name__}: {error}; see the log")
            return False
        self._health.recover(part)
        return True
