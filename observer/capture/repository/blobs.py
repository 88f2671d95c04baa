"""The text of files in git, one process for any number of them."""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager
from typing import IO, NamedTuple, cast

from observer.capture.repository.program import started

MOST_BYTES = 1 << 20
"""Of one file; larger ones are data, and are read past."""


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
        self._process = started(root, ("cat-file", "--batch"), reads=subprocess.PIPE)

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def get(self, name: str) -> Blob | None:
        """Return what is called so; None if there is nothing, or git does not answer."""
        if "\n" in name or "\0" in name:
            return None
        asked, told = _pipe(self._process.stdin), _pipe(self._process.stdout)
        try:
            asked.write(name.encode("utf-8", "surrogateescape") + b"\n")
            asked.flush()
        except (OSError, ValueError):
            return None
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


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    return cast("IO[bytes]", stream)  # asked for when the process was started
