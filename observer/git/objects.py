"""Objects and refs of a repository as they lie there: its refs, contents."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.git.launch import PART_BYTES
from observer.git.process import git_at
from observer.git.repository import NoRepository

MOST_BYTES = 1 << 20
"""Of one file; larger ones are data."""
MOST_NAME_CHARS = 10_000
"""Longer than any path; a name that does not fit into a pipe would wait for git to read it."""


class Blob(NamedTuple):
    """What git keeps under a name; `kind` is ``blob`` for a file's content, ``commit``, ``tree``.

    `data` is None where it is too large.
    """

    id: str
    kind: str
    data: bytes | None


class Blobs(AbstractContextManager["Blobs"]):
    """Reads what is called so in git (a hash, or ``commit:path``) with one process.

    `failure` is why there is nothing (more) to read: no repository or no git, or none that answers.

    Args:
        root: a folder of the repository.
        most_bytes: of one object; larger ones are data, and are read past.

    Raises:
        NotFound: git did not answer here lately.
    """

    def __init__(self, root: str, *, most_bytes: int = MOST_BYTES) -> None:
        self.failure: NotFound | None = None
        self._most_bytes = most_bytes
        try:
            self._git = git_at(root)
        except NoRepository as error:  # nothing is called anything there
            self.failure = error

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self, failure: NotFound | None = None) -> None:
        """End the process."""
        if self.failure is None:
            self.failure = failure or NotFound("closed")
            self._git.clear_cache()

    def get(self, name: str) -> Blob | None:
        """Return what is called so; None if there is nothing, or git does not answer."""
        if self.failure or "\n" in name or "\0" in name or len(name) > MOST_NAME_CHARS:
            return None
        try:
            found, kind, size, stream = self._git.stream_object_data(name)
            if size <= self._most_bytes:
                return Blob(found, kind, stream.read())
            while stream.read(PART_BYTES):
                pass
            return Blob(found, kind, None)
        except (OSError, ValueError):  # missing, ambiguous, the end
            return None
        except NotFound as error:  # after that nobody would know what an answer is about
            self.close(error)
            return None


def existing(root: str, names: Iterable[str]) -> frozenset[str]:
    """Return which of some names, also shortened ones, are those of objects of a repository.

    Raises:
        NotFound: git did not answer here lately.
    """
    with Blobs(root, most_bytes=0) as blobs:
        return frozenset(name for name in names if blobs.get(name))
