"""The SQLite engine: connections, transactions, migrations; step 7 of the way of an event.

One writer, a small pool of readers, write-ahead log, `synchronous=FULL`: when a commit returns, it
is on disk.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Self

import apsw

from observer.core.errors import SchemaDiffers, StoreDamaged, StoreUnavailable
from observer.core.model import title_key
from observer.core.paths import make_private
from observer.spool.files import settle
from observer.store.migrations import UNFILLED, Migration, differs, migrations, needed
from observer.store.sqlite.connection import (
    APPLICATION_ID,
    DAMAGED,
    LET_GO,
    PAGES_CHECKED,
    NumberedConnection,
    check_copy,
    count_events,
    explained,
    newest_seq,
    schema_of,
    schema_version,
    seal,
)
from observer.store.sqlite.pages import VFS
from observer.store.sqlite.reader import SqliteReader
from observer.store.sqlite.restoring import attached
from observer.store.sqlite.rows import checksum
from observer.store.sqlite.wal import WriteAheadLog
from observer.store.sqlite.writer import SqliteWriter

BUSY_MS = 10_000
READERS = 4
READER_CACHE_KIB, WRITER_CACHE_KIB = 2_000, 8_000
"""Pages that a connection keeps. Readers ask for few, which the system keeps for all of them: with
8 MB each they are no faster, and a daemon with 10,000 items holds 20 MB more."""

_MASKED = threading.Lock()
_MARK_BEHIND = "INSERT OR IGNORE INTO meta SELECT 'behind', ? WHERE EXISTS (SELECT 1 FROM event)"
"""Items derived before such a migration lack what it makes room for."""


class SqliteStore:
    """One database file. Implements `store.maintenance.OwnedStore`.

    Args:
        path: the file; created with its folder unless `read_only`.
        backups: where a copy goes before a migration; beside the file by default.
        read_only: for processes that only look; needs an existing, migrated database.
        steps: the migrations; other ones are for tests of migrating.

    `lost_events` were committed once and are missing since it was opened; `rescues` counts how
    often the write-ahead log was deleted under it, and what it held saved.

    Raises:
        StoreUnavailable: no such database, not a database, newer than this observer, unwritable.
        SchemaDiffers: its log has to be stored anew first; see `observer.repair.remake`.
    """

    def __init__(
        self,
        path: Path,
        *,
        backups: Path | None = None,
        read_only: bool = False,
        steps: Sequence[Migration] = (),
    ) -> None:
        self._path = path
        self._read_only = read_only
        self._steps = steps or migrations("sqlite")
        self._readers: LifoQueue[NumberedConnection] = LifoQueue()
        self._lent = threading.BoundedSemaphore(READERS)
        self._writing = threading.Lock()
        self._wal = WriteAheadLog(path)
        self._generation = 0
        self._events = 0
        self.lost_events = 0
        self.rescues = 0
        with explained(path):
            self._writer = self._open_checked(backups or path.parent / "backups")

    @classmethod
    def owned(cls, path: Path, backups: Path) -> Self:
        """Open a database as its owner; backups are of before its migrations."""
        return cls(path, backups=backups)

    def _open_checked(self, backups: Path) -> NumberedConnection | None:
        if self._path.exists() and not self._path.is_file():
            raise StoreUnavailable(f"{self._path} is not a regular file", hint="move it away")
        if self._read_only:
            self._readers.put(self._open_to_read())
            return None
        make_private(self._path.parent)
        # A newer database must not even be switched to write-ahead logging: look first.
        writer = self._connect(cache_kib=WRITER_CACHE_KIB, mode=apsw.SQLITE_OPEN_CREATE)
        version = schema_version(writer)
        todo = needed(version, self._steps, where=str(self._path))
        # What follows the damage in the log may be saved from it, unless it is written over.
        writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        is_copy, marked = self._wal.is_copy(), self._wal.marked()
        self.lost_events = self._wal.lost(newest_seq(writer), marked)
        if differs(version, schema_of(writer), self._steps):
            writer.close()
            raise self._differing(version)
        if todo and seal(writer, self._path):
            writer = self._connect(cache_kib=WRITER_CACHE_KIB)
        _prepare_writer(writer)
        with self._backed_up(writer, backups) if todo and version else nullcontext():
            for step in todo:
                self._migrate(writer, step)
        self._events = count_events(writer)
        if is_copy:  # what was committed to the database that it replaces no longer counts
            self._wal.note(newest_seq(writer), self._events)
        writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(self.lost_events > 0))
        return writer

    def _open_to_read(self) -> NumberedConnection:
        if not self._path.exists():
            raise StoreUnavailable(
                f"there is no memory at {self._path} yet", hint="start it with: observer up"
            )
        marked = self._wal.marked()  # before anything newer is committed
        reader = self._connect()
        version = schema_version(reader)
        is_older = needed(version, self._steps, where=str(self._path))
        if is_older or differs(version, schema_of(reader), self._steps):
            raise SchemaDiffers(
                f"{self._path} was written by an older observer",
                # A daemon of before the upgrade may still run, and `up` alone would leave it.
                hint="run: observer down && observer up",
            )
        self.lost_events = self._wal.lost(newest_seq(reader), marked)
        return reader

    def _differing(self, version: int) -> StoreUnavailable:
        if self.lost_events and version >= PAGES_CHECKED:  # what is left is found page by page
            return StoreDamaged(f"{self._path}: {self.lost_events} events are missing in it")
        return SchemaDiffers(
            f"{self._path} has other tables than a database of schema version {version}",
            hint="have it made anew from its log: observer up",
        )

    def _connect(self, *, cache_kib: int = READER_CACHE_KIB, mode: int = 0) -> NumberedConnection:
        # None but the first makes a file: a database that was removed must not come back empty.
        flags = mode | (
            apsw.SQLITE_OPEN_READONLY if self._read_only else apsw.SQLITE_OPEN_READWRITE
        )
        # One mask for all threads: two that set it at once could leave it set.
        with _MASKED:
            previous = os.umask(0o077)
            try:
                connection = NumberedConnection(
                    self._address(), flags=flags | apsw.SQLITE_OPEN_URI, vfs=VFS
                )
            finally:
                os.umask(previous)
        connection.set_busy_timeout(BUSY_MS)
        # Else SQLite prepares a statement with an ORDER BY again whenever other values are bound:
        # ten times the cost of running most of ours.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        cache = f"cache_size = -{cache_kib}"
        for pragma in ("synchronous = FULL", "fullfsync = ON", cache, "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection

    def _address(self) -> str:
        """Return the file's URI; where nothing can be written it must say that nobody writes."""
        is_still = (
            self._read_only
            and not os.access(self._path.parent, os.W_OK)
            and not self._path.with_name(self._path.name + "-wal").exists()
        )
        return self._path.absolute().as_uri() + ("?immutable=1" if is_still else "")

    @contextmanager
    def _backed_up(self, writer: NumberedConnection, backups: Path) -> Iterator[None]:
        """Keep a copy of what the block changes; none if it fails before it changed anything."""
        version = schema_version(writer)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        partial = make_private(backups) / f"{self._path.stem}.partial"
        copy = partial.with_name(f"{self._path.stem}-v{version}-{stamp}.db")
        partial.unlink(missing_ok=True)  # of a process that was killed over it
        writer.execute("VACUUM INTO ?", (os.fspath(partial),))
        partial.replace(copy)
        settle(copy.parent)  # before what it is a copy of is changed
        try:
            yield
        except BaseException:
            # A daemon tries again and again: each copy kept would fill the disk.
            if schema_version(writer) == version:
                copy.unlink()
            raise

    def _migrate(self, writer: NumberedConnection, step: Migration) -> None:
        try:
            with writer:
                writer.execute(step.sql)
                if step.number in UNFILLED:
                    writer.execute(_MARK_BEHIND, (step.name,))
                writer.execute(f"PRAGMA application_id = {APPLICATION_ID}").fetchall()
                writer.execute(f"PRAGMA user_version = {step.number}").fetchall()
        except apsw.SQLError as error:
            raise StoreUnavailable(
                f"{self._path} cannot be brought to schema version {step.number}: {error}",
                hint="go on with the observer that wrote it, or move it away to begin anew",
            ) from error

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        """See `Store.read`."""
        with self._lent, explained(self._path):
            generation = self._generation
            try:
                connection = self._readers.get_nowait()
            except Empty:
                connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield SqliteReader(connection)
            finally:
                connection.execute("ROLLBACK")
                if generation == self._generation:
                    self._readers.put(connection)
                else:
                    connection.close()

    @contextmanager
    def write(self) -> Iterator[SqliteWriter]:
        """See `Store.write`."""
        with self._alone() as writer:
            writer.execute("BEGIN IMMEDIATE")
            try:
                changing = SqliteWriter(writer)
                yield changing
                newest = newest_seq(writer)
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
            self._events += changing.grown
            self._wal.note(newest, self._events)
            self._wal.keep_small(writer, wait_ms=BUSY_MS)

    def checkpoint(self) -> None:
        """See `OwnedStore.checkpoint`."""
        with self._alone() as writer:
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def compact(self) -> None:
        """See `PurgeableStore.compact`."""
        with self._alone() as writer:
            self._close_readers()
            # It may be as large as the database; its own files have no name, and are gone with it.
            writer.execute("PRAGMA temp_store = FILE").fetchall()
            writer.execute("VACUUM")
            writer.execute("PRAGMA temp_store = MEMORY").fetchall()
            busy = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        if busy:
            raise StoreUnavailable(f"{self._path} is being read by another process", hint=LET_GO)

    def empty_log(self) -> bool:
        """See `OwnedStore.empty_log`."""
        with self._alone() as writer:
            writer.set_busy_timeout(0)
            busy = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
            writer.set_busy_timeout(BUSY_MS)
        return not busy

    def adopt(self, anew: Path, projects: Collection[int], *, gone: Collection[int]) -> int:
        """See `OwnedStore.adopt`."""
        with attached(self._alone, anew), self.write() as writer:
            removed = writer.take_out(gone, projects) if gone else 0
            writer.put_items(writer.derived_anew(projects))
            writer.take_over(projects)
        return removed

    def backup(self, copy: Path) -> None:
        """See `OwnedStore.backup`."""
        partial = copy.with_name(f"{copy.name}.partial")
        with self._lent, explained(partial):
            make_private(copy.parent)
            partial.unlink(missing_ok=True)  # of a process that was killed over it
            source = self._connect()
            try:
                source.execute("VACUUM INTO ?", (os.fspath(partial),))
            except apsw.CorruptError as error:
                raise StoreDamaged(f"{self._path}: {error}", hint=DAMAGED) from error
            finally:
                source.close()
            if (found := check_copy(partial)) != "ok":
                partial.unlink()
                raise StoreUnavailable(
                    f"{partial} is damaged: {found}", hint="see: observer doctor"
                )
            partial.chmod(0o600)
            partial.replace(copy)
            settle(copy.parent)

    @contextmanager
    def _alone(self) -> Iterator[NumberedConnection]:
        """Lend the writer to one thread; a log that was taken from under it is saved first."""
        if self._writer is None:
            raise StoreUnavailable("opened for reading only", hint="go through the daemon")
        with self._writing, explained(self._path):
            if self._wal.is_replaced():
                self._writer = self._rescued(self._writer)
            yield self._writer

    def _rescued(self, writer: NumberedConnection) -> NumberedConnection:
        """Move what a deleted log held into the database, and open it anew."""
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._generation += 1
        self._close_readers()
        writer.close()
        self._wal.forget()
        self.rescues += 1
        opened = self._connect(cache_kib=WRITER_CACHE_KIB)
        _prepare_writer(opened)
        return opened

    def check(self) -> str:
        """See `Store.check`."""
        try:
            with self.read() as reader:
                return reader.integrity()
        except StoreDamaged as error:
            return error.message

    def close(self) -> None:
        """See `Store.close`."""
        # The last one to close moves the log into the file; a damaged one stays, to be saved from.
        with suppress(apsw.CorruptError):
            self._close_readers()
            if self._writer is not None:
                self._writer.close()
        self._wal.close()

    def _close_readers(self) -> None:
        while not self._readers.empty():
            self._readers.get_nowait().close()


def _prepare_writer(writer: NumberedConnection) -> None:
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    # What is deleted, by retention for one, must be in no free page either.
    writer.execute("PRAGMA secure_delete = ON").fetchall()
    writer.create_scalar_function("title_key", _title_key, 1, deterministic=True)
    writer.create_scalar_function("checksum", checksum, deterministic=True)


def _title_key(*values: object) -> str:
    return title_key(str(values[0]))
