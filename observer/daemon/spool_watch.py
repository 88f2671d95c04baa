"""Wakes the daemon when something was spooled: by inotify, or by polling without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from watchfiles import Change, awatch

from observer.daemon.health import Health

STEP_MS = 20
"""The watcher collects reported changes this often; the price of its portability."""
DEBOUNCE_MS = 60
"""During a burst of events, wake at least this often."""
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
