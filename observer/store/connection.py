"""Connections to the database: what a file is, the engine's errors as ours, and its word stems."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from observer.core.disk import settle
from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.model import UNASSIGNED
from observer.store.migrations import fingerprint
from observer.store.pages import PAGES_CHECKED, RESERVED_BYTES, VFS
from observer.store.rows import Row, event_json

_numbers = count(1)


class NumberedConnection(apsw.Connection):
    """A connection with a number of its own: snapshots of two of them never compare equal."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - as apsw takes them
        super().__init__(*arguments, **named)
        self.number = next(_numbers)
        self.create_scalar_function("event_json", event_json, deterministic=True)


class Reads:
    """One connection inside a transaction, and the ways to select from it."""

    def __init__(self, connection: NumberedConnection) -> None:
        self._connection = connection
        self._folder = ""

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def _column(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        return [row[0] for row in self._rows(sql, values)]

    def _value(self, sql: str, values: Sequence[object] = (), default: object = None) -> Any:  # noqa: ANN401 - by its column
        """Return the first column of the first row; the default for no row or NULL."""
        found = self._column(sql, values)
        return default if not found or found[0] is None else found[0]


def is_passing(error: BaseException) -> bool:
    """Return True if the error may be transient: the disk or the system failed, not the data."""
    return isinstance(error.__cause__, apsw.FullError | apsw.CantOpenError | apsw.IOError | OSError)


def check_copy(copy: Path) -> str:
    """Return "ok", or what is wrong with a copy; the original may be sound all the same."""
    with closing(
        apsw.Connection(os.fspath(copy), flags=apsw.SQLITE_OPEN_READONLY, vfs=VFS)
    ) as written:
        try:
            return str(written.execute("PRAGMA integrity_check(1)").fetchall()[0][0])
        except (apsw.CorruptError, apsw.NotADBError) as error:
            return str(error)


APPLICATION_ID = 0x4F425356
"""`OBSV` in the file's header: marks a database as ours."""


def newest_seq(connection: apsw.Connection) -> int:
    """Return the `seq` of the newest event that was ever stored; 0 without any."""
    if not connection.table_exists("main", "event"):
        return 0
    rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchall()
    return int(rows[0][0]) if rows else 0  # type: ignore[arg-type]  # a number of ours


def schema_version(connection: NumberedConnection) -> int:
    """Return the schema version; 0 of an empty file.

    Raises StoreUnavailable: it is another program's database; StoreDamaged: its pages have lost
    their checksums, or it has lost its name.
    """
    ours = connection.execute("PRAGMA application_id").fetchall()[0][0]
    version = int(connection.execute("PRAGMA user_version").fetchall()[0][0])  # type: ignore[arg-type]  # a pragma's integer
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]
    if tables and ours != APPLICATION_ID:
        raise StoreUnavailable(
            f"{connection.filename} is another program's database",
            hint="move it away, or set OBSERVER_HOME to another folder",
        )
    if version >= PAGES_CHECKED and connection.reserve_bytes() != RESERVED_BYTES:
        raise StoreDamaged(
            f"{connection.filename}: its header was changed", hint="repair it with: observer up"
        )
    return version


def schema_of(connection: apsw.Connection) -> str:
    """Return the fingerprint of a database's tables and indexes, but for what the engine adds."""
    rows = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        " AND name NOT GLOB 'item_words_*' ORDER BY name"
    )
    return fingerprint(str(row[0]) for row in rows)


class Outline(NamedTuple):
    """What a database holds, without `unassigned`; `last_seq` is the highest that was ever used."""

    events: int
    items: int
    projects: int
    last_seq: int
    last_stored_ms: int | None


def outline(database: Path) -> Outline:
    """Return what a database of any schema holds. Raises StoreUnavailable: it cannot be read."""
    with explained(database), closing(reading(database)) as connection:
        ((events, last_ms),) = connection.execute(
            "SELECT count(*), max(stored_ms) FROM event"
        ).fetchall()
        ((items, projects),) = connection.execute(
            "SELECT (SELECT count(*) FROM item WHERE deleted_ms IS NULL),"
            " (SELECT count(*) FROM project WHERE id <> ?)",
            (UNASSIGNED,),
        ).fetchall()
        last_seq = newest_seq(connection)
    return Outline(events, items, projects, last_seq, last_ms)  # type: ignore[arg-type]  # counts and a time


def reading(database: Path) -> apsw.Connection:
    """Return a connection that only reads, whatever the schema."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(address_to_read(database), flags=flags, vfs=VFS)


def address_to_read(database: Path) -> str:
    """Return a database's URI; where nothing can be written it must say that nobody writes."""
    has_log = database.with_name(f"{database.name}-wal").exists()
    is_still = not has_log and not os.access(database.parent, os.W_OK)
    return f"{database.absolute().as_uri()}?{'immutable=1' if is_still else 'mode=ro'}"


def settled_copy(database: Path, copy: Path) -> None:
    """Move the write-ahead log into the file, for good, and copy that.

    Raises StoreUnavailable: another process reads it, or the copy cannot be written.
    """
    partial = copy.with_name(f"{copy.name}.partial")
    with explained(database):
        with closing(apsw.Connection(os.fspath(database), vfs=VFS)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        shutil.copyfile(database, partial)
        partial.chmod(0o600)
        partial.replace(copy)
        settle(copy.parent)


def seal(connection: NumberedConnection, path: Path) -> bool:
    """Write a database of an older observer anew, with room for the checksums of its pages.

    Returns True if there is another file now, and the connection is closed.
    """
    if connection.reserve_bytes() == RESERVED_BYTES:
        return False
    connection.reserve_bytes(reserve=RESERVED_BYTES)
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]:
        return False
    # All of it has to be in the one file that is replaced, and its log gone.
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    partial = path.with_name(f"{path.name}.sealing")
    partial.unlink(missing_ok=True)  # of a process that was killed over it
    connection.execute("VACUUM INTO ?", (os.fspath(partial),))
    connection.close()
    partial.chmod(0o600)
    partial.replace(path)
    return True


DAMAGED = "repair it with: observer up; what is whole is kept, the rest comes from backups"
"""What to do about a damaged database."""

LET_GO = "let it end; what was begun is finished by: observer up"

_HINTS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "free some disk space, then repeat; what is in the spool waits there"),
    (apsw.ReadOnlyError, "make the folder and the database writable"),
    (apsw.PermissionsError, "make the folder and the database writable"),
    (apsw.CantOpenError, "check that the folder exists and is yours"),
    (apsw.BusyError, "another process holds the database; end it"),
)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise an engine's error as ours. Raises StoreDamaged for a changed page, StoreUnavailable."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"{path}: {error or 'it is not a database'}", hint=DAMAGED) from error
    except apsw.Error as error:
        hint = next(
            (text for kind, text in _HINTS if isinstance(error, kind)), "see: observer doctor"
        )
        raise StoreUnavailable(f"{path}: {error or type(error).__name__}", hint=hint) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: {error.strerror}", hint="check that the folder exists and is yours"
        ) from error


TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As in the schema: what is searched and what is stored are cut alike."""


def stemmer() -> Callable[[str], tuple[str, ...]]:
    """Return a function from a word to the terms that stand for it: split, folded, stemmed."""
    lock = threading.Lock()
    connection = apsw.Connection(":memory:")
    tokenize = connection.fts5_tokenizer(*TOKENIZER)

    def stem(word: str) -> tuple[str, ...]:
        text = word.encode("utf-8", "replace")
        with lock:
            found = tokenize(
                text, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
            )
        return tuple(map(str, found))

    return stem
