"""Objects and refs of a repository as they lie there: its refs, the files of a tree, contents."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from observer.git.process import PART_BYTES, git_output, start_git

BLOB_BYTES = 256 << 20
"""A larger object is not read."""

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


def contents(root: str, ids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield objects, by their ids; None for one that is missing, or larger than `BLOB_BYTES`.

    Raises:
        NotFound: git is not installed, or did not answer here lately.
        NoRepository: there is none.
        GitTimeout: it does not answer.
    """
    with start_git(root, ("cat-file", "--batch"), reads=subprocess.PIPE) as git:
        for one in ids:
            git.input.write(f"{one}\n".encode())
            git.input.flush()
            head = git.output.readline().split()
            if len(head) != _HEAD:  # it says `missing`, or has ended
                yield one, None
                continue
            size = int(head[2])
            parts, left = [], size + 1
            while left > 0 and (part := git.output.read(min(left, PART_BYTES))):
                left -= len(part)
                if size <= BLOB_BYTES:
                    parts.append(part)
            yield one, b"".join(parts)[:-1] if size <= BLOB_BYTES else None


def committed_ms(commit: bytes) -> int | None:
    """Return when a commit was made, from its object; None if that does not say it."""
    found = _COMMITTED.search(commit)
    return 1000 * int(found[1]) if found else None


_HEAD = 3
"""Words of the line before a content: id, type and size."""
