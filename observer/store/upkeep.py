"""What the one process that owns a database does for it beside reading and writing."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from observer.store.interface import Store


class OwnedStore(Store, Protocol):
    """A database as its owner sees it."""

    @property
    def lost_events(self) -> int:
        """How many events that were committed once were missing when it was opened."""

    @property
    def rescues(self) -> int:
        """How often what a deleted write-ahead log held was saved."""

    def checkpoint(self) -> None:
        """Move what the write-ahead log holds into the database file, as far as nobody reads it."""

    def backup(self, copy: Path) -> None:
        """Write a verified copy of all that is committed, beside whoever reads or writes.

        Raises:
            StoreUnavailable: it cannot be written, or what was written is damaged.
        """
