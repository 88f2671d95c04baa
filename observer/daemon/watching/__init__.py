"""Tells of writes that no hook told: another editor's, a formatter's, a code generator's.

One thread waits for the kernel's word on the folders of recent projects. When the writing has
settled it asks git what differs and reads that; when hooks have had their time it asks the store
what they told, and the rest goes the way of all events. What git itself wrote (a checkout of ten
thousand files) is silent: git's hooks tell it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from observer.config import Settings
from observer.daemon.health import Health
from observer.daemon.status import Watched
from observer.daemon.watching.forest import Forest
from observer.daemon.watching.telling import Telling
from observer.daemon.watching.watch import Watch
from observer.errors import StoreUnavailable
from observer.memory import Record
from observer.spool import Spool
from observer.store.interface import Store

log = logging.getLogger(__name__)

RETRY_S = 5.0


class Watching:
    """The watch as a task of the daemon. `touch` says that something was stored.

    Args:
        record: stores events; called in the watch's own thread.
    """

    def __init__(
        self, store: Store, spool: Spool, record: Record, *, settings: Settings, health: Health
    ) -> None:
        self._is_wanted = settings.watch
        self._health = health
        self._forest = Forest(store, settings, health)
        self._telling = Telling(store, spool, record)
        self._over = threading.Event()
        self._call = threading.Event()
        self._watch = Watch(self._forest, self._telling, call=self._call)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="watch")

    def touch(self, projects: Iterable[int | None]) -> None:
        """Say that something was stored in these projects: perhaps they are not watched yet."""
        if self._forest.is_news(projects) or self._telling.may_be_too_early:
            self._call.set()

    def shown(self) -> tuple[Watched, ...]:
        """Return what is watched, and what is not and why."""
        return self._forest.shown()

    async def keep_watching(self) -> None:
        """Watch until cancelled; for ever idle where it is not wanted."""
        loop = asyncio.get_running_loop()
        try:
            while self._is_wanted:
                await loop.run_in_executor(self._thread, self._round)
            await asyncio.Event().wait()
        finally:
            self._over.set()
            self._call.set()

    async def finish(self) -> None:
        """Tell what is still to be told; call once `keep_watching` has ended."""
        if self._is_wanted:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
        self._thread.shutdown()

    def _round(self) -> None:
        try:
            self._watch.round()
        except StoreUnavailable:
            self._over.wait(RETRY_S)  # its own part of the health told
        except Exception as error:
            log.exception("watching failed")
            self._health.degrade("watching", f"{type(error).__name__}: {error}; see the log")
            self._over.wait(RETRY_S)

    def _end(self) -> None:
        try:
            self._watch.end()
        except Exception:
            log.exception("the last writes were not told")
