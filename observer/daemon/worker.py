"""The base of the daemon's background tasks: waking, touched projects, failures of a round.

A worker repeats rounds until it is cancelled. A failed round is logged, shown by `status`, and
followed by the next one; what ends a worker ends the daemon.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from observer.core.errors import ObserverError
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeLost
from observer.daemon.writer import WriterThread
from observer.ingest.pipeline import Pipeline
from observer.spool.spool import Spool
from observer.store.interface import Store

log = logging.getLogger(__name__)

OnChange: TypeAlias = Callable[[Iterable[int | None]], None]
"""Called with the ids of projects in which something was stored or changed."""


class Services(NamedTuple):
    """Parts of the daemon that workers share; `on_change` runs in the event loop's thread."""

    store: Store
    spool: Spool
    pipeline: Pipeline
    writer: WriterThread
    health: Health
    on_change: OnChange


class Worker:
    """A background task; `touch` and `wake` are called in the event loop's thread.

    Args:
        health: where failures are reported, by part.
    """

    def __init__(self, health: Health) -> None:
        self._health = health
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

    async def _attempt(
        self,
        part: str,
        work: Callable[[], Awaitable[object]],
        *,
        quiet: type[Exception] | tuple[type[Exception], ...] = (),
    ) -> bool:
        """Do one round; return False if it failed.

        Args:
            part: under this name `Health` has the failure, until a round succeeds.
            work: the round.
            quiet: errors that are only logged, since another part reports them.

        Raises:
            HomeLost: the daemon must leave.
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
        self,
        part: str,
        work: Callable[[], object],
        *,
        quiet: type[Exception] | tuple[type[Exception], ...] = (),
    ) -> bool:
        """Do one round of blocking work in a thread, as `_attempt`."""
        return await self._attempt(part, partial(asyncio.to_thread, work), quiet=quiet)


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
