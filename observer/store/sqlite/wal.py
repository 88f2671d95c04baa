"""Guarding the write-ahead log: detects its loss, and how many events were lost with it.

Between checkpoints the newest events are only in the log, a separate file that people delete, or
forget when they copy or restore. Deleting it under a running daemon removes only its name; the data
remains until the daemon closes it. Losses while no daemon runs show at the next start: the newest
committed `seq` is written to a file beside the database.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from observer.store.sqlite.connection import NumberedConnection

MOST_BYTES, READERS_MS = 64 << 20, 250
"""SQLite begins its log anew only in a moment in which nobody reads from it. With readers all the
time there is none: under 20 of them the log grew to 424 MB, and every read looks through it."""
_MARK = struct.Struct("<QQ")
_CHECKED = struct.Struct("<QQI")


class Mark(NamedTuple):
    """The newest event that was ever committed, and how many there were with it."""

    newest_seq: int
    events: int


class WriteAheadLog:
    """The log of one database, as its one writer sees it.

    Args:
        database: the file whose log it is.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(f"{database.name}-wal")
        self._mark_path = database.with_name(f"{database.name}-newest")
        self._opened: tuple[int, int] | None = None
        self._mark: int | None = None

    def is_replaced(self) -> bool:
        """Return True if the log that was seen first is gone, or is another file."""
        found = self._identity()
        if self._opened is None:
            self._opened = found
        return found != self._opened

    def keep_small(self, writer: NumberedConnection, *, wait_ms: int) -> None:
        """Have a large log begin anew, if those who read are done in a moment; else later.

        `wait_ms` is what the writer goes on waiting for others with.
        """
        if self.size_bytes() <= MOST_BYTES:
            return
        writer.set_busy_timeout(READERS_MS)
        try:
            # All of it is committed: a checkpoint that fails is made good for by a later one.
            with suppress(apsw.IOError, apsw.FullError):
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            writer.set_busy_timeout(wait_ms)

    def size_bytes(self) -> int:
        """Return how large the log is; 0 where there is none."""
        with suppress(OSError):
            return self._path.stat().st_size
        return 0

    def forget(self) -> None:
        """Take the log that the next `is_replaced` sees for the one that was opened."""
        self._opened = None

    def lost(self, newest_seq: int, marked: Mark | None) -> int:
        """Return how many events were committed until a mark after the newest one that is there.

        None is lost where a copy was put in the place of the database: that was wanted.
        """
        if marked is None or self.is_copy():
            return 0
        return max(0, marked.newest_seq - newest_seq)

    def is_copy(self) -> bool:
        """Return True if the file is a backup that nobody has written to yet.

        `VACUUM INTO` leaves the format versions (bytes 18 and 19) of a database without a
        write-ahead log; whoever opens one for writing changes them first.
        """
        with suppress(OSError), self._database.open("rb") as file:
            return file.read(20)[18:] == b"\x01\x01"
        return False

    def marked(self) -> Mark | None:
        """Return what was written down last; None if nothing was that can be read."""
        try:
            *marked, checksum = _CHECKED.unpack(self._mark_path.read_bytes()[: _CHECKED.size])
        except (OSError, struct.error):
            return None
        # A flipped bit must not report events lost that never were.
        return Mark(*marked) if zlib.crc32(_MARK.pack(*marked)) == checksum else None

    def note(self, newest_seq: int, events: int) -> None:
        """Write down what was committed; errors say nothing of the commit."""
        with suppress(OSError):
            if self._mark is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                self._mark = os.open(self._mark_path, flags, 0o600)
            held = _MARK.pack(newest_seq, events)
            os.pwrite(self._mark, held + zlib.crc32(held).to_bytes(4, "little"), 0)

    def close(self) -> None:
        """Close what is open."""
        if self._mark is not None:
            os.close(self._mark)
            self._mark = None

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
