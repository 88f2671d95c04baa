"""Drain a spool once, and die by SIGKILL at the step named on the command line.

python crash_driver.py STEP HOME
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from observer.core.disk import SpoolEntry
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from tests.support import pipeline_over


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingSpool(Spool):
    """Dies after a claim, or while or after it acknowledges."""

    step = ""

    def claim(self, **limits: int) -> list[SpoolEntry]:
        claimed = super().claim(**limits)
        if self.step == "claimed":
            die()
        return claimed

    def ack(self, entries: Iterable[SpoolEntry]) -> None:
        entries = list(entries)
        if self.step == "half-acknowledged":
            super().ack(entries[: len(entries) // 2])
            die()
        super().ack(entries)
        if self.step == "acknowledged":
            die()


class DyingStore(SqliteStore):
    """Dies before or after its commit."""

    step = ""

    @contextmanager
    def write(self) -> Iterator[Any]:
        with super().write() as writer:
            yield writer
            if self.step == "written":
                die()
        if self.step == "committed":
            die()


def main(step: str, folder: str, now_ms: Callable[[], int] = lambda: 1_790_000_000_000) -> None:
    home = Home(Path(folder))
    DyingSpool.step = DyingStore.step = step
    store = DyingStore(home.database)
    pipeline = pipeline_over(store, DyingSpool(home.spool), now_ms)
    while pipeline.drain().entries:
        pass


if __name__ == "__main__":
    main(*sys.argv[1:3])
