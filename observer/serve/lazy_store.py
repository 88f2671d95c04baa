"""A store that opens when it is first needed, and is tried again while it cannot."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Concatenate, ParamSpec, TypeVar

from observer.core.clock import now_ms
from observer.core.errors import StoreDamaged, StoreUnavailable, remedy
from observer.core.paths import Home
from observer.store.database import SqliteStore
from observer.store.interface import OwnedStore
from observer.store.reader import StoreReader
from observer.store.writer import Writer
from observer.upkeep.carry_out import complete
from observer.upkeep.home_guard import HomeGuard
from observer.upkeep.restore import Progress, open_owned, repair_if_damaged, unshown

P = ParamSpec("P")
T = TypeVar("T")


def _used(
    method: Callable[Concatenate[OwnedStore, P], T],
) -> Callable[Concatenate[LazyStore, P], T]:
    """Return the same method of a store that is opened for it, and whose damage is noted."""

    def run(self: LazyStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._recording_damage():
            result: T = getattr(self._opened(), method.__name__)(*args, **kwargs)
            return result

    return run


class LazyStore:
    """Implements `OwnedStore` over a store that `open_store` opens, or raises `StoreUnavailable`.

    `damage` is what any use of it found, "" for none; `doing` says how far a long opening has come.
    """

    def __init__(self, open_store: Callable[[], OwnedStore]) -> None:
        self._open_store = open_store
        self._opening = threading.Lock()
        self._store: OwnedStore | None = None
        self.damage = ""
        self.doing = ""

    @contextmanager
    def read(self) -> Iterator[StoreReader]:
        """See `Store.read`."""
        with self._recording_damage(), self._opened().read() as reader:
            yield reader

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """See `Store.write`."""
        with self._recording_damage(), self._opened().write() as writer:
            yield writer

    @property
    def rescues(self) -> int:
        """See `OwnedStore.rescues`; 0 while it is not open."""
        return self._store.rescues if self._store else 0

    checkpoint = _used(OwnedStore.checkpoint)
    rest = _used(OwnedStore.rest)
    compact = _used(OwnedStore.compact)
    empty_log = _used(OwnedStore.empty_log)
    adopt = _used(OwnedStore.adopt)
    backup = _used(OwnedStore.backup)

    def check(self) -> str:
        """See `Store.check`."""
        return self._opened().check()

    def close(self) -> None:
        """See `Store.close`."""
        with self._opening:
            if self._store is not None:
                self._store.close()

    @contextmanager
    def _recording_damage(self) -> Iterator[None]:
        try:
            yield
        except StoreDamaged as error:
            self.damage = error.message
            raise

    @contextmanager
    def progress(self, name: str, total: int) -> Iterator[Callable[[int], None]]:
        """Say in `doing` how far opening has come; see `remake.Progress`."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            self.doing = f"{name}: {done:,} of {total:,} events"

        advance(0)
        try:
            yield advance
        finally:
            self.doing = ""

    def _opened(self) -> OwnedStore:
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store


class RequestStore(LazyStore):
    """The same store for requests, which are not kept waiting while it takes long to open."""

    def __init__(self, store: LazyStore) -> None:
        super().__init__(lambda: store)
        self._lazy = store

    def _opened(self) -> LazyStore:
        if doing := self._lazy.doing:
            raise StoreUnavailable(doing, hint="wait; what is spooled is stored then")
        return self._lazy


log = logging.getLogger(__name__)


def open_store(home: Home, guard: HomeGuard, progress: Progress = unshown) -> SqliteStore:
    """Open the database, repaired, with no purge left unfinished; raise StoreUnavailable."""
    try:
        repair_if_damaged(home, now_ms=now_ms, progress=progress)
    except OSError as error:
        raise StoreUnavailable(
            f"{error.filename or home.database}: {error.strerror}",
            hint=remedy(error, "make it yours and writable"),
        ) from error
    # After the repair: a backup may have brought back purged events.
    if finished := complete(home, open_owned):
        log.info("%d purged events were taken out of the database", finished.events)
    store = SqliteStore(home.database, backups=home.backups)
    guard.own(home.database)
    return store
