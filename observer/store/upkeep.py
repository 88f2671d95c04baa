"""What the one process that owns a database does for it beside reading and writing."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from observer.store.purging import PurgedStore


class OwnedStore(PurgedStore, Protocol):
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

    def adopt(self, anew: Path, *, gone: Collection[int]) -> int:
        """Take events out, and what another database derived without them in; return how many.

        What is equal stays as it is, with its vectors. No byte of the file holds what went; its
        write-ahead log does until `empty_log`.
        """

    def backup(self, copy: Path) -> None:
        """Write a verified copy of all that is committed, beside whoever reads or writes.

        Raises:
            StoreUnavailable: it cannot be written, or what was written is damaged.
        """
