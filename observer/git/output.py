"""What a program writes to a pipe, waited for no longer than agreed."""

from __future__ import annotations

import io
import os
import select
import time
from typing import IO

from observer.errors import NotFound


class TooSlow(NotFound):
    """A program did not answer in time, or answered too much."""


class Output(io.RawIOBase):
    """A pipe whose reads raise `TooSlow` instead of waiting for ever; not seekable.

    Args:
        pipe: closed with this.
        wait_s: longest wait.
        in_all: whether that is for all reads together; else it is for each.
    """

    def __init__(self, pipe: IO[bytes], *, wait_s: float, in_all: bool) -> None:
        self._pipe = pipe
        self._wait_s = wait_s
        self._until_s = time.monotonic() + wait_s if in_all else None
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what io passes
        """Read what is there, as soon as something is; 0 at the end."""
        left_s = self._wait_s if self._until_s is None else self._until_s - time.monotonic()
        if left_s <= 0 or not self._poll.poll(left_s * 1000):
            raise TooSlow(f"no answer within {self._wait_s:g} seconds")
        return os.readv(self._pipe.fileno(), [buffer])

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()
        super().close()
