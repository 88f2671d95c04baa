"""Chores of the idle daemon: checkpoints, checks for damage, copies, the lease, retention."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.paths import Home, make_private
from observer.ingest.projection import out_of_order
from observer.local import refusals
from observer.projects.policy.policies import Retention
from observer.redaction.seen import SEEN
from observer.serve.worker import Services, Worker, heard
from observer.store.pages import PAGE_BYTES, damaged_pages
from observer.tools.status import REMEMBERED_MS
from observer.upkeep import home_guard, redact, size_cap, take_out
from observer.upkeep.losses import losses, request_repair
from observer.upkeep.redact import redact_files
from observer.upkeep.restore import open_owned
from observer.upkeep.shred import discard
from observer.upkeep.take_out import APPLIED, Rederivation

log = logging.getLogger(__name__)

LOOK_EVERY_S = 10.0
SLICE_PAGES = 1024  # 4 MiB, 2 to 6 ms: a database of 1 GB is checked in 43 minutes
REST_S = 600.0  # between two checks of the whole database
REPAIR_EVERY_MS = 600_000
"""A disk that damages all that is written must not be filled with repaired databases."""


class IntegrityWorker(Worker):
    """Checks the pages of the database; `on_checked` is called whenever all were."""

    def __init__(self, services: Services, *, on_checked: Callable[[], object]) -> None:
        super().__init__(services)
        self._on_checked = on_checked
        self._next_page = 0
        self._rests_until = 0.0
        self._damage_ns = self._noted_ns()

    async def run(self) -> None:
        """Check a slice every few seconds, until cancelled; raise StoreDamaged for a repair."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self._attempt("integrity", self._check, quiet=(OSError, StoreUnavailable))
            if self._noted_ns() not in {0, self._damage_ns}:
                raise StoreDamaged("a command found the database damaged")
            if found := self._store.damage:
                self._request_repair(found)

    def _noted_ns(self) -> int:
        """Return when a command last found damage; 0 if none did."""
        with suppress(FileNotFoundError):
            return self._home.damage.stat().st_mtime_ns
        return 0

    async def _check(self) -> None:
        if time.monotonic() < self._rests_until:
            return
        # In the writer's thread, which moves pages into the file: none is half written.
        found = await self._writer.run(self._slice)
        if found is None:
            self._next_page, self._rests_until = 0, time.monotonic() + REST_S
            self._on_checked()
        elif found:
            self._store.damage = f"{self._home.database}: page {found[0]} was changed on the disk"

    def _slice(self) -> list[int] | None:
        """Return the damaged pages of the next slice, None behind the end; [] while events wait."""
        if not self._spool.is_empty():
            return []
        database, first = self._home.database, self._next_page
        if database.stat().st_size <= first * PAGE_BYTES:
            return None
        if not (found := damaged_pages(database, first=first, count=SLICE_PAGES)):
            self._next_page += SLICE_PAGES
        return found

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


LOW_DISK_BYTES = 256 << 20
DAYS, WEEKS = 7, 4
COPY_EVERY_S = 600.0
CHORES_EVERY_S = 30.0
FIRST_AFTER_S = 60.0  # a daemon that has just started has other things to do
_NAME = re.compile(r"-auto-([0-9]{8}T[0-9]{6}Z)-([0-9]+)\.db$")


class BackupWorker(Worker):
    """Makes the daemon's copies of one database, as often and as many as the settings say."""

    async def run(self) -> None:
        """Make a copy whenever one is due, until cancelled."""
        await asyncio.sleep(FIRST_AFTER_S)
        while True:
            await self._attempt_in_thread("backup", lambda: self.copy(now_ms()))
            await asyncio.sleep(COPY_EVERY_S)

    def copy(self, at_ms: int) -> Path | None:
        """Make a copy if one is due and there is room, and return its path; raise as the store."""
        known = copies(self._home)
        every_ms = self._settings.backup_hours * 3_600_000
        if not every_ms or (known and 0 <= at_ms - made_ms(known[-1]) < every_ms):
            return None
        with self._store.read() as reader:
            newest, totals = reader.newest_seq(), reader.totals()
        if not newest or (known and int(_named(known[-1])[1]) == newest):
            return None
        make_private(self._home.backups)
        free_bytes = shutil.disk_usage(self._home.backups).free
        if free_bytes < totals.size_bytes + LOW_DISK_BYTES:
            log.info("no copy of the database is made: %d MiB are free", free_bytes >> 20)
            return None
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_ms / 1000))
        path = self._home.backups / f"{self._home.database.stem}-auto-{stamp}-{newest}.db"
        self._store.backup(path)
        self._drop(at_ms)
        return path

    def _drop(self, at_ms: int) -> None:
        whole = shutil.disk_usage(self._home.backups).total
        most_bytes = whole * self._settings.backup_disk_percent // 100
        keep = kept(copies(self._home), at_ms)
        while len(keep) > 1 and sum(path.stat().st_size for path in keep) > most_bytes:
            keep.pop(0)
        for path in copies(self._home):
            if path not in keep:
                path.unlink()


