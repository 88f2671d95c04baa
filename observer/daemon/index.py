"""Keeps the index up with the store, and embeds what has no vector of the model in use yet.

The daemon lives for days: what one large piece of work needed goes back to the system.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from observer.core.errors import ObserverError, StoreUnavailable
from observer.daemon.health import Health
from observer.daemon.spool_watch import heard
from observer.daemon.writer import WriterThread
from observer.embed.lazy_model import LazyModel
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.store.interface import Store


def give_memory_back() -> None:
    """Return free memory that the C allocator holds; does nothing where it cannot be asked to."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return  # not glibc
    trim(0)


log = logging.getLogger(__name__)

PAUSE_S = 0.3
"""What is stored within this time is taken up at once; a search does not wait for it."""
QUIET_S = 2.0
"""Without anything new for this long the index is made quicker to ask, and memory given back."""
BATCH = 16
"""Items embedded at a time: half a second with a model that is slow."""
STILL_S = 20.0
LATEST_S = 300.0
"""What is stored is embedded wholly once nothing more came for `STILL_S`, and after `LATEST_S` at
the latest: the items of a session change with each of its events."""


class IndexWorker:
    """The two tasks. `touch` says that something was stored."""

    def __init__(
        self,
        store: Store,
        index: Index,
        model: LazyModel,
        *,
        pipeline: Pipeline,
        writer: WriterThread,
        health: Health,
    ) -> None:
        self._store = store
        self._index = index
        self._model = model
        self._pipeline = pipeline
        self._writer = writer
        self._health = health
        self._news = asyncio.Event()
        self._stored = asyncio.Event()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Say that something was stored in these projects."""
        if any(project is not None for project in projects):
            self._news.set()
            self._stored.set()

    async def keep_fresh(self) -> None:
        """Take up what is stored, soon after it is, until cancelled; tidy up where that is all."""
        while True:
            is_fresh = await self._did(self._refresh)
            await asyncio.sleep(PAUSE_S)
            if is_fresh and not await self._has_news(within_s=QUIET_S):
                await self._did(self._tidy)
            await self._news.wait()
            self._news.clear()

    async def embed_the_rest(self) -> None:
        """Embed what is stored without a vector: first all there is, then what comes, for ever."""
        after = await self._embed_from(0)
        if not self._model.problem:
            with suppress(ObserverError):  # they do no harm, and the next start drops them
                await self._writer.run(self._pipeline.drop_other_vectors)
        while True:
            await self._stored.wait()
            await self._still()
            after = await self._embed_from(after)

    async def _still(self) -> None:
        """Wait until nothing is stored any more, or for long enough."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LATEST_S):
                while self._stored.is_set():
                    self._stored.clear()
                    await heard(self._stored, within_s=STILL_S)
        self._stored.clear()

    async def _did(self, work: Callable[[], None]) -> bool:
        """Do what the index needs; tell whether it could be done."""
        try:
            await asyncio.to_thread(work)
        except StoreUnavailable as error:
            log.info("the index waits for the store: %s", error)
        except Exception as error:
            log.exception("the index was not brought up to date")
            self._health.degrade("index", f"{type(error).__name__}; see the log")
        else:
            self._health.recover("index")
            return True
        return False

    async def _has_news(self, *, within_s: float) -> bool:
        await heard(self._news, within_s=within_s)
        return self._news.is_set()

    async def _embed_from(self, after: int) -> int:
        """Embed everything after a change; returns the last one, or where it came to a halt."""
        self._model.start()
        try:
            while (then := await self._embed(after)) != after:
                after = then
                self._news.set()
        except ObserverError as error:
            log.info("embedding waits: %s", error)
        if self._model.problem:
            self._health.degrade("model", self._model.problem)
        return after

    async def _embed(self, after: int) -> int:
        """Embed a batch beside what is stored meanwhile, and rest for as long: it is no hurry."""
        if self._model.problem:
            return after
        began_s = time.monotonic()
        made = await asyncio.to_thread(self._pipeline.embedded, after, limit=BATCH)
        took_s = time.monotonic() - began_s
        await self._writer.run(self._pipeline.keep_embedded, made)
        await asyncio.sleep(took_s)
        return made.last_change

    def _tidy(self) -> None:
        """Leave little behind of what came: of 10,000 items the allocator keeps 46 of 215 MB."""
        self._index.tidy()
        give_memory_back()

    def _refresh(self) -> None:
        with self._store.read() as reader:
            self._index.refresh(reader)
