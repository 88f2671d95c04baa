"""The only thread that writes to the store; drains, requests and maintenance queue for it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

from observer.core.errors import StoreUnavailable
from observer.core.events import Event
from observer.core.model import Receipt
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeGuard
from observer.ingest.pipeline import Pipeline

NICE = 5
"""How much lower its priority is than that of the threads that answer, on Linux, where each thread
has its own: of a busy processor it gets a third as much. It cannot be raised again.

Source: 50 clients that report 20 events a second each; a search took 47 ms instead of 90 beside
that, 135 instead of 272 at the 95th percentile, and as many events were stored.
"""

P = ParamSpec("P")
T = TypeVar("T")


def _lower_priority() -> None:
    """Let the threads that answer go before the calling one."""
    if sys.platform == "linux":  # elsewhere it would be that of the whole process
        with suppress(OSError):  # a sandbox may forbid it
            os.nice(NICE)


class WriterThread:
    """Runs calls one after the other, and reports failures of the store to `health`.

    Every call raises `HomeLost` once the home is no longer this daemon's.
    """

    def __init__(self, pipeline: Pipeline, guard: HomeGuard, health: Health) -> None:
        self._pipeline = pipeline
        self._guard = guard
        self._health = health
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix="writer", initializer=_lower_priority
        )
        self._awaited: set[object] = set()

    def record(self, events: Sequence[Event], project_id: int | None) -> Sequence[Receipt]:
        """Store the events of a request and return after the commit; blocks the calling thread."""
        return self.call(self._pipeline.ingest, events, project_id)

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the writer's thread, and block the calling thread until it is done."""
        awaited = object()
        self._awaited.add(awaited)
        try:
            return self._thread.submit(partial(self._guarded, work, *args, **kwargs)).result()
        finally:
            self._awaited.discard(awaited)

    def is_awaited(self) -> bool:
        """Return True while a thread is blocked until its call is done; safe from any thread."""
        return bool(self._awaited)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the writer's thread, and await it."""
        call = partial(self._guarded, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def restricted(self) -> list[str]:
        """Return the roots whose policies the pipeline has read; does not wait for it."""
        return self._pipeline.restricted()

    def is_importing(self) -> bool:
        """Return True if an import goes on, as far as can be known; does not wait for it."""
        return self._pipeline.is_importing()

    def end_import(self) -> None:
        """Note that an import is over; does not wait."""
        self._pipeline.end_import()

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
