"""A store that opens when it is first needed, and keeps trying while it cannot.

So a daemon with a full disk, a read-only home or a database of a newer version is up, says what is
wrong, and recovers by itself once that is put right.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from observer.store.interface import Reader, Writer
from observer.store.upkeep import OwnedStore


class LateStore:
    """Implements `store.upkeep.OwnedStore` over one that may not be there yet.

    Args:
        open_store: returns the real store, or raises `StoreUnavailable`.
    """

    def __init__(self, open_store: Callable[[], OwnedStore]) -> None:
        self._open_store = open_store
        self._opening = threading.Lock()
        self._store: OwnedStore | None = None

    def read(self) -> AbstractContextManager[Reader]:
        """See `Store.read`."""
        return self._opened().read()

    def write(self) -> AbstractContextManager[Writer]:
        """See `Store.write`."""
        return self._opened().write()

    @property
    def lost_events(self) -> int:
        """See `OwnedStore.lost_events`; 0 while it is not open."""
        return self._store.lost_events if self._store else 0

    @property
    def rescues(self) -> int:
        """See `OwnedStore.rescues`; 0 while it is not open."""
        return self._store.rescues if self._store else 0

    def checkpoint(self) -> None:
        """See `OwnedStore.checkpoint`."""
        self._opened().checkpoint()

    def backup(self, copy: Path) -> None:
        """See `OwnedStore.backup`."""
        self._opened().backup(copy)

    def check(self) -> str:
        """See `Store.check`."""
        return self._opened().check()

    def close(self) -> None:
        """See `Store.close`."""
        with self._opening:
            if self._store is not None:
                self._store.close()

    def _opened(self) -> OwnedStore:
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store
