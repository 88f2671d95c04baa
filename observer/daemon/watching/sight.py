"""What a file looked like: read without following links, and kept as far as memory is given."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

FILE_BYTES = 1 << 20
"""Larger files are data, or generated; of them nothing is told."""
KEPT_CHARS = 4 << 20
"""Of the texts of one tree that are kept: those that git does not have."""

_BINARY_BYTES = 8_000
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _PLAIN | os.O_DIRECTORY
_FILE = _PLAIN | os.O_NONBLOCK | os.O_NOCTTY


class Sight(NamedTuple):
    """A file as it was: `stamp` is None if it was not there, `text` None if it was not kept."""

    stamp: tuple[int, int] | None
    text: str | None

    @property
    def is_known(self) -> bool:
        """Whether all there was to see is still known."""
        return self.stamp is None or self.text is not None


NOTHING = Sight(None, None)
UNKNOWN = Sight((0, 0), None)


def see(root: str, path: str, before: Sight | None, *, with_text: bool) -> Sight | None:
    """Look at a file; None if it is none of which anything is told: large, binary, a link.

    A file below a symbolic link is not in the tree, whatever the index says: it counts as gone.

    Args:
        root: the work tree.
        path: relative to it.
        before: returned as it is if the file still bears its stamp.
        with_text: whether to read it.
    """
    try:
        descriptor = _open(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except (OSError, ValueError):  # a link, unreadable, no name of a file
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        if before and before.stamp == stamp:
            return before
        if not with_text:
            return Sight(stamp, None)
        text = text_of(os.read(descriptor, FILE_BYTES))
    finally:
        os.close(descriptor)
    return None if text is None else Sight(stamp, text)


def _open(root: str, path: str) -> int:
    """Open a file of a work tree; each folder on the way is opened as one, never as a link."""
    *folders, name = path.split("/")
    above = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=above)
            os.close(above)
            above = inner
        return os.open(name, _FILE, dir_fd=above)
    finally:
        os.close(above)


def text_of(data: bytes) -> str | None:
    """Return the text of a file with plain line ends, None if it is binary."""
    if b"\0" in data[:_BINARY_BYTES]:
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


class Sights:
    """What was last seen in each file; the texts longest unchanged go first."""

    def __init__(self) -> None:
        self._seen: dict[str, Sight] = {}
        self._chars: OrderedDict[str, int] = OrderedDict()
        self._total = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def get(self, path: str) -> Sight | None:
        """Return what was seen there, None if nothing was noted."""
        return self._seen.get(path)

    def keep(self, path: str, sight: Sight) -> None:
        """Note what is there now."""
        self.drop(path)
        self._seen[path] = sight
        self._chars[path] = len(sight.text or "")
        self._total += self._chars[path]
        while self._total > KEPT_CHARS:
            oldest, chars = self._chars.popitem(last=False)
            self._total -= chars
            self._seen[oldest] = self._seen[oldest]._replace(text=None)

    def drop(self, path: str) -> None:
        """Forget what was there: git has it."""
        self._seen.pop(path, None)
        self._total -= self._chars.pop(path, 0)
