"""The text of files in git, one process for any number of them."""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager, suppress
from typing import IO, NamedTuple

from observer.core.errors import NotFound
from observer.git.discovery import NoRepository
from observer.git.process import Running, started

MOST_BYTES = 1 << 20
"""Of one file; larger ones are data, and are read past."""
MOST_NAME_CHARS = 10_000
"""Longer than any path; a name that does not fit into a pipe would wait for git to read it."""


class Blob(NamedTuple):
    """What git keeps under a name; `kind` is ``blob`` for a file's content, ``commit``, ``tree``.

    `data` is None where it is larger than `MOST_BYTES`.
    """

    id: str
    kind: str
    data: bytes | None


class Blobs(AbstractContextManager["Blobs"]):
    """Reads what is called so in git (a hash, or ``commit:path``); a context manager.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
    """

    def __init__(self, root: str) -> None:
        self._running: Running | None = None
        with suppress(NoRepository):  # nothing is called anything there
            self._running = started(root, ("cat-file", "--batch"), reads=subprocess.PIPE)

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._running:
            self._running.end()

    def get(self, name: str) -> Blob | None:
        """Return what is called so; None if there is nothing, or git does not answer."""
        if self._running is None or "\n" in name or "\0" in name or len(name) > MOST_NAME_CHARS:
            return None
        try:
            self._running.input.write(name.encode("utf-8", "surrogateescape") + b"\n")
            self._running.input.flush()
            return _answer(self._running.output)
        except (OSError, ValueError):
            return None
        except NotFound:  # after that nobody would know what an answer is about
            self.close()
            return None


def _answer(told: IO[bytes]) -> Blob | None:
    words = told.readline().rsplit(b" ", 2)
    if len(words) != 3 or not words[2].strip().isdigit():  # missing, ambiguous, the end
        return None
    size = int(words[2])
    data = _read(told, size)
    told.read(1)
    return Blob(words[0].decode("ascii"), words[1].decode("ascii"), data)


def _read(told: IO[bytes], size: int) -> bytes | None:
    """Return the next bytes, or read past them."""
    if size <= MOST_BYTES:
        return told.read(size)
    while size > 0 and (part := told.read(min(size, MOST_BYTES))):
        size -= len(part)
    return None
