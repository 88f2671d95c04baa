"""Files of JSON lines that another program writes: read line by line, and never trusted.

A line that is cut, no JSON or without end is counted with its place, and the rest is read.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from observer.clients.envelope import Object
from observer.clients.payload import number, text
from observer.core import json_text
from observer.core.clock import LAST_MS, iso_ms
from observer.core.disk import UnexpectedFile, open_plain

SUFFIXES = (".jsonl", ".jsonl.gz")
LINE_BYTES = 32 << 20
"""A longer line is no record: it is counted and not read."""
OBJECT_BYTES = 64 << 20
"""A larger file that is one object is counted and not read."""


class Line(NamedTuple):
    """One line: its number from 1 in the file, and its bytes."""

    number: int
    data: bytes
    is_whole: bool


_TAIL_BYTES = 64 << 10
_FIRST_MS = 10**12
"""In 2001: a smaller number does not count milliseconds."""
_TIME = re.compile(rb'"timestamp" ?: ?"([^"\\]{10,40})"')


class Problems:
    """What could not be read: counts by reason, and the place of the first of each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.places: dict[str, str] = {}

    def add(self, reason: str, path: Path, line: int = 0) -> None:
        """Count something that was left out, in a line of a file, or the file as a whole."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.places.setdefault(reason, f"{path}:{line}" if line else str(path))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain file, or one that gzip packed. Raises: OSError, UnexpectedFile (it is none)."""
    handle, _ = open_plain(path.resolve())
    with os.fdopen(handle, "rb") as file:
        if path.suffix == ".gz":
            with gzip.open(file, "rb") as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield file


def lines(path: Path, problems: Problems, *, with_empty: bool = False) -> Iterator[Line]:
    """Yield the lines of a file, empty ones where asked for; what cannot be read is counted."""
    try:
        with opened(path) as file:
            number = 0
            while data := file.readline(LINE_BYTES):
                number += 1

                if len(data) == LINE_BYTES and not data.endswith(b"\n"):
                    problems.add("line longer than any record", path, number)
                    while data and not data.endswith(b"\n"):
                        data = file.readline(LINE_BYTES)
                elif with_empty or data.strip():
                    yield Line(number, data, data.endswith(b"\n"))
    except (OSError, EOFError, UnexpectedFile) as error:
        problems.add(f"unreadable file ({error})", path)


def parse(line: Line, path: Path, problems: Problems) -> dict[str, Any] | None:
    """Return the object of a line; None, and a count, if it holds none."""
    try:
        value = json_text.load(line.data)
    except (ValueError, RecursionError):
        # A client that writes just now, or was killed, leaves the last line unfinished.
        problems.add("corrupt line" if line.is_whole else "unfinished last line", path, line.number)
        return None
    if not isinstance(value, dict):
        problems.add("corrupt line", path, line.number)
        return None
    return value


def read_object(path: Path, problems: Problems) -> dict[str, Any] | None:
    """Return the object that a file is; None, and a count, if it is none."""
    try:
        with opened(path) as file:
            data = file.read(OBJECT_BYTES + 1)
    except (OSError, EOFError, UnexpectedFile) as error:
        problems.add(f"unreadable file ({error})", path)
        return None
    if len(data) > OBJECT_BYTES:
        problems.add("file larger than any session", path)
        return None
    return parse(Line(0, data, is_whole=True), path, problems)


def files_below(path: Path, endings: tuple[str, ...] = SUFFIXES) -> Iterator[Path]:
    """Yield a file, or all files below a folder whose names end so."""
    if not path.is_dir():
        yield path
        return
    for folder, below, names in os.walk(path):
        below.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(endings))


def time_of(record: Object, field: str = "timestamp") -> int | None:
    """Return a time, in ISO 8601 or milliseconds, as UTC milliseconds; None if it says none."""
    at_ms = number(record, field)
    if at_ms is None or at_ms < _FIRST_MS:
        at_ms = iso_ms(text(record, field))
    return at_ms if at_ms is not None and 0 <= at_ms <= LAST_MS else None


def last_ms(path: Path) -> int:
    """Return the last time that a file names; of a packed one, when it was written."""
    if path.suffix == ".gz":
        return path.stat().st_mtime_ns // 1_000_000
    with opened(path) as file:
        file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
        times = _TIME.findall(file.read())
    found = (time_of({"timestamp": each.decode("ascii", "replace")}) for each in times)
    return max((at_ms for at_ms in found if at_ms is not None), default=0)
