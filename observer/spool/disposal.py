"""Deletes files that nobody needs any more; many of them beside the work.

Where freed blocks are discarded at once, deleting a small file waits longer for the device than
the whole of storing its event takes. What the end of a process leaves undeleted has no name in
`new/`, so it is no event, and is swept away later.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

AT_ONCE = 16
"""So many files are deleted before `delete` returns; more are not worth waiting for."""


class Disposal:
    """Deletes in the order given; the end of the process waits for nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: deque[str] = deque()
        self._is_working = False

    def delete(self, paths: Collection[str]) -> None:
        """Delete files, or see to it; those already gone are no error."""
        if len(paths) <= AT_ONCE:
            for path in paths:
                remove(path)
            return
        with self._lock:
            self._paths.extend(paths)
            if self._is_working:
                return
            self._is_working = True
        threading.Thread(target=self._work, name="spool-disposal", daemon=True).start()

    def _work(self) -> None:
        while path := self._next():
            with suppress(OSError):  # nobody is left to tell; it will be swept
                remove(path)

    def _next(self) -> str:
        with self._lock:
            if self._paths:
                return self._paths.popleft()
            self._is_working = False
            return ""


def remove(path: str | Path) -> None:
    """Delete one file; one already gone is no error."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - a Path for each of 20,000 names costs more than the call
