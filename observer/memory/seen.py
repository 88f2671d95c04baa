"""A store as it looks from a folder: what is read says how it stands in the work tree there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import msgspec

from observer.capture.policy import Policies
from observer.filters import Filters
from observer.recall.handles import Narrow, filters_of
from observer.store.interface import Reader, Store, Writer

_POLICIES = Policies()


class SeenFrom:
    """Implements `store.interface.Store` over another one."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store = store
        self._folder = folder

    @property
    def folder(self) -> str:
        """The folder from which it is looked."""
        return self._folder

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


def scoped(
    store: Store, reader: Reader, narrow: Narrow, *, project: str | None, owner: str
) -> Filters:
    """Return `filters_of` a search, without projects that are not shared if none is named.

    A project that is not shared is found when it is named, or asked from one of its folders.

    Raises:
        NotFound, Ambiguous: the project, or the session.
    """
    asked = filters_of(reader, narrow, project=project, owner=owner)
    if asked.project_id is not None or asked.session_id is not None:
        return asked
    here = store.folder if isinstance(store, SeenFrom) else ""
    apart = _POLICIES.unshared(reader.projects(), here)
    return msgspec.structs.replace(asked, without=tuple(sorted(apart)))