def copies(home: Home) -> list[Path]:
    """Return the daemon's own copies, oldest first."""
    found = home.backups.glob(f"{home.database.stem}-auto-*.db")
    return sorted(path for path in found if _NAME.search(path.name))


def made_ms(path: Path) -> int:
    """Return when a copy was made, from its name, in UTC milliseconds."""
    return int(datetime.strptime(_named(path)[0], "%Y%m%dT%H%M%S%z").timestamp() * 1000)


def kept(paths: Sequence[Path], at_ms: int) -> list[Path]:
    """Return the copies to keep, oldest first: the newest, one of each day, one of each week."""
    found = set(paths[-1:])
    for period_ms, count in ((86_400_000, DAYS), (7 * 86_400_000, WEEKS)):
        newest = {made_ms(path) // period_ms: path for path in paths}
        this = at_ms // period_ms
        found |= {path for period, path in newest.items() if period > this - count}
    return sorted(found)


def _named(path: Path) -> tuple[str, str]:
    ((stamp, seq),) = _NAME.findall(path.name)
    return stamp, seq


class MaintenanceWorker(Worker):
    """Keeps the lease of the home, empties the write-ahead log, and forgets old refusals."""

    async def run(self) -> None:
        """Do this every half minute, until cancelled."""
        try:
            make_private(self._home.logs)
            await asyncio.to_thread(refusals.prepare, self._home.refused)
        except OSError as error:
            self._health.degrade("refusals", f"hooks cannot count what they refuse: {error}")
        beats_at, rescues = 0.0, 0
        while True:
            if time.monotonic() >= beats_at:
                await asyncio.to_thread(home_guard.renew, self._home)
                beats_at = time.monotonic() + home_guard.BEAT_S
            await asyncio.sleep(CHORES_EVERY_S)
            await self._attempt("maintenance", self._look, quiet=(OSError, StoreUnavailable))
            if self._store.rescues > rescues:
                rescues = self._store.rescues
                log.error("the write-ahead log was deleted in use; what it held was saved")

    async def _look(self) -> None:
        if await asyncio.to_thread(self._spool.is_empty):
            await self._writer.run(self._store.checkpoint)
        found = await asyncio.to_thread(refusals.read, self._home.refused)
        if found and found.last_ms < now_ms() - REMEMBERED_MS:
            await asyncio.to_thread(refusals.reset, self._home.refused)


# --- retention: removes what is too old, too much or deleted for good, in idle moments -----------
#
# What takes long runs in a thread that pauses; events wait only while the result is adopted.

RETENTION_AFTER_S = 10.0
RETENTION_EVERY_S = 600.0
ORDER_EVERY_S = 60.0  # how often it is looked whether something came after what happened later
RESTS = 20
"""How many times as long as putting in order, or a search for known values, took it is not done
again: a session that is followed brings a little each minute."""
AGAIN_AFTER_S = 5.0  # where somebody read the database, so that its log could not be emptied
PAUSE_EVERY, PAUSE_S = 50, 0.005
"""After so many derived events, so long a pause: half of the time is left to others."""


class _Stopped(Exception):
    """The daemon stops; the next one begins this work again."""


class RetentionWorker(Worker):
    """Removes events by age or size, puts imports in order, and finishes what was interrupted."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._derived = 0
        self._look_at_s = self._order_at_s = self._search_at_s = 0.0
        self._ordered_seq = -1
        self._is_wiped = True
        self._is_woken = self._is_over = False
        self._searched = SEEN.state
        """What was known when all that is stored was searched for it, as far as is remembered."""
        self.redacting = 0  # events that are being redacted since a value in them was recognised

    async def run(self) -> None:
        """Check every few minutes, and when woken, until cancelled."""
        try:
            await heard(self._news, within_s=RETENTION_AFTER_S)
            while True:
                is_woken, self._is_woken = self._is_woken, False
                self._news.clear()
                if is_woken or time.monotonic() >= self._order_at_s:
                    await self._attempt("import order", self.put_in_order)
                due_s = self._look_at_s if SEEN.state == self._searched else self._search_at_s
                if is_woken or not self._is_wiped or time.monotonic() >= due_s:
                    self._look_at_s = time.monotonic() + RETENTION_EVERY_S
                    await self._attempt("retention", lambda: self.look(now_ms()))
                is_calm = self._is_wiped and SEEN.state == self._searched
                await heard(self._news, within_s=ORDER_EVERY_S if is_calm else AGAIN_AFTER_S)
        finally:
            self._is_over = True

    def wake(self) -> None:
        """Look soon, whatever was looked at lately."""
        self._is_woken = True
        super().wake()

    def touch(self, _projects: Iterable[int | None]) -> None:
        """Search what is stored soon if values became known; it may have held them before."""
        if SEEN.state != self._searched:
            self._news.set()

    async def look(self, at_ms: int) -> int:
        """Remove expired events unless events wait in the spool; return how many."""
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
        """Derive anew where something came after what happened later; not amid an import."""
        if self._pipeline.is_importing():
            return
        if projects := await asyncio.to_thread(self._out_of_order):
            begun_s = time.monotonic()
            await self._derive_without(frozenset(), projects)
            self._order_at_s = time.monotonic() + RESTS * (time.monotonic() - begun_s)
            self._on_change(projects)
            log.info("%d projects were put in order", len(projects))

    async def _take_out_deleted(self, at_ms: int) -> int:
        gone = await self._asked(partial(take_out.notes_due, now_ms=at_ms))
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
        """Redact what was stored before a value in it was known, and what a killed daemon left."""
        begun_s = time.monotonic()
        if begun_s < self._search_at_s:
            return
        known = SEEN.state
        parts = (self._store, self._writer.call, self._pace)
        self.redacting = await asyncio.to_thread(redact.catch_up, *parts)
        self._searched = known
        self._search_at_s = begun_s + (1 + RESTS) * (time.monotonic() - begun_s)
        if projects := await self._asked(redact.underived):
            await self._derive_without(frozenset(), projects)
            await self._writer.run(take_out.note_rederived, self._store)
            await asyncio.to_thread(redact_files, self._home)
            self._on_change(projects)
        if self.redacting:
            log.info("%d events held values that were recognised after them", self.redacting)
        self.redacting = 0

    async def _keep_within_age(self, at_ms: int) -> int:
        cap = size_cap.read(self._home)
        retention = Retention(self._settings, cap.dropped if cap else None)
        removed = 0
        if gone := await self._asked(partial(take_out.expired, retention=retention, now_ms=at_ms)):
            removed = await self._derive_without(gone)
            log.info("%d events were taken out that are older than is kept", removed)
        if await self._asked(lambda reader: reader.meta(take_out.UNFINISHED)):
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
                found = await self._asked(partial(size_cap.chosen, home=self._home, cap=found))
                # Else the file does not shrink.
                await self._writer.run(take_out.put_fact, self._store, take_out.WIPED, "")
                await asyncio.to_thread(size_cap.note, self._home, found)
                removed = await self._keep_within_age(at_ms)
                found = await asyncio.to_thread(size_cap.counted_out, self._home, found, removed)
        if found.is_near or found.dropped_ms:
            self._touch_all()
        await asyncio.to_thread(size_cap.note, self._home, found)
        return removed

    def _touch_all(self) -> None:
        with self._store.read() as reader:
            projects = [project.id for project in reader.projects()]
        self._on_change(projects)

    def _out_of_order(self) -> list[int]:
        """Return the projects to put in order; their states are read only after new events."""
        with self._store.read() as reader:
            newest = reader.newest_seq()
            found = out_of_order(reader) if newest != self._ordered_seq else []
        if not found:
            self._ordered_seq = newest
        return found

    async def _derive_without(self, gone: frozenset[int], projects: Collection[int] = ()) -> int:
        anew = Rederivation(self._home, open_owned, self._store, gone, projects)
        await asyncio.to_thread(anew.derive, advance=self._pace)
        return await self._writer.run(anew.adopt)

    async def _finish(self, retention: Retention, at_ms: int) -> None:
        what = take_out.Removal(self._tombstones, retention=retention, now_ms=at_ms)
        became = await asyncio.to_thread(take_out.clean_copies, self._home, open_owned, what)
        for outcome in became.items():
            log.info("backups/%s: %s", *outcome)
        await asyncio.to_thread(discard, self._home.context)  # what is left is written anew
        self._touch_all()
        self._is_wiped = await self._writer.run(take_out.wipe, self._store)
        if self._is_wiped:
            log.info("nothing of what was taken out is left in the home")

    def _pace(self, count: int) -> None:
        if self._is_over:
            raise _Stopped
        self._derived += count
        if self._derived % PAUSE_EVERY == 0:
            time.sleep(PAUSE_S)
