"""Tombstones of purged events: keyed hashes, enough to recognise an event that comes again.

They stand in a file beside the database, so that neither a rebuild nor an older copy brings back
what was purged. The key is random and never leaves the home.
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

    `file` is a key, the sorted marks and a digest, with a copy beside it; there is none before the
    first purge. Raises StoreUnavailable: it cannot be read, or is damaged.
    """

    def __init__(self, file: Path) -> None:
        self._files = (file, file.with_name(f"{file.name}.copy"))
        held = _held(self._files)
        self._key, self._marks = held[:KEY_BYTES], held[KEY_BYTES:]

    def __len__(self) -> int:
        return len(self._marks) // MARK_BYTES

    def names(self, event_id: str, dedup: str, places: Sequence[str]) -> bool:
        """Return True if an event, or another report of it, was purged; `places` as `places_of`."""
        if not self._marks:
            return False
        for mark in self._made(event_id, dedup, places):
            place = bisect_left(range(len(self)), mark, key=self._at)
            if self._at(place) == mark:
                return True
        return False

    def add(self, events: Iterable[Marked]) -> int:
        """Add events, and see them on the disk; return how many marks. Raises OSError: none was."""
        self._key = self._key or secrets.token_bytes(KEY_BYTES)
        known = set(map(self._at, range(len(self))))
        made = {mark for event in events for mark in self._made(*event)} - known
        if made:
            self._marks = b"".join(sorted(known | made))
            held = self._key + self._marks
            digest = hashlib.blake2b(held, digest_size=DIGEST_BYTES).digest()
            for file in self._files[::-1]:
                make_private(file.parent)
                replace(file, held + digest)
        return len(made)

    def _made(self, event_id: str, dedup: str, places: Sequence[str]) -> Iterator[bytes]:
        names = [("id", event_id), *(("dedup", place, dedup) for place in places or ("",) if dedup)]
        for parts in names:
            data = "\0".join(parts).encode("utf-8", "surrogatepass")
            yield hmac.digest(self._key, data, "sha256")[:MARK_BYTES]

    def _at(self, place: int) -> bytes:
        return self._marks[place * MARK_BYTES : (place + 1) * MARK_BYTES]


def places_of(project: Project | Place) -> tuple[str, ...]:
    """Return a key for a project that is the same in this home and in a new one."""
    if isinstance(project, Place):
        known = [*project.remotes, project.common_dir, project.root]
    else:
        known = [*project.remotes, *project.common_dirs, *project.roots]
    return tuple(filter(None, known))


def _held(files: Sequence[Path]) -> bytes:
    """Return key and marks of the first of some files that is there and not damaged."""
    faults = []
    for each in files:
        try:
            held = read_plain(each)
        except FileNotFoundError:
            continue
        except OSError as error:
            faults.append(f"{each}: {error.strerror or error}")
            continue
        is_signed = len(held) % MARK_BYTES == DIGEST_BYTES  # not by an early observer
        digest = held[-DIGEST_BYTES:] if is_signed else b""
        held = held.removesuffix(digest)
        made = hashlib.blake2b(held, digest_size=DIGEST_BYTES).digest()
        is_whole = made == digest if is_signed else len(held) % MARK_BYTES == 0
        if not held or (is_whole and len(held) >= KEY_BYTES):
            return held
        faults.append(f"{each}: it is damaged")
    if faults:  # without them what was purged would come back unnoticed
        raise StoreUnavailable(faults[0], hint="put a copy of yours in its place")
    return b""
