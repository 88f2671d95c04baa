"""Enforces retention: removes what is too old, too much or deleted for good, in idle moments.

Also derives anew what an import brought in another order than it happened: both need the folder of
a database beside. What takes long (deriving what is left, cleaning copies) runs in a thread that
pauses in between; events wait only while the result is adopted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import Home
from observer.ingest.projection import out_of_order
from observer.local.spool import Spool
from observer.projects.policy.policies import Retention
from observer.redaction.seen import SEEN
from observer.serve.lazy_store import LazyStore
from observer.serve.worker import Health, OnChange, Worker, WriterThread, heard
from observer.store.tombstones import Tombstones
from observer.upkeep import recognised, size_cap, take_out
from observer.upkeep.redact import redact_files
from observer.upkeep.restore import open_owned
from observer.upkeep.shred import discard
from observer.upkeep.size_cap import Cap
from observer.upkeep.take_out import APPLIED, Rederivation

log = logging.getLogger(__name__)

FIRST_AFTER_S = 10.0
LOOK_EVERY_S = 600.0
ORDER_EVERY_S = 60.0
"""How often it is looked whether something came after what happened later."""
RESTS = 20
"""How many times as long as putting in order, or a search for known values, took it is not done
again: a session that is followed brings a little each minute."""
AGAIN_AFTER_S = 5.0
"""Where somebody read the database, so that its log could not be emptied."""
REST_EVERY, REST_S = 50, 0.005
"""After so many derived events, so long a pause: half of the time is left to others."""


class _Stopped(Exception):
    """The daemon stops; the next one begins this work again."""


class RetentionWorker(Worker):
    """Removes events by age or by size, and puts imports in order, once they are over.

    The next daemon finishes what was interrupted.
    """

    def __init__(  # noqa: PLR0913 - its parts, each named
        self,
        store: LazyStore,
        spool: Spool,
        writer: WriterThread,
        home: Home,
        settings: Settings,
        *,
        tombstones: Tombstones,
        health: Health,
        on_change: OnChange,
    ) -> None:
        super().__init__(health)
        self._store = store
        self._spool = spool
        self._writer = writer
        self._home = home
        self._settings = settings
        self._tombstones = tombstones
        self._on_change = on_change
        self._derived = 0
        self._look_at_s = self._order_at_s = self._search_at_s = 0.0
        self._ordered_seq = -1
        self._is_wiped = True
        self._is_over = False
        self.redacting = 0
        """Events that are being redacted since a value in them was recognised."""

    async def run(self) -> None:
        """Check every few minutes, and when woken, until cancelled."""
        try:
            await heard(self._news, within_s=FIRST_AFTER_S)
            while True:
                is_woken = self._news.is_set()
                self._news.clear()
                if is_woken or time.monotonic() >= self._order_at_s:
                    await self._attempt("import order", self.put_in_order)
                if is_woken or not self._is_wiped or time.monotonic() >= self._look_at_s:
                    self._look_at_s = time.monotonic() + LOOK_EVERY_S
                    await self._attempt("retention", lambda: self.look(now_ms()))
                await heard(self._news, within_s=ORDER_EVERY_S if self._is_wiped else AGAIN_AFTER_S)
        finally:
            self._is_over = True

    async def look(self, at_ms: int) -> int:
        """Remove expired events unless events wait in the spool; return how many.

        Raises:
            StoreUnavailable: a database cannot be read or written; the next look goes on.
            OSError: a file cannot be deleted; as above.
        """
        if not await asyncio.to_thread(self._spool.is_empty):
            return 0
        await asyncio.to_thread(discard, self._home.expiring)  # of a daemon that was killed
        removed = await self._take_out_deleted(at_ms)
        await self._redact_known()
        removed += await self._keep_within_age(at_ms)
        if self._settings.max_home_mb:
            removed += await self._keep_within_size(at_ms)
        else:
            await asyncio.to_thread(self._home.cap.unlink, missing_ok=True)
        return removed

    async def put_in_order(self) -> None:
        """Derive projects anew in which something came after what happened later.

        While an import goes on it waits.

        Raises:
            StoreUnavailable: a database cannot be read or written; the next look tries again.
        """
        if self._writer.is_importing():
            return
        if projects := await asyncio.to_thread(self._out_of_order):
            begun_s = time.monotonic()
            await self._derive_without(frozenset(), projects)
            self._order_at_s = time.monotonic() + RESTS * (time.monotonic() - begun_s)
            self._on_change(projects)
            log.info("%d projects were put in order", len(projects))

    async def _take_out_deleted(self, at_ms: int) -> int:
        """Take notes out that were deleted for good, once nobody may bring them back any more."""
        gone = await asyncio.to_thread(self._deleted, at_ms)
        if gone is None:
            return 0
        if gone.is_apart:
            parts = (self._store, gone, self._tombstones)
            removed = await self._writer.run(take_out.take_out_notes, *parts, now_ms=at_ms)
        else:
            await asyncio.to_thread(self._tombstones.add, gone.marks)
            removed = await self._derive_without(gone.seqs)
            clean = str(len(self._tombstones))
            await self._writer.run(take_out.put_fact, self._store, APPLIED, clean)
        log.info("%d events of deleted notes were taken out", removed)
        return removed

    async def _redact_known(self) -> None:
        """Redact what was stored before redaction came to know a value in it.

        What a killed daemon left is derived first.
        """
        known = SEEN.state
        begun_s = time.monotonic()
        seqs = await asyncio.to_thread(self._found) if begun_s >= self._search_at_s else None
        self._search_at_s = begun_s + (1 + RESTS) * (time.monotonic() - begun_s)
        if seqs:
            self.redacting = len(seqs)
            await self._writer.run(recognised.redact_found, self._store, seqs)
        with self._store.read() as reader:
            projects = recognised.underived(reader)
        if projects:
            await self._derive_without(frozenset(), projects)
            await self._writer.run(take_out.put_fact, self._store, take_out.UNFINISHED, "1")
            await self._writer.run(
                take_out.put_fact, self._store, recognised.UNDERIVED_PROJECTS, ""
            )
            await asyncio.to_thread(redact_files, self._home)
            self._on_change(projects)
            log.info("%d events held values that were recognised after them", self.redacting)
        self.redacting = 0
        if seqs is not None:
            await self._writer.run(take_out.put_fact, self._store, recognised.SEARCHED, known)

    def _found(self) -> list[int] | None:
        """Return the events that hold known values, None if nothing is known since the last."""
        with self._store.read() as reader:
            is_behind = recognised.is_behind(reader)
        return recognised.found(self._store, self._pace) if is_behind else None

    async def _keep_within_age(self, at_ms: int) -> int:
        cap = size_cap.read(self._home)
        retention = Retention(self._settings, cap.dropped if cap else None)
        gone = await asyncio.to_thread(self._expired, retention, at_ms)
        removed = await self._take_out(gone) if gone else 0
        if await asyncio.to_thread(self._is_unfinished):
            await self._finish(retention, at_ms)
        await asyncio.to_thread(take_out.expire_bad, self._home, retention, now_ms=at_ms)
        return removed

    async def _keep_within_size(self, at_ms: int) -> int:
        """Delete copies, then events, above the size limit; only after an earlier announcement."""
        limit_mb = self._settings.max_home_mb
        before = size_cap.read(self._home)
        found = await asyncio.to_thread(
            size_cap.measured, self._home, before, limit_mb, at_ms=at_ms
        )
        removed = 0
        if found.is_above and before and before.is_near:
            found = await asyncio.to_thread(size_cap.drop_copies, self._home, found)
            if found.is_above:
                removed, found = await self._drop_events(found, at_ms)
        if found.is_near or found.dropped_ms:
            self._touch_all()
        await asyncio.to_thread(size_cap.note, self._home, found)
        return removed

    async def _drop_events(self, found: Cap, at_ms: int) -> tuple[int, Cap]:
        with self._store.read() as reader:
            found = size_cap.chosen(reader, self._home, found)
        # else the file does not shrink
        await self._writer.run(take_out.put_fact, self._store, take_out.WIPED, "")
        await asyncio.to_thread(size_cap.note, self._home, found)
        removed = await self._keep_within_age(at_ms)
        return removed, await asyncio.to_thread(size_cap.counted_out, self._home, found, removed)

    def _touch_all(self) -> None:
        with self._store.read() as reader:
            projects = [project.id for project in reader.projects()]
        self._on_change(projects)

    def _expired(self, retention: Retention, at_ms: int) -> frozenset[int]:
        with self._store.read() as reader:
            return take_out.expired(reader, retention, now_ms=at_ms)

    def _deleted(self, at_ms: int) -> take_out.Going | None:
        with self._store.read() as reader:
            return take_out.notes_due(reader, now_ms=at_ms)

    def _out_of_order(self) -> list[int]:
        """Return the projects to put in order; their states are read only after new events."""
        with self._store.read() as reader:
            newest = reader.newest_seq()
            found = out_of_order(reader) if newest != self._ordered_seq else []
        if not found:
            self._ordered_seq = newest
        return found

    async def _take_out(self, gone: frozenset[int]) -> int:
        removed = await self._derive_without(gone)
        log.info("%d events were taken out that are older than is kept", removed)
        return removed

    async def _derive_without(self, gone: frozenset[int], projects: Collection[int] = ()) -> int:
        anew = Rederivation(self._home, open_owned, self._store, gone, projects)
        await asyncio.to_thread(anew.derive, advance=self._pace)
        return await self._writer.run(anew.adopt)

    async def _finish(self, retention: Retention, at_ms: int) -> None:
        """Remove the deleted events from copies, files and the write-ahead log too."""
        what = take_out.Removal(self._tombstones, retention=retention, now_ms=at_ms)
        became = await asyncio.to_thread(take_out.clean_copies, self._home, open_owned, what)
        for outcome in became.items():
            log.info("backups/%s: %s", *outcome)
        await asyncio.to_thread(take_out.finish_files, self._home)
        self._touch_all()
        self._is_wiped = await self._writer.run(take_out.wipe, self._store)
        if self._is_wiped:
            log.info("nothing of what was taken out is left in the home")

    def _is_unfinished(self) -> bool:
        with self._store.read() as reader:
            return take_out.is_unfinished(reader)

    def _pace(self, count: int) -> None:
        if self._is_over:
            raise _Stopped
        self._derived += count
        if self._derived % REST_EVERY == 0:
            time.sleep(REST_S)
