"""Tells the daemon that something was spooled: the kernel's word, or a look where it has none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, awatch

from observer.daemon.health import Health

STEP_MS = 20
"""The watcher looks this often for changes the kernel reported; the price of its portability."""
DEBOUNCE_MS = 60
"""In a storm of events, wake at least this often."""
POLL_S = 0.2


async def watch(folders: tuple[Path, ...], wake: Callable[[], None], health: Health) -> None:
    """Call `wake` soon after anything appeared or grew in the folders, until cancelled."""
    try:
        async for _ in awatch(
            *folders,
            watch_filter=_is_news,
            step=STEP_MS,
            debounce=DEBOUNCE_MS,
            recursive=False,
        ):
            wake()
        reason = "the watcher stopped"
    except (OSError, RuntimeError) as error:  # no such folder; no inotify watch left
        reason = str(error)
    health.degrade("watch", f"{reason}; looking every {POLL_S:g} s instead")
    while True:
        await asyncio.sleep(POLL_S)
        wake()


def _is_news(change: Change, _path: str) -> bool:
    return change is not Change.deleted  # our own acknowledgements


async def heard(news: asyncio.Event, *, within_s: float) -> None:
    """Wait for news, for `within_s` at most."""
    # Not `wait_for`: in Python 3.11 it swallows a cancellation that comes together with the news,
    # and a daemon that was told to leave then waits for a task that goes on for ever.
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await news.wait()
