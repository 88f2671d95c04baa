"""Keeps the notes of memory files as the files are, once those of a folder were imported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from observer.core import config
from observer.core.clock import now_ms
from observer.core.paths import Home, is_inside
from observer.daemon.health import Health
from observer.daemon.worker import Worker
from observer.importers.finished import FinishedImports
from observer.importers.jsonl import Problems
from observer.importers.memory_files import NAME, changes, find
from observer.importers.source import FoundSession
from observer.notes.values import Record
from observer.spool.spool import Spool
from observer.store.interface import Store

LOOK_EVERY_S = 30.0


class MemoryFileWorker(Worker):
    """Looks at the memory files of the folders of which some were imported.

    Args:
        store: has their notes, and the roots of projects.
        record: stores events.
        home: knows what was imported, and what is paused.
        health: as of `Worker`.
    """

    def __init__(self, store: Store, record: Record, home: Home, health: Health) -> None:
        super().__init__(health)
        self._store = store
        self._record = record
        self._home = home
        self._pauses = Spool(home.spool).pauses
        self._seen: list[FoundSession] | None = None

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await self._attempt_in_thread("memory files", self.look)
            await asyncio.sleep(LOOK_EVERY_S)

    def look(self) -> None:
        """Store what has changed since the last look."""
        imported = FinishedImports(self._home.imports).names(NAME)
        if not imported:
            return
        folders = self._folders(imported)
        found = find(folders, Problems())
        if found == self._seen:
            return
        settings = config.load(self._home)
        with self._store.read() as reader:
            events = changes(reader, folders, settings, now_ms=now_ms())
        if events:
            self._record(events, None)
        self._seen = found

    def _folders(self, imported: frozenset[str]) -> Sequence[Path]:
        """Return the folders of imported files in which nothing is paused."""
        with self._store.read() as reader:
            roots = {root for project in reader.projects() for root in project.roots}
        within = {root for root in roots if any(is_inside(name, root) for name in imported)}
        if not all(any(is_inside(name, root) for root in within) for name in imported):
            within.add(str(Path.home()))
        at_ms = now_ms()
        return [
            Path(root)
            for root in sorted(within)
            if Path(root).is_dir() and not self._pauses.covers(at_ms, [root])
        ]
