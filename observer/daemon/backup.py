"""The daemon's automatic copies of the database, and their rotation.

A copy is made while others read and write, verified page by page and by SQLite's own check, and
only if something was stored since the last one. Kept are the newest, one of each of the last seven
days, and one of each of the last four weeks; the oldest go first if all together are too large.
Copies from before migrations, and those that a person made, are never deleted.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.paths import Home, make_private
from observer.daemon.worker import Health, Worker
from observer.store.interface import OwnedStore

log = logging.getLogger(__name__)

LOW_DISK_BYTES = 256 << 20
"""Disk space that must stay free beside a copy."""
DAYS, WEEKS = 7, 4
LOOK_EVERY_S = 600.0
FIRST_AFTER_S = 60.0
"""A daemon that has just started has other things to do."""
_NAME = re.compile(r"-auto-([0-9]{8}T[0-9]{6}Z)-([0-9]+)\.db$")


class BackupWorker(Worker):
    """Makes the daemon's copies of one database.

    Args:
        every_hours: time between two copies; 0 for no copies.
        disk_percent: most of the disk that all together may take; the newest is always kept.
    """

    def __init__(
        self, store: OwnedStore, home: Home, health: Health, *, every_hours: int, disk_percent: int
    ) -> None:
        super().__init__(health)
        self._store = store
        self._home = home
        self._every_ms = every_hours * 3_600_000
        self._disk_percent = disk_percent

    async def run(self) -> None:
        """Make a copy whenever one is due, until cancelled."""
        await asyncio.sleep(FIRST_AFTER_S)
        while True:
            await self._attempt_in_thread("backup", lambda: self.copy(now_ms()))
            await asyncio.sleep(LOOK_EVERY_S)

    def copy(self, at_ms: int) -> Path | None:
        """Make a copy if one is due and there is room; return its path, None if none was made.

        Raises:
            StoreUnavailable: it cannot be written, or what was written is damaged.
            OSError: the folder cannot be read or written.
        """
        known = copies(self._home)
        if not self._every_ms or (known and 0 <= at_ms - made_ms(known[-1]) < self._every_ms):
            return None
        with self._store.read() as reader:
            newest, totals = reader.newest_seq(), reader.totals()
        if not newest or (known and _newest_seq(known[-1]) == newest):
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
        most_bytes = shutil.disk_usage(self._home.backups).total * self._disk_percent // 100
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


def _newest_seq(path: Path) -> int:
    return int(_named(path)[1])


def _named(path: Path) -> tuple[str, str]:
    ((stamp, seq),) = _NAME.findall(path.name)
    return stamp, seq
