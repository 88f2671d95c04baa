"""Keeps what is stored in one place, and says what was lost where nobody was told.

In quiet the write-ahead log goes into the database file, so that a copy of that file alone holds
nearly everything. A log that was deleted in use is noted, and events that hooks could not write are
shown for a while by `status`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import StoreUnavailable
from observer.core.paths import Home, make_private
from observer.daemon import home_guard
from observer.daemon.backup import BackupWorker
from observer.daemon.health import Health
from observer.daemon.integrity import IntegrityWorker
from observer.daemon.lazy_store import LazyStore
from observer.daemon.retention import RetentionWorker, Told
from observer.daemon.status import REMEMBERED_MS
from observer.daemon.writer import WriterThread
from observer.spool import refusals
from observer.spool.spool import Spool

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0


class MaintenanceWorker:
    """The chores of one database and spool."""

    def __init__(
        self, store: LazyStore, spool: Spool, writer: WriterThread, home: Home, health: Health
    ) -> None:
        self._store = store
        self._spool = spool
        self._writer = writer
        self._home = home
        self._health = health
        self._rescues = 0

    async def keep_up(
        self, settings: Settings, *, looked: Callable[[], object], told: Told
    ) -> None:
        """Run all chores until cancelled; raises as `IntegrityWorker`."""
        store, home, health = self._store, self._home, self._health
        sound = IntegrityWorker(store, self._spool, self._writer, home, health, looked=looked)
        copies = BackupWorker(
            store,
            home,
            health,
            every_hours=settings.backup_hours,
            disk_percent=settings.backup_disk_percent,
        )
        retaining = RetentionWorker(
            store, self._spool, self._writer, home, settings, health=health, told=told
        )
        await asyncio.gather(
            self._keep(), sound.keep_sound(), copies.keep_copying(), retaining.keep_retaining()
        )

    async def _keep(self) -> None:
        try:
            make_private(self._home.logs)
            await asyncio.to_thread(refusals.prepare, self._home.refused)
        except OSError as error:
            self._health.degrade("refusals", f"hooks cannot count what they refuse: {error}")
        beats_at = 0.0
        while True:
            if time.monotonic() >= beats_at:
                await asyncio.to_thread(home_guard.renew, self._home)
                beats_at = time.monotonic() + home_guard.BEAT_S
            await asyncio.sleep(LOOK_EVERY_S)
            await self._look()

    async def _look(self) -> None:
        try:
            if not await asyncio.to_thread(self._spool.depth):
                await self._writer.run(self._store.checkpoint)
            await asyncio.to_thread(self._forget_old_refusals)
        except (OSError, StoreUnavailable) as error:
            log.info("no upkeep: %s", error)  # the part whose fault it is says so itself
        if self._store.rescues > self._rescues:
            self._rescues = self._store.rescues
            log.error("the write-ahead log was deleted in use; what it held was saved")

    def _forget_old_refusals(self) -> None:
        found = refusals.read(self._home.refused)
        if found and found.last_ms < now_ms() - REMEMBERED_MS:
            refusals.reset(self._home.refused)
