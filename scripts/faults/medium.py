"""What of a folder is on the medium, and what a power failure would take: all that was not forced.

Of SQLite's files it knows what was written since the last sync; of others which names appeared,
moved or went, and which bytes changed, since the folder or the file was synced. A write may survive
in any of its sectors, and so may a name, whatever the order in which they were written.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from faults.points import Kind, Step

SECTOR_BYTES = 512
_FORCE_THEIR_FOLDER = ("-journal", "-wal")
"""SQLite syncs the folder of a new log of these when it syncs the log for the first time."""


class Change(NamedTuple):
    """Something that a power failure may undo: the bytes that were there, None for no file."""

    path: str
    folder: str
    before: bytes | None


class Database:
    """One of SQLite's files: what is on the medium for certain, and the writes since."""

    def __init__(self, path: str) -> None:
        self.synced = _bytes(path)
        self.pending: list[Step] = []

    def settle(self) -> None:
        """Take all that was written as being on the medium."""
        self.synced = self.surviving(lambda: True)
        self.pending = []

    def surviving(self, keeps: Callable[[], bool]) -> bytes | None:
        """Return what is left if each sector of each write is kept or not."""
        if self.synced is None and not keeps():
            return None
        left = bytearray(self.synced or b"")
        for step in self.pending:
            if step.kind is Kind.TRUNCATE:
                if keeps():
                    del left[step.offset :]
                continue
            for offset, sector in _sectors(step):
                if keeps():
                    left.extend(bytes(max(0, offset + len(sector) - len(left))))
                    left[offset : offset + len(sector)] = sector
        return bytes(left)


class Medium:
    """A witness of all steps below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._databases: dict[str, Database] = {}
        self._removed: dict[str, Database] = {}
        self._names: list[Change] = []
        self._bytes: list[Change] = []

    def __call__(self, step: Step) -> None:
        """Note what a step puts at risk, or what it settles."""
        if step.is_sqlite:
            self._note_of_sqlite(step)
        elif step.kind is Kind.SYNC:
            self._names = [one for one in self._names if one.folder != step.path]
            self._bytes = [one for one in self._bytes if one.path != step.path]
        elif step.kind is Kind.WRITE:
            self._bytes.append(_change(step.path))
        elif step.kind in {Kind.CREATE, Kind.REMOVE, Kind.RENAME}:
            self._names += [_change(path) for path in (step.path, step.target) if path]
            database = self._databases.pop(step.path, None)
            if database and database.pending and step.target:
                self._databases[step.target] = database

    def survive(self, folder: Path, *, seed: int) -> None:
        """Write what a power failure may leave; with seed 0 nothing that was not forced stays."""
        moments = random.Random(seed)  # noqa: S311 - any will do

        def keeps() -> bool:
            return bool(seed) and moments.random() < 0.5

        shutil.copytree(self._folder, folder, symlinks=True, ignore=shutil.ignore_patterns("*-shm"))
        for change in reversed(self._names):
            if not keeps():
                _put(self._moved(change.path, folder), change.before)
        for change in reversed(self._bytes):
            _put(self._moved(change.path, folder), _torn(change, keeps))
        for path, database in {**self._removed, **self._databases}.items():
            _put(self._moved(path, folder), database.surviving(keeps))

    def _note_of_sqlite(self, step: Step) -> None:
        if step.kind is Kind.REMOVE:
            database = self._databases.pop(step.path, None)
            if database and not step.is_forced:
                self._removed[step.path] = database
            return
        database = self._databases.setdefault(step.path, Database(step.path))
        if step.kind is Kind.SYNC:
            if database.synced is None and step.path.endswith(_FORCE_THEIR_FOLDER):
                folder = os.path.dirname(step.path)  # noqa: PTH120
                self._names = [one for one in self._names if one.folder != folder]
                self._removed.clear()
            database.settle()
        elif step.kind in {Kind.WRITE, Kind.TRUNCATE}:
            database.pending.append(step)

    def _moved(self, path: str, folder: Path) -> Path:
        return folder / Path(path).relative_to(self._folder)


def _change(path: str) -> Change:
    return Change(path, os.path.dirname(path), _bytes(path))  # noqa: PTH120


def _torn(change: Change, keeps: Callable[[], bool]) -> bytes | None:
    """Return the bytes with some sectors as they were before."""
    now, before = _bytes(change.path), change.before
    if now is None or before is None:
        return now
    torn = bytearray(now)
    for offset in range(0, min(len(now), len(before)), SECTOR_BYTES):
        if not keeps():
            torn[offset : offset + SECTOR_BYTES] = before[offset : offset + SECTOR_BYTES]
    return bytes(torn)


def _sectors(step: Step) -> Iterator[tuple[int, bytes]]:
    end = step.offset + len(step.data)
    at = step.offset
    while at < end:
        until = min(end, at - at % SECTOR_BYTES + SECTOR_BYTES)
        yield at, step.data[at - step.offset : until - step.offset]
        at = until


def _bytes(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    elif path.parent.is_dir():
        path.write_bytes(content)
