"""Maintenance while the daemon is idle: checkpoints, the home's lease, and the other chores.

The write-ahead log is moved into the database file, so that a copy of that file alone holds nearly
everything. A log that was deleted in use is reported, and events that hooks could not write are
shown by `status` for a while.
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
from observer.daemon.integrity import IntegrityWorker
from observer.daemon.lazy_store import LazyStore
from observer.daemon.retention import RetentionWorker
from observer.daemon.status import REMEMBERED_MS
from observer.daemon.worker import Health, OnChange, Worker, WriterThread
from observer.spool import refusals
from observer.spool.spool import Spool
from observer.store.tombstones import Tombstones

log = logging.getLogger(__name__)

LOOK_EVERY_S = 30.0


class MaintenanceWorker(Worker):
    """The chores of one database and spool: checkpoints, integrity, backups, retention."""

    def __init__(
        self, store: LazyStore, spool: Spool, writer: WriterThread, home: Home, health: Health
    ) -> None:
        super().__init__(health)
        self._store = store
        self._spool = spool
        self._writer = writer
        self._home = home
        self._rescues = 0
        self._loop = asyncio.get_running_loop()
        self._retention: RetentionWorker | None = None

    @property
    def redacting(self) -> int:
        """Stored events that are being redacted, since a value in them was recognised later."""
        return self._retention.redacting if self._retention else 0

    def end_import(self) -> None:
        """Have what was imported linked soon; called in any thread."""
        self._writer.end_import()
        self.take_out_deleted()

    def take_out_deleted(self) -> None:
        """Have what was deleted for good taken out soon, if it is due; called in any thread."""
        if self._retention:
            self._loop.call_soon_threadsafe(self._retention.wake)

    async def run(
        self,
        settings: Settings,
        tombstones: Tombstones,
        *,
        on_checked: Callable[[], object],
        on_change: OnChange,
    ) -> None:
        """Run all chores until cancelled.

        Args:
            settings: how often copies are made, and how long what is kept.
            tombstones: those that the pipeline looks at.
            on_checked: as of `IntegrityWorker`.
            on_change: called with projects whose items retention has changed.

        Raises:
            StoreDamaged: as `IntegrityWorker.run`.
        """
        store, home, health = self._store, self._home, self._health
        integrity = IntegrityWorker(
            store, self._spool, self._writer, home, health, on_checked=on_checked
        )
        backups = BackupWorker(
            store,
            home,
            health,
            every_hours=settings.backup_hours,
            disk_percent=settings.backup_disk_percent,
        )
        self._retention = RetentionWorker(
            store,
            self._spool,
            self._writer,
            home,
            settings,
            tombstones=tombstones,
            health=health,
            on_change=on_change,
        )
        chores = (self._keep(), integrity.run(), backups.run(), self._retention.run())
        await asyncio.gather(*chores)

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
            await self._attempt("maintenance", self._look, quiet=(OSError, StoreUnavailable))
            if self._store.rescues > self._rescues:
                self._rescues = self._store.rescues
                log.error("the write-ahead log was deleted in use; what it held was saved")

    async def _look(self) -> None:
        if await asyncio.to_thread(self._spool.is_empty):
            await self._writer.run(self._store.checkpoint)
        await asyncio.to_thread(self._forget_old_refusals)

    def _forget_old_refusals(self) -> None:
        found = refusals.read(self._home.refused)
        if found and found.last_ms < now_ms() - REMEMBERED_MS:
            refusals.reset(self._home.refused)
