"""The SQLite engine: connections, transactions, migrations; step 7 of the way of an event.

When a commit returns, it is on disk, but the newest events only in the write-ahead log: a file that
people delete, or forget when they copy or restore. Under a running daemon only its name goes, and
what it holds is saved; what is lost while none runs shows at the next start by the newest committed
`seq`, which a file beside the database has.
"""

from __future__ import annotations

import os
import struct
import threading
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import NamedTuple

import apsw

from observer.core.disk import settle
from observer.core.errors import SchemaDiffers, StoreDamaged, StoreUnavailable
from observer.core.model import title_key
from observer.core.paths import FileIdentity, file_stamp, identity, make_private
from observer.store.connection import (
    APPLICATION_ID,
    DAMAGED,
    LET_GO,
    NumberedConnection,
    address_to_read,
    check_copy,
    explained,
    newest_seq,
    schema_of,
    schema_version,
    seal,
)
from observer.store.migrations import PACKED, UNFILLED, Migration, differs, migrations, needed
from observer.store.pages import PAGES_CHECKED, VFS
from observer.store.reader import StoreReader
from observer.store.rows import checksum, packed_event
from observer.store.writer import Writer

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
    """The log of one database, as its one writer sees it."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(f"{database.name}-wal")
        self._mark_path = database.with_name(f"{database.name}-newest")
        self._opened: FileIdentity = None
        self._mark: int | None = None

    def is_replaced(self) -> bool:
        """Return True if the log that was seen first is gone, or is another file."""
        found = identity(self._path)
        if self._opened is None:
            self._opened = found
        return found != self._opened

    def forget(self) -> None:
        """Take the log that the next `is_replaced` sees for the one that was opened."""
        self._opened = None

    def keep_small(self, writer: NumberedConnection, *, wait_ms: int) -> None:
        """Have a large log begin anew, if those who read are done in a moment; else later.

        `wait_ms` is what the writer goes on waiting for others with.
        """
        stamp = file_stamp(os.fspath(self._path))
        if stamp is None or stamp[-1] <= MOST_BYTES:
            return
        writer.set_busy_timeout(READERS_MS)
        try:
            # All of it is committed: a checkpoint that fails is made good for by a later one.
            with suppress(apsw.IOError, apsw.FullError):
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            writer.set_busy_timeout(wait_ms)

    def lost(self, newest_seq: int, marked: Mark | None) -> int:
        """Return how many events before a mark are missing; none where a copy was put in place."""
        return 0 if marked is None or self.is_copy() else max(0, marked.newest_seq - newest_seq)

    def is_copy(self) -> bool:
        """Return True if the file is a backup that nobody has written to yet.

        `VACUUM INTO` leaves the format versions (bytes 18 and 19) of one without a log.
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


BUSY_MS = 10_000
READERS = 4
READER_CACHE_KIB, WRITER_CACHE_KIB = 4_000, 8_000
"""Pages that a connection keeps until `rest`. Each that is read anew is checked anew: with half as
many a `get_context` among 100,000 items reads 204 pages, with these 134, with twice as many 59."""

_MASKED = threading.Lock()
_MARK_BEHIND = "INSERT OR IGNORE INTO meta SELECT 'behind', ? WHERE EXISTS (SELECT 1 FROM event)"
"""Items derived before such a migration lack what it makes room for."""


class SqliteStore:
    """One database file; implements `OwnedStore`.

    It is created with its folder unless `read_only`. `backups` is where a copy goes before a
    migration, beside the file by default; `steps` are the migrations. `lost_events` were committed
    once and are missing; `rescues` counts how often the write-ahead log was deleted under it, and
    what it held saved.

    Raises:
        StoreUnavailable: no such database, not a database, newer than this observer, unwritable.
        SchemaDiffers: its log has to be stored anew first; see `observer.upkeep.restore`.
    """

    def __init__(
        self,
        path: Path,
        backups: Path | None = None,
        *,
        read_only: bool = False,
        steps: Sequence[Migration] = (),
    ) -> None:
        self._path = path
        self._read_only = read_only
        self._steps = steps or migrations()
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
        if version and any(step.number >= PACKED for step in todo):
            _rewrite(writer)
        self._events = int(writer.execute("SELECT count(*) FROM event").fetchall()[0][0])  # type: ignore[arg-type]  # a count
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
                    address_to_read(self._path)
                    if self._read_only
                    else self._path.absolute().as_uri(),
                    flags=flags | apsw.SQLITE_OPEN_URI,
                    vfs=VFS,
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
    def read(self) -> Iterator[StoreReader]:
        """See `Store.read`."""
        with self._lent, explained(self._path):
            generation = self._generation
            try:
                connection = self._readers.get_nowait()
            except Empty:
                connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield StoreReader(connection)
            finally:
                connection.execute("ROLLBACK")
                if generation == self._generation:
                    self._readers.put(connection)
                else:
                    connection.close()

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """See `Store.write`."""
        with self._alone() as writer:
            writer.execute("BEGIN IMMEDIATE")
            try:
                changing = Writer(writer)
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
        """See `OwnedStore.compact`."""
        with self._alone() as writer:
            self._close_readers()
            _rewrite(writer)
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
        with self._alone() as alone:
            alone.execute("ATTACH ? AS anew", (os.fspath(anew),))
        try:
            with self.write() as writer:
                removed = writer.take_out(gone, projects) if gone else 0
                writer.put_items(writer.derived_anew(projects))
                writer.take_over(projects)
            return removed
        finally:
            with self._alone() as alone:
                alone.execute("DETACH anew")

    def backup(self, copy: Path) -> None:
        """See `OwnedStore.backup`."""
        partial = copy.with_name(f"{copy.name}.partial")
        with self._lent, explained(partial):
            make_private(copy.parent)
            partial.unlink(missing_ok=True)  # of a process that was killed over it
            with closing(self._connect()) as source:
                try:
                    source.execute("VACUUM INTO ?", (os.fspath(partial),))
                except apsw.CorruptError as error:
                    raise StoreDamaged(f"{self._path}: {error}", hint=DAMAGED) from error
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
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                self._generation += 1
                self._close_readers()
                self._writer.close()
                self._wal.forget()
                self.rescues += 1
                opened = self._connect(cache_kib=WRITER_CACHE_KIB)
                _prepare_writer(opened)
                self._writer = opened
            yield self._writer

    def rest(self) -> None:
        """See `OwnedStore.rest`."""
        with self._alone() as writer:
            writer.execute("PRAGMA shrink_memory")
        self._close_readers()

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
    writer.create_scalar_function(
        "title_key", lambda *title: title_key(str(title[0])), 1, deterministic=True
    )
    writer.create_scalar_function("checksum", checksum, deterministic=True)
    writer.create_scalar_function("packed_event", packed_event, deterministic=True)


def _rewrite(writer: NumberedConnection) -> None:
    """Write the file anew, without what is unused or was deleted."""
    # It may be as large as the database; its own files have no name, and are gone with it.
    writer.execute("PRAGMA temp_store = FILE").fetchall()
    writer.execute("VACUUM")
    writer.execute("PRAGMA temp_store = MEMORY").fetchall()
