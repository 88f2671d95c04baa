"""The base of the daemon's background tasks, and the one thread that writes to the store."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from observer.core.config import Settings
from observer.core.errors import ObserverError, StoreUnavailable
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.notes.values import Record
from observer.serve.inotify import Call, WatchLost, WatchRefused
from observer.serve.lazy_store import LazyStore
from observer.store.interface import Store
from observer.store.reader import StoreReader
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.upkeep.home_guard import HomeGuard, HomeLost

log = logging.getLogger(__name__)


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

P = ParamSpec("P")
T = TypeVar("T")


def background(threads: int, name: str, *, nice: int = NICE) -> ThreadPoolExecutor:
    """Return threads for work that nobody waits for: those that answer go first."""

    def lower_priority() -> None:
        if sys.platform == "linux":  # elsewhere it would be that of the whole process
            with suppress(OSError):  # a sandbox may forbid it
                os.nice(nice)

    return ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=lower_priority)


class WriterThread:
    """Runs calls one after the other, and reports failures of the store to `health`.

    Every call raises HomeLost once the home is no longer this daemon's.
    """

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
