"""Checks the database for damage in the background, and has it repaired.

While the daemon is idle, the pages of the database are read slice by slice. Damage found here, or
by a command, is recorded and the daemon exits; it restarts at once, repairs, and goes on. Hooks
spool meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.paths import Home
from observer.daemon.lazy_store import LazyStore
from observer.daemon.worker import Health, Worker, WriterThread
from observer.repair.losses import losses
from observer.repair.request import request_repair
from observer.spool.spool import Spool
from observer.store.pages import PAGE_BYTES, damaged_pages

LOOK_EVERY_S = 5.0
SLICE_PAGES = 512
"""2 MiB, 1 to 3 ms: a database of 1 GB is checked in 43 minutes."""
REST_S = 600.0
"""Between two checks of the whole database."""
REPAIR_EVERY_MS = 600_000
"""A disk that damages all that is written must not be filled with repaired databases."""


class IntegrityWorker(Worker):
    """Checks the pages of the database against their checksums.

    Args:
        on_checked: called whenever the whole database was checked.
    """

    def __init__(
        self,
        store: LazyStore,
        spool: Spool,
        writer: WriterThread,
        home: Home,
        health: Health,
        *,
        on_checked: Callable[[], object],
    ) -> None:
        super().__init__(health)
        self._store = store
        self._spool = spool
        self._writer = writer
        self._home = home
        self._on_checked = on_checked
        self._next_page = 0
        self._rests_until = 0.0
        self._asked_before_ns = home.damage.stat().st_mtime_ns if home.damage.exists() else 0

    async def run(self) -> None:
        """Check a slice every few seconds, until cancelled.

        Raises:
            StoreDamaged: the database has to be repaired, which the next daemon does.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self._attempt("integrity", self._check, quiet=(OSError, StoreUnavailable))
            if self._is_asked():
                raise StoreDamaged("a command found the database damaged")
            if found := self._store.damage:
                self._request_repair(found)

    def _is_asked(self) -> bool:
        """Return True if a command found damage since this daemon started."""
        try:
            return self._home.damage.stat().st_mtime_ns != self._asked_before_ns
        except FileNotFoundError:
            return False

    async def _check(self) -> None:
        if time.monotonic() < self._rests_until:
            return
        if not await asyncio.to_thread(self._spool.is_empty):
            return
        # In the writer's thread, which moves pages into the file: none is half written.
        found = await self._writer.run(_slice, self._home.database, self._next_page)
        if found is None:
            self._next_page, self._rests_until = 0, time.monotonic() + REST_S
            self._on_checked()
        elif found:
            self._store.damage = f"{self._home.database}: page {found[0]} was changed on the disk"
        else:
            self._next_page += SLICE_PAGES

    def _request_repair(self, found: str) -> None:
        last = max((loss.at_ms for loss in losses(self._home)), default=0)
        if now_ms() - REPAIR_EVERY_MS < last <= now_ms():
            self._health.degrade("damage", f"{found}, again; it is repaired once more later")
            return
        try:
            request_repair(self._home, found)
        except OSError as error:
            self._health.degrade("damage", f"{found}; it cannot be repaired: {error}")
            return
        raise StoreDamaged(found)


def _slice(database: Path, first: int) -> list[int] | None:
    """Return the damaged pages of a slice, None behind the end of the file."""
    if database.stat().st_size <= first * PAGE_BYTES:
        return None
    return damaged_pages(database, first=first, count=SLICE_PAGES)
