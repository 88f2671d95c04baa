"""Wakes the daemon when something was put into its home: by the kernel, else by polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from observer.daemon.health import Health
from observer.daemon.watching.inotify import Call, WatchLimitReached, WatchLost, watch_folders

POLL_S = 0.2

Wakes = Mapping[Path, Callable[[str], None]]
"""By folder, what is called with the name of a file that appeared there; "" for any."""


async def watch(wakes: Wakes, health: Health, *, growing: Collection[Path] = ()) -> None:
    """Call what belongs to a folder soon after something was put there, until cancelled.

    In the files of folders that are `growing` lines are appended, too.
    """
    try:
        await _follow(wakes, growing)
    except (WatchLost, WatchLimitReached) as error:
        health.degrade("watch", f"{error}; looking every {POLL_S:g} s instead")
    while True:
        await asyncio.sleep(POLL_S)
        for wake in wakes.values():
            wake("")


async def _follow(wakes: Wakes, growing: Collection[Path]) -> None:
    loop, call = asyncio.get_running_loop(), Call()
    arrivals = [str(folder) for folder in wakes if folder not in growing]
    watched = watch_folders(map(str, wakes), arrivals=arrivals, step_ms=0)
    thread = ThreadPoolExecutor(1, thread_name_prefix="home watch")
    try:
        while True:
            for path in map(Path, await loop.run_in_executor(thread, partial(watched.wait, call))):
                if path in wakes:
                    raise WatchLost(f"{path} is gone")
                wakes[path.parent](path.name)
    finally:
        call.set()
        thread.submit(watched.close)
        thread.shutdown(wait=False)
