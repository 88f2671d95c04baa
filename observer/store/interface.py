"""What a store can do, whether it is open or opens when it is first needed."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from observer.store.reader import StoreReader
from observer.store.writer import Writer


class Store(Protocol):
    """A database: one writer at a time, any number of readers. Safe to share between threads."""

    def read(self) -> AbstractContextManager[StoreReader]:
        """Lend a reader; its results belong to one consistent snapshot until it is given back."""

    def write(self) -> AbstractContextManager[Writer]:
        """Begin the one write transaction; commits durably on exit, rolls back on an exception."""

    def check(self) -> str:
        """Return ``"ok"`` or what the engine's own integrity check complains about."""

    def close(self) -> None:
        """Close every connection; waits for nobody."""


class OwnedStore(Store, Protocol):
    """A database as its owner sees it."""

    @property
    def rescues(self) -> int:
        """How often what a deleted write-ahead log held was saved."""

    def checkpoint(self) -> None:
        """Move what the write-ahead log holds into the database file, as far as nobody reads it."""

    def rest(self) -> None:
        """Take the pages that connections keep out of memory; who asks next opens one anew."""

    def compact(self) -> None:
        """Write the file anew, so that no page of it or of its log holds what was deleted.

        Raises StoreUnavailable: another process reads it, or the disk is full.
        """

    def empty_log(self) -> bool:
        """Move the write-ahead log into the file and cut it off; False while somebody reads it."""

    def adopt(self, anew: Path, projects: Collection[int], *, gone: Collection[int]) -> int:
        """Take events out, and what another database derived of projects in; return how many.

        What is equal stays as it is, with its vectors. No row holds what went; bytes of it are left
        until `Writer.drop_deleted_words` and `empty_log`.
        """

    def backup(self, copy: Path) -> None:
        """Write a verified copy of all that is committed, beside whoever reads or writes.

        Raises StoreUnavailable: it cannot be written, or what was written is damaged.
        """
