"""Looks for damage before anybody meets it, and has it mended.

In quiet the pages of the database are read one slice after the other. What is found here, or by
whoever read it, is written down, and the daemon leaves; it comes back at once, mends, and goes on.
Meanwhile hooks spool.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.paths import Home
from observer.daemon.health import Health
from observer.daemon.lazy_store import LazyStore
from observer.daemon.writer import WriterThread
from observer.repair.losses import losses
from observer.repair.request import request_repair
from observer.spool.spool import Spool
from observer.store.sqlite.salvage import PAGE_BYTES, damaged_pages

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0
SLICE_PAGES = 512
"""2 MiB, 1 to 3 ms: a database of 1 GB is gone through in 43 minutes."""
REST_S = 60.0
"""Between two times through it."""
MENDS_EVERY_MS = 600_000
"""A disk that damages whatever is written is not written full of mended databases."""


class IntegrityWorker:
    """Whether the database is what was written.

    Args:
        looked: called whenever all of it was looked through.
    """

    def __init__(
        self,
        store: LazyStore,
        spool: Spool,
        writer: WriterThread,
        home: Home,
        health: Health,
        *,
        looked: Callable[[], object],
    ) -> None:
        self._store = store
        self._spool = spool
        self._writer = writer
        self._home = home
        self._health = health
        self._looked = looked
        self._next_page = 0
        self._rests_until = 0.0
        self._asked_before_ns = home.damage.stat().st_mtime_ns if home.damage.exists() else 0

    async def keep_sound(self) -> None:
        """Look every few seconds, until cancelled.

        Raises:
            StoreDamaged: it has to be mended; the next daemon does.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self._look()
            except StoreUnavailable as error:
                log.info("the database was not looked through: %s", error)
            except OSError as error:
                log.info("the database cannot be looked through: %s", error)
            if self._is_asked():
                raise StoreDamaged("a command found the database damaged")
            if found := self._store.damage:
                self._have_mended(found)

    def _is_asked(self) -> bool:
        """Return True if a command met damage; what this daemon could not mend counts no more."""
        try:
            return self._home.damage.stat().st_mtime_ns != self._asked_before_ns
        except FileNotFoundError:
            return False

    async def _look(self) -> None:
        if time.monotonic() < self._rests_until:
            return
        if await asyncio.to_thread(self._spool.depth):
            return
        # In the writer's thread, which moves pages into the file: none is half written.
        found = await self._writer.run(_slice, self._home.database, self._next_page)
        if found is None:
            self._next_page, self._rests_until = 0, time.monotonic() + REST_S
            self._looked()
        elif found:
            self._store.damage = f"{self._home.database}: page {found[0]} was changed on the disk"
        else:
            self._next_page += SLICE_PAGES

    def _have_mended(self, found: str) -> None:
        last = max((loss.at_ms for loss in losses(self._home)), default=0)
        if now_ms() - MENDS_EVERY_MS < last <= now_ms():
            self._health.degrade("damage", f"{found}, again; it is mended once more later")
            return
        try:
            request_repair(self._home, found)
        except OSError as error:
            self._health.degrade("damage", f"{found}; it cannot be mended: {error}")
            return
        raise StoreDamaged(found)


def _slice(database: Path, first: int) -> list[int] | None:
    """Return the damaged pages of a slice, None behind the end of the file."""
    if database.stat().st_size <= first * PAGE_BYTES:
        return None
    return damaged_pages(database, first=first, count=SLICE_PAGES)
