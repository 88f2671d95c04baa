"""What sessions were given unasked, one line each: when, whom, which items. No text is kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from observer.core.disk import UnexpectedFile, read, replace
from observer.core.value import Value, decode_json

START = "start"
MOST_BYTES = 1 << 20  # of a larger file the older half goes


class Giving(Value):
    """What a session was given at once: at its `START`, or a reminder of a sort.

    `session` is the client's own id of it, `items` can be fetched, `tokens` is what all of it cost.
    """

    at_ms: int
    client: str
    session: str
    sort: str
    items: tuple[int, ...] = ()
    tokens: int = 0


class GivenLog:
    """The file of one home; safe to share between threads of its daemon, which alone writes it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()

    def add(self, given: Giving) -> None:
        """Append a line. Raises OSError: the home cannot be written."""
        with self._lock:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
            with os.fdopen(os.open(self._file, flags, 0o600), "ab") as file:
                file.write(msgspec.json.encode(given) + b"\n")
                size = file.tell()
            if size > MOST_BYTES:
                lines = self._file.read_bytes().splitlines(keepends=True)
                replace(self._file, b"".join(lines[len(lines) // 2 :]))

    def since(self, since_ms: int) -> Iterator[Giving]:
        """Yield what was given since a time, the newest first; damaged lines are left out."""
        try:
            lines = read(self._file)[0].splitlines()
        except (OSError, UnexpectedFile):
            return
        for line in reversed(lines):
            with suppress(msgspec.MsgspecError):
                given = decode_json(line, Giving)
                if given.at_ms >= since_ms:
                    yield given
