"""The index of all items: kept up to date with the store, read through a `View`.

It is derived, and follows the store's numbered changes: new ones become a small segment, and small
segments are merged. A query waits for new changes, never for merges or files.

Its files are the settled segments and a list of them, which is replaced in one step after the files
that it names are on the disk. Files that no list names are left over from a crash and deleted.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product, takewhile
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from observer.core.model import ItemChange
from observer.core.paths import make_private, read_plain
from observer.core.value import Value, decode_json
from observer.index.arrays import CorruptFile, load, release, save
from observer.index.segment import (
    Codes,
    FileFacts,
    Segment,
    Stem,
    loaded,
    mean_length,
    merged,
    segment,
)
from observer.index.view import View

FORMAT = 2
"""Raised when what a segment holds, or how text becomes numbers, changes."""

TRIES = 3

_LIST = "index.json"


class _Listed(Value):
    epoch: str
    format: int = FORMAT
    segments: tuple[str, ...] = ()


class Files:
    """The folder of one index; one process writes it, any number may read."""

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
        torn: list[str] = []
        # Who owns the folder may replace files meanwhile.
        for _ in range(TRIES):
            torn = []
            try:
                listed = decode_json(read_plain(self._folder / _LIST), _Listed)
            except FileNotFoundError:
                return []
            except (OSError, msgspec.MsgspecError):
                torn, listed = [_LIST], _Listed(epoch="")
            for name in listed.segments:
                try:
                    load(self._folder / name)
                except CorruptFile:
                    torn.append(name)
            if not torn:
                break
        return torn

    def __contains__(self, one: Segment) -> bool:
        return one in self._names

    def settle(self, epoch: str, segments: Sequence[Segment]) -> list[Segment]:
        """Make these the settled segments; returns them as they are on the disk, mapped.

        Raises: OSError (the disk is full or read-only; the former ones stay settled).
        """
        make_private(self._folder)
        names: list[str] = []
        for one in segments:
            # Named by what it ends with and its size: a merger and its last part differ in size.
            names.append(self._names.get(one) or f"{one.last_change:012d}-{one.size}.segment")
            if one not in self:
                facts = FileFacts(last_change=one.last_change, model=one.model)
                save(self._folder / names[-1], facts, one.arrays)
        listed = _Listed(epoch=epoch, segments=tuple(names))
        unfinished = self._folder / f".{_LIST}"
        unfinished.write_bytes(msgspec.json.encode(listed))
        unfinished.replace(self._folder / _LIST)
        mapped = []
        for one, name in zip(segments, names, strict=True):
            mapped.append(one)
            if one not in self:
                with suppress(CorruptFile):  # the next start makes it again
                    mapped[-1] = loaded(load(self._folder / name))
                    mapped[-1].mark_rows_deleted(one.buried)
        self._names.update(zip(mapped, names, strict=True))
        for entry in os.scandir(self._folder):
            if entry.name not in {_LIST, *names}:
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - a name from scandir
        return mapped


BATCH = 2_000
"""Changes taken up at a time: a fifth of a second."""

PATIENCE = 4
"""Batches for which somebody who asks is made to wait."""

SMALL = 256
"""Rows below which segments are merged at once, while somebody waits: a few milliseconds."""

SETTLED = 4_096
"""Rows from which on a segment is worth a file."""

FULL = 65_536
"""Rows from which on a segment is never merged again."""

LAZY, EAGER = 1 / 3, 4.0
"""A segment is merged with all that is newer once it is at most so many times as large as that:
lazy while more is coming, eager in times of quiet."""

_log = logging.getLogger(__name__)


class Feed(Protocol):
    """What the index is made of: see `observer.store.reader.StoreReader`."""

    def epoch(self) -> str:
        """Return the name of the numbering of changes; another one begins anew."""

    def newest_change(self) -> int:
        """Return the number of the last change; 0 without any."""

    def changes(self, *, after: int, model: str, limit: int) -> Sequence[ItemChange]:
        """Return the next changes, each item once, with its vector of a model."""


class Index:
    """The index in a folder, safe to share between threads; one process at most is its owner."""

    def __init__(self, folder: Path, *, stem: Stem, is_owner: bool) -> None:
        self._files = Files(folder)
        self._codes = Codes(stem)
        self._is_owner = is_owner
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._epoch = ""
        self._model = ""
        self._dimensions = 0
        self._segments: list[Segment] = []
        self._merging = 0  # segments, the oldest, that others leave alone

    def use(self, model: str, dimensions: int) -> None:
        """Take the vectors of another model from now on."""
        with self._lock:
            self._model, self._dimensions = model, dimensions

    def refresh(self, feed: Feed) -> None:
        """Take up all that changed; others get their turn in between."""
        with self._keeping:
            is_complete = False
            while not is_complete:
                with self._lock:
                    is_complete = self._take_up(feed, at_most=1)
                self._merge_all(LAZY)
                self._settle()

    def prepare(
        self, feed: Feed, *, pause: Callable[[], None] = lambda: None
    ) -> Callable[[], None]:
        """Index what a transaction has changed, and return what takes it up once it is committed.

        `pause`, called before each item, may take its time. Many changes are left to `refresh`.
        """
        with self._lock:
            epoch, model, dimensions = self._epoch, self._model, self._dimensions
            last, mean = self._last, mean_length(self._segments)
        if epoch != f"{feed.epoch()} {model}":
            return lambda: None
        changes = feed.changes(after=last, model=model, limit=BATCH)
        if not 0 < len(changes) < BATCH:
            return lambda: None
        new = segment(
            changes, self._codes, model=model, dimensions=dimensions, mean_length=mean, pause=pause
        )

        def take_up() -> None:
            with self._lock:
                if (self._epoch, self._model, self._last) == (epoch, model, last):
                    self._append(new, mean)

        return take_up

    def tidy(self) -> None:
        """Make few segments of many, for the next questions, and let go of what that took."""
        with self._keeping:
            self._merge_all(EAGER)
            self._settle()
        with self._lock:
            self._codes.shrink()

    def rest(self) -> None:
        """Take what is mapped of the files out of memory, until somebody asks."""
        with self._lock:
            for each in self._segments:
                for array in each.arrays.values():
                    release(array)

    @contextmanager
    def view(self, feed: Feed) -> Iterator[View]:
        """Lend a view of all that the feed has, or of its older part: see `View.is_complete`."""
        with self._lock:
            # A process that only reads is gone before anybody else could make the index for it.
            patience = PATIENCE if self._is_owner else sys.maxsize
            is_complete = self._take_up(feed, at_most=patience)
            segments = [each.frozen() for each in self._segments]
        yield View(segments, self._codes, is_complete=is_complete)

    def embedded(self) -> int:
        """Count the indexed items with a whole vector of the model in use."""
        with self._lock:
            return sum(each.whole(self._model) for each in self._segments)

    def to_embed(self) -> int:
        """Count the indexed items that are to have a vector."""
        with self._lock:
            return sum(each.to_embed for each in self._segments)

    def close(self) -> None:
        """Write what is not on the disk yet."""
        with self._keeping:
            self._settle(smallest=1)

    def _take_up(self, feed: Feed, *, at_most: int) -> bool:
        """Index some batches of changes; return True if those were all."""
        # Rows that were taken up for another model lack what the store has of this one.
        epoch = f"{feed.epoch()} {self._model}"
        if epoch != self._epoch:
            self._begin(epoch, newest=feed.newest_change())
        if feed.newest_change() <= self._last:
            return True
        for _ in range(at_most):
            changes = feed.changes(after=self._last, model=self._model, limit=BATCH)
            if changes:
                mean = mean_length(self._segments)
                new = segment(
                    changes, self._codes, model=self._model, dimensions=self._dimensions,
                    mean_length=mean,
                )  # fmt: skip
                self._append(new, mean)
            if len(changes) < BATCH:
                return True
        return False

    @property
    def _last(self) -> int:
        return self._segments[-1].last_change if self._segments else 0

    def _begin(self, epoch: str, *, newest: int) -> None:
        self._epoch = epoch
        self._segments = self._files.load(epoch)
        if self._last > newest:
            self._segments = []  # of a store that was put back to an earlier state
        self._merging = 0
        if not self._segments:
            return
        # Every row is dead that a later segment has a newer version of.
        newest_first = np.concatenate([each.ids for each in self._segments])[::-1]
        is_newest = np.zeros(len(newest_first), np.bool_)
        is_newest[np.unique(newest_first, return_index=True)[1]] = True
        ends = np.cumsum([each.size for each in self._segments])
        parts = np.split(is_newest[::-1], ends[:-1])
        for each, newest_rows in zip(self._segments, parts, strict=True):
            each.mark_rows_deleted(~newest_rows)

    def _append(self, new: Segment, mean: float) -> None:
        for older in self._segments:
            older.mark_deleted(new.ids)
        self._segments.append(new)
        if run := self._run(LAZY, below=SMALL):
            self._segments[-len(run) :] = [merged(run, mean_length=mean)]

    def _run(self, ratio: float, *, below: int) -> list[Segment]:
        """Return the newest segments below a size that are worth merging; see `EAGER`."""
        begin, newer = len(self._segments), 0
        for place in range(begin - 1, self._merging - 1, -1):
            size = self._segments[place].size
            if size >= below:
                break
            if size <= ratio * newer:
                begin = place
            newer += size
        return self._segments[begin:]

    def _merge_all(self, ratio: float) -> None:
        """Merge what is worth it, while others ask and add to it."""
        while True:
            with self._lock:
                self._merging = 0
                run = self._run(ratio, below=FULL)
                mean = mean_length(self._segments)
                self._merging = len(self._segments) if run else 0
            if not run:
                return
            self._replace(run, [merged(run, mean_length=mean)])

    def _replace(self, run: list[Segment], by: Sequence[Segment]) -> None:
        """Put segments that say the same into the place of others, if these are still there."""
        with self._lock:
            begin = self._segments.index(run[0]) if run[0] in self._segments else 0
            end = begin + len(run)
            if self._segments[begin:end] != run:
                return
            for each, newer in product(by, self._segments[end:]):
                each.mark_deleted(newer.ids)
            self._segments[begin:end] = by

    def _settle(self, *, smallest: int = SETTLED) -> None:
        """Write the oldest segments, down to a size, so that they need not be in memory."""
        if not self._is_owner:
            return
        with self._lock:
            epoch = self._epoch
            run = list(takewhile(lambda each: each.size >= smallest, self._segments))
        if all(one in self._files for one in run):
            return
        try:
            mapped = self._files.settle(epoch, run)
        except OSError as error:
            # It is derived: the next start makes it again.
            _log.warning("cannot write the index: %s", error)
        else:
            self._replace(run, mapped)
