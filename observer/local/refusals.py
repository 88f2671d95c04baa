"""Events that hooks could not write: how many, since when; kept where a full disk still takes it.

A hook overwrites one line of a file that was made beforehand, which needs no new block. Parallel
hooks may overwrite each other's count, so it is a lower bound.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from observer.core.paths import flush, open_plain

LINE_CHARS = 63
"""What `hooks/post` pads its line to; with the line end, the size of the file in bytes."""
_NOTHING = f"{'0 0 0':{LINE_CHARS}}\n".encode()
_LARGEST = 10**12


class Refusals(NamedTuple):
    """At least so many `events` were refused, from `first_ms` to `last_ms` (UTC; 0 is unknown)."""

    events: int
    first_ms: int
    last_ms: int


def prepare(path: Path) -> None:
    """Make the file of a home, for this user alone. Raises OSError: it is not a plain file."""
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_size < len(_NOTHING):
            os.pwrite(descriptor, _NOTHING, 0)
            flush(descriptor)  # the blocks exist from now on
    finally:
        os.close(descriptor)


def read(path: Path) -> Refusals | None:
    """Return what hooks counted, None if they refused nothing. Raises OSError: it is unreadable."""
    try:
        descriptor = open_plain(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fields = os.read(descriptor, LINE_CHARS).split()
    finally:
        os.close(descriptor)
    numbers = [int(field) for field in fields[:3] if field.isdigit() and int(field) < _LARGEST]
    if len(numbers) < 3 or not numbers[0]:
        return None
    return Refusals(numbers[0], numbers[1] * 1000, numbers[2] * 1000)


def reset(path: Path) -> None:
    """Begin to count anew. Raises OSError: the file cannot be written."""
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        os.pwrite(descriptor, _NOTHING, 0)
    finally:
        os.close(descriptor)
