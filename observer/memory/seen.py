"""A store as it looks from a folder: what is read says how it stands in the work tree there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from observer.store.interface import Reader, Store, Writer


class SeenFrom:
    """Implements `store.interface.Store` over another one."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store = store
        self._folder = folder

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Lend a reader that looks from the folder."""
        with self._store.read() as reader:
            reader.seen_from(self._folder)
            yield reader

    def write(self) -> AbstractContextManager[Writer]:
        """See `Store.write`."""
        return self._store.write()

    def check(self) -> str:
        """See `Store.check`."""
        return self._store.check()

    def close(self) -> None:
        """See `Store.close`."""
        self._store.close()
