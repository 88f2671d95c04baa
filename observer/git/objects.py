"""Objects and refs of a repository as they lie there: its refs, the files of a tree, contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.git.launch import PART_BYTES
from observer.git.process import git_at, git_output
from observer.git.repository import NoRepository

BLOB_BYTES = 256 << 20
"""A larger object is not read."""
MOST_BYTES = 1 << 20
"""Of one file; larger ones are data."""
MOST_NAME_CHARS = 10_000
"""Longer than any path; a name that does not fit into a pipe would wait for git to read it."""

_COMMITTED = re.compile(rb"^committer .*> (\d{1,12}) [+-]\d{4}$", re.MULTILINE)


class TreeFile(NamedTuple):
    """A file of a tree: its path, and the id of its content."""

    path: str
    blob: str


def refs(root: str, *patterns: str) -> list[str]:
    """Return the refs that patterns of `git for-each-ref` match; none without a repository.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    listed = git_output(root, "for-each-ref", "--format=%(refname)", *patterns)
    return listed.split() if listed else []


def files_of(root: str, tree: str) -> list[TreeFile]:
    """Return the files of a tree, by path; none if it cannot be read.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    listed = git_output(root, "ls-tree", "-r", "-z", "--full-tree", tree) or ""
    rows = (row.partition("\t") for row in listed.split("\0") if row)
    return [TreeFile(path, head.split()[2]) for head, _, path in rows if " blob " in head]


class Blob(NamedTuple):
    """What git keeps under a name; `kind` is ``blob`` for a file's content, ``commit``, ``tree``.

    `data` is None where it is too large.
    """

    id: str
    kind: str
    data: bytes | None

    @property
    def text(self) -> str:
        """Its content as text."""
        return (self.data or b"").decode("utf-8", "replace")


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

    def text(self, name: str) -> str:
        """Return what is called so as text, "" if there is none."""
        found = self.get(name)
        return found.text if found else ""


def existing(root: str, names: Iterable[str]) -> frozenset[str]:
    """Return which of some names, also shortened ones, are those of objects of a repository.

    Raises:
        NotFound: git did not answer here lately.
    """
    with Blobs(root, most_bytes=0) as blobs:
        return frozenset(name for name in names if blobs.get(name))


def contents(root: str, ids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield objects, by their ids; None for one that is missing, or larger than `BLOB_BYTES`.

    Raises:
        NotFound: git is not installed or does not answer, or there is no repository.
    """
    with Blobs(root, most_bytes=BLOB_BYTES) as blobs:
        for one in ids:
            found = blobs.get(one)
            if blobs.failure:
                raise blobs.failure
            yield one, found and found.data


def committed_ms(commit: bytes) -> int | None:
    """Return when a commit was made, from its object; None if that does not say it."""
    found = _COMMITTED.search(commit)
    return 1000 * int(found[1]) if found else None
