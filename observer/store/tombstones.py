"""Tombstones of purged events: keyed hashes, enough to recognise an event that comes again.

They stand in a file beside the database, so that neither a rebuild nor an older copy of the
database brings back what a person had purged. The key is random and never leaves the home; without
it the hashes identify nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from observer.core.disk import replace
from observer.core.errors import StoreUnavailable
from observer.core.model import Place, Project
from observer.core.paths import make_private, read_plain

KEY_BYTES = 32
MARK_BYTES = 16
DIGEST_BYTES = 8
"""At the end of the file: a flipped bit would bring back what was purged."""


Marked: TypeAlias = tuple[str, str, Sequence[str]]
"""An event as `Tombstones.names` takes it."""


class Tombstones:
    """The purged events of one home; made anew wherever somebody else may have added some.

    Args:
        file: a key, the sorted marks behind it, and a digest, with a copy beside it; there is none
            before the first purge.

    Raises:
        StoreUnavailable: the file cannot be read, or is damaged.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        held = _held(file)
        self._key, self._marks = held[:KEY_BYTES], held[KEY_BYTES:]

    def __len__(self) -> int:
        return len(self._marks) // MARK_BYTES

    def names(self, event_id: str, dedup: str, places: Sequence[str]) -> bool:
        """Return True if an event was purged, or another report of the same occurrence.

        `places` are what the project is known by: see `places_of`.
        """
        if not self._marks:
            return False
        for mark in self._made(event_id, dedup, places):
            place = bisect_left(range(len(self)), mark, key=self._at)
            if place < len(self) and self._at(place) == mark:
                return True
        return False

    def add(self, events: Iterable[Marked]) -> int:
        """Add events, each as `names` takes it, and see them on the disk; return how many marks.

        Raises:
            OSError: the home cannot be written; nothing was added.
        """
        self._key = self._key or secrets.token_bytes(KEY_BYTES)
        known = set(map(self._at, range(len(self))))
        made = {mark for event in events for mark in self._made(*event)} - known
        if made:
            self._marks = b"".join(sorted(known | made))
            make_private(self._file.parent)
            held = self._key + self._marks
            for file in (_copy(self._file), self._file):
                replace(file, held + _digest(held))
        return len(made)

    def _made(self, event_id: str, dedup: str, places: Sequence[str]) -> Iterator[bytes]:
        yield self._mark("id", event_id)
        if dedup:
            yield from (self._mark("dedup", place, dedup) for place in places or ("",))

    def _mark(self, *parts: str) -> bytes:
        data = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, data, "sha256")[:MARK_BYTES]

    def _at(self, place: int) -> bytes:
        return self._marks[place * MARK_BYTES : (place + 1) * MARK_BYTES]


def places_of(project: Project | Place) -> tuple[str, ...]:
    """Return a key for a project that is the same in this home and in a new one."""
    if isinstance(project, Place):
        known = (*project.remotes, project.common_dir, project.root)
    else:
        known = (*project.remotes, *project.common_dirs, *project.roots)
    return tuple(filter(None, known))


def _held(file: Path) -> bytes:
    """Return key and marks: of the file, or of its copy where that is damaged or gone."""
    fault: StoreUnavailable | None = None
    for each in (file, _copy(file)):
        try:
            return _read(each)
        except FileNotFoundError:
            continue
        except StoreUnavailable as error:
            fault = fault or error
    if fault:
        raise fault
    return b""


def _read(file: Path) -> bytes:
    try:
        held = read_plain(file)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from error
    if len(held) % MARK_BYTES == DIGEST_BYTES:
        held, digest = held[:-DIGEST_BYTES], held[-DIGEST_BYTES:]
        is_whole = _digest(held) == digest
    else:
        is_whole = len(held) % MARK_BYTES == 0  # of an observer that wrote no digest
    if held and (len(held) < KEY_BYTES or not is_whole):
        raise _unusable(file, "it is damaged")
    return held


def _copy(file: Path) -> Path:
    return file.with_name(f"{file.name}.copy")


def _digest(held: bytes) -> bytes:
    return hashlib.blake2b(held, digest_size=DIGEST_BYTES).digest()


def _unusable(file: Path, why: str) -> StoreUnavailable:
    # Without them what was purged would come back unnoticed.
    return StoreUnavailable(f"{file}: {why}", hint="put a copy of yours in its place")
