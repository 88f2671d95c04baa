"""The base of background tasks, the store that opens late, and the one thread that writes to it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import ObserverError, StoreDamaged, StoreUnavailable, remedy
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.notes.values import Record
from observer.serve.inotify import Call, WatchLost, WatchRefused
from observer.store.database import SqliteStore
from observer.store.interface import OwnedStore, Store
from observer.store.reader import StoreReader
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.upkeep.carry_out import complete
from observer.upkeep.home_guard import HomeGuard, HomeLost
from observer.upkeep.restore import Progress, open_owned, repair_if_damaged, unshown

log = logging.getLogger(__name__)

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


class Health:
    """The reasons for degraded operation, one for each part; every change is one assignment."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def degrade(self, part: str, reason: str) -> None:
        """Set the problem of a part; an unchanged reason is not logged again."""
        if self._reasons.get(part) != reason:
            log.error("%s: %s", part, reason)
            self._reasons = {**self._reasons, part: reason}

    def recover(self, part: str) -> None:
        """Clear the problem of a part."""
        if part in self._reasons:
            log.info("%s: recovered", part)
            self._reasons = {name: why for name, why in self._reasons.items() if name != part}

    def text(self) -> str | None:
        """Return all reasons as one line, None if there are none."""
        reasons = [f"{part}: {reason}" for part, reason in sorted(self._reasons.items())]
        return "; ".join(reasons) or None


NICE, WRITER_NICE = 10, 5
"""How much lower the priority of threads is that work in the background, on Linux, where each has
its own. The writer's is less low, as a question waits for the interpreter that it holds: a search
beside it took 259 ms (p95) with 10, 69 to 142 with 5, on a machine with twice what it can do."""


def background(threads: int, name: str, *, nice: int = NICE) -> ThreadPoolExecutor:
    """Return threads for work that nobody waits for: those that answer go first."""

    def lower_priority() -> None:
        if sys.platform == "linux":  # elsewhere it would be that of the whole process
            with suppress(OSError):  # a sandbox may forbid it
                os.nice(nice)

    return ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=lower_priority)


class WriterThread:
    """Runs calls one after the other; raises HomeLost once the home is not this daemon's."""

    def __init__(self, pipeline: Pipeline, guard: HomeGuard, health: Health) -> None:
        self._pipeline = pipeline
        self._guard = guard
        self._health = health
        self._thread = background(1, "writer", nice=WRITER_NICE)
        self._awaited: set[object] = set()

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the writer's thread, and block the calling thread until it is done."""
        awaited = object()
        self._awaited.add(awaited)
        try:
            return self._thread.submit(partial(self._guarded, work, *args, **kwargs)).result()
        finally:
            self._awaited.discard(awaited)

    def write(self, store: Store, work: Callable[[Writer], None]) -> None:
        """Carry out something in a transaction of its own, as `call`."""

        def in_transaction() -> None:
            with store.write() as writer:
                work(writer)

        self.call(in_transaction)

    def is_awaited(self) -> bool:
        """Return True while a thread is blocked until its call is done; safe from any thread."""
        return bool(self._awaited)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the writer's thread, and await it."""
        call = partial(self._guarded, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def close(self) -> None:
        """Finish the queued calls and end the thread."""
        self._thread.submit(self._pipeline.close)
        self._thread.shutdown()

    def _guarded(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._guard.check()
        try:
            return work(*args, **kwargs)
        except StoreUnavailable as error:
            self._health.degrade("store", str(error))
            raise


OnChange: TypeAlias = Callable[[Iterable[int | None]], None]
"""Called with the ids of projects in which something was stored or changed."""

Quiet: TypeAlias = type[Exception] | tuple[type[Exception], ...]


class Services(NamedTuple):
    """Parts that workers share; `record` blocks its thread, `on_change` is called in the loop's."""

    home: Home
    settings: Settings
    store: LazyStore
    spool: Spool
    pipeline: Pipeline
    writer: WriterThread
    health: Health
    tombstones: Tombstones
    record: Record
    on_change: OnChange


class Worker:
    """A background task; `touch` and `wake` are called in the event loop's thread."""

    def __init__(self, services: Services) -> None:
        self._home = services.home
        self._settings = services.settings
        self._store = services.store
        self._spool = services.spool
        self._pipeline = services.pipeline
        self._writer = services.writer
        self._health = services.health
        self._tombstones = services.tombstones
        self._record = services.record
        self._on_change = services.on_change
        self._touched: set[int] = set()
        self._news = asyncio.Event()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects, and wake if there are any."""
        known = {project for project in projects if project is not None}
        if known:
            self._touched |= known
            self.wake()

    def wake(self) -> None:
        """Begin the next round soon."""
        self._news.set()

    def _take_touched(self) -> set[int]:
        touched, self._touched = self._touched, set()
        return touched

    async def _asked(self, ask: Callable[[StoreReader], T]) -> T:
        def read() -> T:
            with self._store.read() as reader:
                return ask(reader)

        return await asyncio.to_thread(read)

    async def _attempt(
        self, part: str, work: Callable[[], Awaitable[object]], *, quiet: Quiet = ()
    ) -> bool:
        """Do one round; return False if it failed, which is the health of the `part` until then.

        Errors that are `quiet` are only logged, since another part reports them. Raises HomeLost.
        """
        try:
            await work()
        except HomeLost:
            raise
        except quiet as error:
            log.info("%s waits: %s", part, error)
            return False
        except (OSError, ObserverError) as error:
            self._health.degrade(part, str(error))
            return False
        except Exception as error:
            log.exception("%s failed", part)
            self._health.degrade(part, f"{type(error).__name__}; see the log")
            return False
        self._health.recover(part)
        return True

    async def _attempt_in_thread(
        self, part: str, work: Callable[[], object], *, quiet: Quiet = ()
    ) -> bool:
        return await self._attempt(part, partial(asyncio.to_thread, work), quiet=quiet)


RETRY_S = 5.0


class Watcher(Worker, ABC):
    """Repeats rounds in a thread of its own, which wait for changes of files."""

    def __init__(self, part: str, services: Services) -> None:
        super().__init__(services)
        self._part = part
        self._over = threading.Event()
        self._call = Call()
        self._thread = background(1, part)

    async def run(self) -> None:
        """Repeat rounds until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                await loop.run_in_executor(self._thread, self._round)
        finally:
            self._over.set()
            self._call.set()

    @abstractmethod
    def _work(self) -> None:
        """Do one round, until something changes or it is called."""

    def _round(self) -> None:
        try:
            self._work()
        except StoreUnavailable:
            self._over.wait(RETRY_S)  # the store's own part of the health has it
        except (OSError, ObserverError, WatchLost, WatchRefused) as error:
            self._failed(str(error))
        except Exception as error:
            log.exception("%s failed", self._part)
            self._failed(f"{type(error).__name__}: {error}; see the log")

    def _failed(self, why: str) -> None:
        self._health.degrade(self._part, why)
        self._over.wait(RETRY_S)


Tasks: TypeAlias = list[asyncio.Task[None]]


def begin(**work: Coroutine[Any, Any, None]) -> Tasks:
    """Return a task for each piece of work, with its name."""
    return [asyncio.create_task(part, name=name) for name, part in work.items()]


async def end(tasks: Tasks) -> None:
    """Cancel tasks, and return once they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def heard(news: asyncio.Event, *, within_s: float) -> None:
    """Wait for news, for `within_s` at most."""
    # Not `wait_for`: in Python 3.11 it swallows a cancellation that comes together with the news,
    # and a daemon that was asked to stop then waits for a task that goes on for ever.
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await news.wait()
