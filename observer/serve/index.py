"""Keeps the index up to date with the store, embeds items, and gives memory back to the system."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import mmap
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from observer.core.errors import ObserverError, StoreUnavailable
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.serve.worker import Services, Worker, heard


def give_memory_back() -> None:
    """Give back free memory of the C allocator to the system; does nothing without glibc."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return  # not glibc
    trim(0)


def forget_code(maps: Path = Path("/proc/self/maps")) -> None:
    """Take libraries' code out of this process's memory until it runs again; Linux only, 25 MB."""
    with suppress(OSError):
        libc = ctypes.CDLL(None, use_errno=True)
        for line in maps.read_text().splitlines():
            place, rights, *_, name = line.split(maxsplit=5)
            if rights == "r-xp" and name.startswith("/"):
                begin, end = (int(each, 16) for each in place.split("-"))
                size = ctypes.c_size_t(end - begin)
                libc.madvise(ctypes.c_void_p(begin), size, mmap.MADV_DONTNEED)


log = logging.getLogger(__name__)

PAUSE_S = 0.3  # changes within this time are indexed together; a search does not wait for it
QUIET_S = 2.0  # after this long without changes the index is compacted, and memory given back
GIVE_BACK_S = 10.0
"""Where it is never quiet memory is given back so often: 2 ms, and a few for the next search."""
BATCH = 16  # items embedded at a time: half a second with a model that is slow
REST_EVERY_S, UNUSED_S = 60.0, 180.0
"""How often is looked whether the model was not used for so long, and is let go: 40 MB."""
STILL_S = 20.0
LATEST_S = 300.0
"""Changes are embedded once nothing more came for `STILL_S`, after `LATEST_S` at the latest: the
items of a session change with each of its events."""


class IndexWorker(Worker):
    """`run` refreshes the index, `run_embedding` embeds; `touch` wakes both. The third rests."""

    def __init__(self, services: Services, index: Index, model: LazyModel) -> None:
        super().__init__(services)
        self._index = index
        self._model = model
        self._stored = asyncio.Event()
        self._gave_back_s = time.monotonic()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Wake if something was stored, also in no project, as the notes of a folder may be."""
        if any(True for _ in projects):
            self.wake()

    def wake(self) -> None:
        """Wake both tasks."""
        super().wake()
        self._stored.set()

    async def run(self) -> None:
        """Index what is stored, soon after it is, until cancelled; compact the index when idle."""
        while True:
            is_fresh = await self._did(self._refresh)
            await asyncio.sleep(PAUSE_S)
            if is_fresh:
                await heard(self._news, within_s=QUIET_S)
            if is_fresh and not self._news.is_set():
                await self._did(self._tidy)
            await self._news.wait()
            self._news.clear()

    async def run_embedding(self) -> None:
        """Embed all items without a vector, then those that come, until cancelled."""
        after = await self._embed_from(0)
        if not self._model.problem:
            with suppress(ObserverError):  # they do no harm, and the next start drops them
                await self._writer.run(self._pipeline.drop_other_vectors)
        while True:
            await self._stored.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LATEST_S):
                    while self._stored.is_set():
                        self._stored.clear()
                        await heard(self._stored, within_s=STILL_S)
            self._stored.clear()
            after = await self._embed_from(after)

    async def run_resting(self) -> None:
        """Let go of what nobody needs for a while, until cancelled."""
        while True:
            await asyncio.sleep(REST_EVERY_S)
            await self._did(self._rest)

    async def _did(self, work: Callable[[], None]) -> bool:
        return await self._attempt_in_thread("index", work, quiet=StoreUnavailable)

    async def _embed_from(self, after: int) -> int:
        try:
            while not self._model.problem:
                began_s = time.monotonic()
                made = await asyncio.to_thread(self._pipeline.embedded, after, limit=BATCH)
                took_s = time.monotonic() - began_s
                await self._writer.run(self._pipeline.keep_embedded, made)
                await asyncio.sleep(took_s)  # others need the processor more
                if made.last_change == after:
                    break
                after = made.last_change
                self._news.set()
        except ObserverError as error:
            log.info("embedding waits: %s", error)
        if self._model.problem:
            self._health.degrade("model", self._model.problem)
        return after

    def _tidy(self) -> None:
        """Compact the index and give back memory: after 10,000 items 46 of 215 MB stay in use."""
        self._index.tidy()
        self._give_back()

    def _rest(self) -> None:
        if self._model.let_go(unused_s=UNUSED_S):
            self._index.rest()
            self._store.rest()
            self._give_back()
            forget_code()

    def _refresh(self) -> None:
        with self._store.read() as reader:
            self._index.refresh(reader)
        if time.monotonic() - self._gave_back_s > GIVE_BACK_S:
            self._give_back()

    def _give_back(self) -> None:
        give_memory_back()
        self._gave_back_s = time.monotonic()
