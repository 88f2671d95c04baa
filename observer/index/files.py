"""The files of an index between two runs: its settled segments, and a list of them.

The list is replaced in one step after the files that it names are on the disk, so it always
describes a complete index. Files that no list names are left over from a crash and deleted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec

from observer.core.paths import make_private, read_plain
from observer.core.value import Value, decode_json
from observer.index.arrays import CorruptFile, load, save
from observer.index.segment import Segment
from observer.index.segment_builder import facts_of, loaded

FORMAT = 2
"""Raised when what a segment holds, or how text becomes numbers, changes."""

TRIES = 3

_LIST = "index.json"


class _Listed(Value):
    epoch: str
    format: int = FORMAT
    segments: tuple[str, ...] = ()


class Files:
    """The folder of one index; one process writes it, any number may read.

    Args:
        folder: created on the first write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: WeakKeyDictionary[Segment, str] = WeakKeyDictionary()

    def load(self, epoch: str) -> list[Segment]:
        """Return the settled segments, oldest first; none if they are of another epoch or torn."""
        # Who owns the folder may replace files while another process opens them.
        tries = (self._load(epoch) for _ in range(TRIES))
        return next(filter(None, tries), [])

    def _load(self, epoch: str) -> list[Segment]:
        try:
            raw = read_plain(self._folder / _LIST)
            listed = decode_json(raw, _Listed)
            if (listed.epoch, listed.format) != (epoch, FORMAT):
                return []
            found = [loaded(load(self._folder / name)) for name in listed.segments]
        except (OSError, CorruptFile, msgspec.MsgspecError, ValueError, KeyError):
            return []
        self._names.update(zip(found, listed.segments, strict=True))
        return found

    def damaged(self) -> list[str]:
        """Return the names of the files that cannot be read, or are not what was written."""
        # Who owns the folder may replace files meanwhile.
        for _ in range(TRIES):
            if not (found := self._damaged()):
                break
        return found

    def _damaged(self) -> list[str]:
        try:
            listed = decode_json(read_plain(self._folder / _LIST), _Listed)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.MsgspecError):
            return [_LIST]
        return [name for name in listed.segments if not self._is_whole(name)]

    def _is_whole(self, name: str) -> bool:
        try:
            load(self._folder / name)
        except CorruptFile:
            return False
        return True

    def has(self, one: Segment) -> bool:
        """Return True if a segment is in a file."""
        return one in self._names

    def settle(self, epoch: str, segments: Sequence[Segment]) -> list[Segment]:
        """Make these the settled segments; returns them as they are on the disk, mapped.

        Raises:
            OSError: the disk is full or read-only; the former ones stay settled.
        """
        make_private(self._folder)
        names = tuple(map(self._named, segments))
        listed = _Listed(epoch=epoch, segments=names)
        unfinished = self._folder / f".{_LIST}"
        unfinished.write_bytes(msgspec.json.encode(listed))
        unfinished.replace(self._folder / _LIST)
        mapped = [self._mapped(*pair) for pair in zip(segments, names, strict=True)]
        self._names.update(zip(mapped, names, strict=True))
        self._sweep({_LIST, *names})
        return mapped

    def _mapped(self, one: Segment, name: str) -> Segment:
        """Return a segment that need not be in memory, with the same rows buried."""
        if self.has(one):
            return one
        try:
            found = loaded(load(self._folder / name))
        except CorruptFile:  # the next start makes it again
            return one
        found.mark_rows_deleted(one.buried)
        return found

    def _named(self, one: Segment) -> str:
        if name := self._names.get(one):
            return name
        # Named by what it ends with and its size: a merger and its last part differ in size.
        name = f"{one.last_change:012d}-{one.size}.segment"
        save(self._folder / name, facts_of(one), one.arrays)
        return name

    def _sweep(self, kept: set[str]) -> None:
        for entry in os.scandir(self._folder):
            if entry.name not in kept:
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - a name from scandir
