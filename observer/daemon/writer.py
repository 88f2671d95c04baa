"""The one thread that changes the store; drains, writes of fronts and chores queue up for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from observer.core.errors import StoreUnavailable
from observer.core.events import Event
from observer.core.model import Receipt
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeGuard
from observer.ingest.pipeline import Pipeline

P = ParamSpec("P")
T = TypeVar("T")


class WriterThread:
    """Runs every call to the pipeline, one after the other; notes where the store fails.

    Every call raises `HomeLost` once the home is another's.
    """

    def __init__(self, pipeline: Pipeline, tenure: HomeGuard, health: Health) -> None:
        self._pipeline = pipeline
        self._tenure = tenure
        self._health = health
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")

    def record(self, events: Sequence[Event], project_id: int | None) -> Sequence[Receipt]:
        """Store events of a front and return after the commit; blocks the calling thread."""
        return self.call(self._pipeline.ingest, events, project_id)

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the writer's thread, and block the calling one until it is done."""
        return self._thread.submit(partial(self._told, work, *args, **kwargs)).result()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a method of the pipeline in the writer's thread."""
        told = partial(self._told, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, told)

    def restricted(self) -> list[str]:
        """Return the roots of which the pipeline read a policy; does not wait for it."""
        return self._pipeline.restricted()

    def close(self) -> None:
        """Finish what is queued and end the thread."""
        self._thread.submit(self._pipeline.close)
        self._thread.shutdown()

    def _told(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._tenure.check()
        try:
            return work(*args, **kwargs)
        except StoreUnavailable as error:
            self._health.degrade("store", str(error))
            raise
