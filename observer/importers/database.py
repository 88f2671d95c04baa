"""Databases of other programs: SQLite files that are read and never written.

Only plain tables are read: a view or a virtual table could run anything.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from observer.core.disk import UnexpectedFile, open_plain
from observer.importers.source import Problems

CELL_BYTES = 32 << 20
"""A row with a longer value is counted and not read."""
BUSY = 5
"""Copies that are tried of a database that is being written."""

_JOURNALS = ("", "-wal", "-journal")
_IDS = 'SELECT rowid FROM "{}" WHERE {} ORDER BY rowid'
_ROW = 'SELECT * FROM "{}" WHERE rowid = ?'
_SIZE = ("page_count", "page_size")
_IS_PLAIN = (
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    " AND sql NOT LIKE 'CREATE VIRTUAL%'"
)


class Database:
    """A database that is open for reading."""

    def __init__(self, connection: sqlite3.Connection, path: Path, problems: Problems) -> None:
        self._connection = connection
        self._path = path
        self._problems = problems

    def rows(self, table: str, **equal: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table, if it is there, with these values, as they were inserted."""
        found = " AND ".join(f'"{name}" = ?' for name in equal) or "true"
        yield from self._rows(table, found, (*equal.values(),))

    def beginning(self, table: str, column: str, prefix: str) -> Iterator[dict[str, Any]]:
        """Yield the rows in which a column of text begins so, as `rows` does."""
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        yield from self._rows(table, f'"{column}" >= ? AND "{column}" < ?', (prefix, after))

    def _rows(self, table: str, found: str, values: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        try:
            if not self._connection.execute(_IS_PLAIN, (table,)).fetchone():
                return
            ids = self._connection.execute(_IDS.format(table, found), values).fetchall()
        except sqlite3.Error as error:
            self._problems.add(f"damaged table {table} ({error})", self._path)
            return
        one = _ROW.format(table)
        for (number,) in ids:
            try:
                cursor = self._connection.execute(one, (number,))
                row = cursor.fetchone()
            except sqlite3.Error as error:
                self._problems.add(f"unreadable row of {table} ({error})", self._path, number)
                continue
            if row:
                names = (column[0] for column in cursor.description)
                yield dict(zip(names, row, strict=True))


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a database consists of, its own first."""
    return tuple(file for ending in _JOURNALS if (file := Path(f"{path}{ending}")).is_file())


@contextmanager
def opened(path: Path, problems: Problems) -> Iterator[Database | None]:
    """Open a database, one in use by a copy with its log; None, and a count, if that fails."""
    with ExitStack() as stack:
        found = None
        try:
            found = Database(_connection(path.resolve(), stack), path, problems)
        except (OSError, UnexpectedFile, sqlite3.Error) as error:
            problems.add(f"unreadable database ({error})", path)
        yield found


def _connection(path: Path, stack: ExitStack) -> sqlite3.Connection:
    handle, _ = open_plain(path)
    os.close(handle)
    if any(file.stat().st_size for file in files_of(path)[1:]):
        return _copy(path, _state(path))
    connection = stack.enter_context(closing(_open(path, "mode=ro&immutable=1")))
    pages, size = (connection.execute(f"PRAGMA {one}").fetchone()[0] for one in _SIZE)
    if pages * size > path.stat().st_size:
        # SQLite takes what is missing for zeros, and would return rows of nothing.
        raise sqlite3.DatabaseError("the file is cut off")
    return connection


class _Connection(sqlite3.Connection):
    """A connection that closes once nobody keeps it."""

    def __del__(self) -> None:
        self.close()


@lru_cache(maxsize=1)
def _copy(path: Path, _state: object) -> sqlite3.Connection:
    """Return a nameless copy of a database in use, kept for the next session in that state."""
    with TemporaryDirectory(prefix="observer-import-") as folder:
        copy = _copied(path, Path(folder))
        with closing(_open(copy, "mode=rw", "PRAGMA wal_checkpoint(TRUNCATE)")):
            return _open(copy, "mode=ro&immutable=1")


def _open(path: Path, mode: str, before: str = "SELECT 1") -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?{mode}"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, factory=_Connection)
    try:
        connection.execute(before).fetchall()
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_BYTES)
        # Not PRAGMA trusted_schema: without trust, older SQLite opens no database with an index
        # over JSON. What a computed column of a plain table calls are functions of SQLite's own.
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_schema")  # raises if it is no database
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _copied(path: Path, folder: Path) -> Path:
    """Return a copy of a database with its journals as of one time; OSError if that never holds."""
    for _ in range(BUSY):
        before = _state(path)
        for stale in files_of(folder / path.name):
            stale.unlink()
        for file in files_of(path):
            shutil.copyfile(file, folder / file.name)
        if _state(path) == before:
            return folder / path.name
    raise OSError("another program was writing all the time")


def _state(path: Path) -> tuple[tuple[int, int], ...]:
    return tuple((file.stat().st_size, file.stat().st_mtime_ns) for file in files_of(path))
