"""A store that opens when it is first needed, and keeps trying while it cannot.

So a daemon with a full disk, a read-only home or a database of a newer version is up, says what is
wrong, and recovers by itself once that is put right.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from observer.store.interface import Reader, Store, Writer


class LateStore:
    """Implements `store.interface.Store` over one that may not be there yet.

    Args:
        open_store: returns the real store, or raises `StoreUnavailable`.
    """

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._opening = threading.Lock()
        self._store: Store | None = None

    def read(self) -> AbstractContextManager[Reader]:
        """See `Store.read`."""
        return self._opened().read()

    def write(self) -> AbstractContextManager[Writer]:
        """See `Store.write`."""
        return self._opened().write()

    def check(self) -> str:
        """See `Store.check`."""
        return self._opened().check()

    def close(self) -> None:
        """See `Store.close`."""
        with self._opening:
            if self._store is not None:
                self._store.close()

    def _opened(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store
