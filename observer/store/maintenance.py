"""The contract of a store, continued: deleting events for good, and owning a database.

Whoever deletes events derives everything anew in the same transaction, and has the file rewritten
after it, since the engine leaves deleted bytes where they were. `OwnedStore` is what the one
process that owns a database does for it beside reading and writing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from observer.store.interface import Store, StoreReader, Writer

ALL_MS = 1 << 62
"""A time after all events."""

Stored = int | float | str | bytes | None
"""A value as an engine has it."""
Values = tuple[Stored, ...]


class SalvagedRow(NamedTuple):
    """A whole row: its table, its key, and its values in the order of the columns."""

    table: str
    key: int
    values: Values


class StoredEvent(NamedTuple):
    """One row of the log, read without being understood: its data may be damaged.

    `held` is all that stands in it, `data` the event as JSON.
    """

    seq: int
    id: str
    dedup: str
    kind: str
    client: str
    project_id: int
    session_id: int | None
    at_ms: int
    data: bytes
    held: bytes


class StoredText(NamedTuple):
    """What of one row of the log is text that somebody wrote; `data` is the event as JSON.

    `is_whole` says that the row fits its checksum.
    """

    seq: int
    dedup: str
    client: str
    root: str
    branch: str
    commit: str
    data: bytes
    is_whole: bool


class AgedEvent(NamedTuple):
    """One row of the log, as far as its age and place; `of` is what an intent is of.

    `tool` is that of an intent or an outcome; `bytes` what the event takes as JSON.
    """

    seq: int
    kind: str
    of: str
    tool: str
    project_id: int
    session_id: int | None
    at_ms: int
    bytes: int


class DerivedItem(NamedTuple):
    """What was derived from an event, deleted items included."""

    id: int
    kind: str
    type: str
    title: str
    session_id: int | None


class PurgeReader(StoreReader, Protocol):
    """Reads what a purge has to know."""

    def stored_events(self) -> Iterator[StoredEvent]:
        """Yield every row of the log, by `seq`."""

    def stored_texts(self, *, after_seq: int, limit: int) -> list[StoredText]:
        """Return the texts of the next rows of the log, by `seq`."""

    def noted_texts(self) -> Iterator[tuple[int, bytes]]:
        """Yield texts that were read from files of note folders, with the ids of their notes."""

    def aged_events(self, *, before_ms: int) -> Iterator[AgedEvent]:
        """Yield the rows of the log that happened before a time, by `seq`."""

    def remaining_rows(
        self, projects: Collection[int], *, but: Collection[int], after_seq: int = 0
    ) -> Iterator[SalvagedRow]:
        """Yield all projects, and the whole events of some after one, but for some.

        What was done to notes and items is of all projects.
        """

    def last_reports(self, project_id: int | None = None) -> Mapping[str, int]:
        """Return when each client last reported something, by its name; in one project, or any.

        Of reports that belong to no session only the newest 20,000 events are looked at.
        """

    def space(self) -> Mapping[str, int]:
        """Return the bytes of the database file by what takes them; reads all of it."""

    def items_from(self, seqs: Collection[int]) -> list[DerivedItem]:
        """Return the items whose first event is one of these, by id."""

    def sessions_named(self, name: str) -> list[int]:
        """Return the ids of sessions with this id: ours, or the client's own."""

    def meta(self, name: str) -> str:
        """Return what was noted of this database under a name; empty if nothing was."""


class PurgeWriter(PurgeReader, Writer, Protocol):
    """Changes the log itself."""

    def delete_events(self, seqs: Collection[int]) -> int:
        """Take events out of the log, with what became of their items; return how many."""

    def delete_items(self, items: Collection[int]) -> None:
        """Take out items from which nothing else follows, with their words, meanings and history.

        What was decided on signals goes too; the index that follows the database is made anew.
        """

    def drop_note_files(self, items: Collection[int]) -> None:
        """Forget files of note folders by their notes: they come back as new ones, if at all.

        What was read from them stays until the items are derived anew.
        """

    def clear_projects(self, projects: Collection[int]) -> None:
        """Delete what was derived from the events of some projects, and what belongs to none.

        Those events are still there, and have all events of their sessions among them. Notes of
        files stay, but for files that were dropped.
        """

    def put_texts(self, text: StoredText) -> None:
        """Replace the texts of a row; its checksum fits again, unless it did not before."""

    def restore_rows(self, rows: Iterable[SalvagedRow], *, newer: bool) -> int:
        """Add rows that are not there; return how many events that were.

        Projects that are there are replaced if the rows are `newer`.
        """

    def drop_unused_projects(self) -> int:
        """Delete projects of which the log holds no event any more; return how many."""

    def put_meta(self, name: str, value: str) -> None:
        """Note something of this database; a rebuild keeps it."""


class PurgeableStore(Store, Protocol):
    """A database out of which events can be taken."""

    def read(self) -> AbstractContextManager[PurgeReader]:
        """See `Store.read`."""

    def write(self) -> AbstractContextManager[PurgeWriter]:
        """See `Store.write`."""

    def compact(self) -> None:
        """Write the file anew, so that no page of it or of its log holds what was deleted.

        Raises:
            StoreUnavailable: another process reads it, or the disk is full.
        """


class OwnedStore(PurgeableStore, Protocol):
    """A database as its owner sees it."""

    @property
    def lost_events(self) -> int:
        """How many events that were committed once were missing when it was opened."""

    @property
    def rescues(self) -> int:
        """How often what a deleted write-ahead log held was saved."""

    def checkpoint(self) -> None:
        """Move what the write-ahead log holds into the database file, as far as nobody reads it."""

    def empty_log(self) -> bool:
        """Move the write-ahead log into the file and cut it off; False while somebody reads it."""

    def adopt(self, anew: Path, projects: Collection[int], *, gone: Collection[int]) -> int:
        """Take events out, and what another database derived of projects in; return how many.

        What is equal stays as it is, with its vectors. No byte of the file holds what went; its
        write-ahead log does until `empty_log`.
        """

    def backup(self, copy: Path) -> None:
        """Write a verified copy of all that is committed, beside whoever reads or writes.

        Raises:
            StoreUnavailable: it cannot be written, or what was written is damaged.
        """
