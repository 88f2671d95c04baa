"""Wakes the daemon when something was spooled: by inotify, or by polling without it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from observer.daemon.health import Health
from observer.daemon.watching.inotify import InotifyWatch, WatchLimitReached, WatchLost

STEP_MS = 20
"""The watcher collects reported changes this often; the price of its portability."""
DEBOUNCE_MS = 60
"""During a burst of events, wake at least this often."""
POLL_S = 0.2
WAIT_MS = 10_000


async def watch(folders: tuple[Path, ...], wake: Callable[[], None], health: Health) -> None:
    """Call `wake` soon after anything appeared or grew in the folders, until cancelled."""
    try:
        await _follow(folders, wake)
    except (WatchLost, WatchLimitReached) as error:
        health.degrade("watch", f"{error}; looking every {POLL_S:g} s instead")
    while True:
        await asyncio.sleep(POLL_S)
        wake()


async def _follow(folders: tuple[Path, ...], wake: Callable[[], None]) -> None:
    over = threading.Event()
    thread = ThreadPoolExecutor(1, thread_name_prefix="spool watch")
    watcher = InotifyWatch(map(str, folders), step_ms=STEP_MS, often_ms=DEBOUNCE_MS)
    wait = partial(watcher.has_news, over, wait_ms=WAIT_MS)
    try:
        while True:
            # Our own acknowledgements are no news.
            if await asyncio.get_running_loop().run_in_executor(thread, wait):
                wake()
    finally:
        over.set()
        watcher.close()
        thread.shutdown(wait=False)
