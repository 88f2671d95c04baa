"""Segments: files of records of one machine that nobody reads or changes without its keys.

A segment is JSON lines, compressed, encrypted with age to a key of its own, and signed; only the
key files ever change. A name has who signed it, the first and last sequence, the file's hash:

    segments/<machine>-<first>-<last>-<hash>.segment
    segments/<machine>-<first>-<last>-<hash>.keys     its key, encrypted to each member
    keys/<member>.<by>.keys                           keys for one that was let in later
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from observer.core.paths import read_head
from observer.core.value import chunks, decode_json
from observer.sync.keys import (
    Identity,
    Member,
    Unreadable,
    new_secret,
    publish,
    recipient_of,
    seal,
    unseal,
    verify,
)
from observer.sync.record import Record

SEGMENTS = "segments"
KEYS = "keys"
SEGMENT_BYTES = 4 << 20
"""Of JSON in one segment, unless a single record is larger."""
LARGEST_BYTES = 256 << 20
"""Of JSON, and of a file; of what is larger no more is read or unpacked."""
_MAGIC = b"observer segment 1\n"
_SIGNATURE_BYTES = 64
_NAME = re.compile(r"([0-9a-f]{32})-(\d{1,18})-(\d{1,18})-([0-9a-f]{32})\.segment\Z")

Wrapped = dict[str, str]
"""A segment's key in base 64, encrypted to each member (by id), or keys of segments (by stem)."""


class SegmentName(NamedTuple):
    """What the name of a segment's file says."""

    machine: str
    first: int
    last: int
    digest: str

    @property
    def stem(self) -> str:
        """Return the name without its ending."""
        return f"{self.machine}-{self.first:012}-{self.last:012}-{self.digest}"


def segment_named(name: str) -> SegmentName | None:
    """Return what a file's name says; None if it is not a segment's."""
    found = _NAME.match(name)
    if not found:
        return None
    segment = SegmentName(found[1], int(found[2]), int(found[3]), found[4])
    return segment if name == f"{segment.stem}.segment" else None


def batches(records: Sequence[Record]) -> Iterator[tuple[Sequence[Record], bytes]]:
    """Yield the records by segments, each with its JSON lines."""
    lines = ((one, msgspec.json.encode(one)) for one in records)
    sizes = {"most": len(records), "most_size": SEGMENT_BYTES}
    for part in chunks(lines, size_of=lambda each: len(each[1]), **sizes):
        yield [one for one, _ in part], b"\n".join(line for _, line in part)


def write_segment(
    folder: Path, mine: Identity, records: Sequence[Record], lines: bytes, to: Iterable[Member]
) -> SegmentName:
    """Write records of one origin as a segment for members; OSError if nothing of it is there."""
    secret = new_secret()
    sealed = seal(zstandard.ZstdCompressor(level=3).compress(lines), recipient_of(secret))
    first, last = records[0].sequence, records[-1].sequence
    data = _MAGIC + mine.sign(_signed(mine.share, mine.id, first, last, sealed)) + sealed
    segment = SegmentName(mine.id, first, last, hashlib.sha256(data).hexdigest()[:32])
    # The keys first: a segment that is there can be read.
    keys = {one.id: wrapped(secret, one) for one in to}
    publish(folder / SEGMENTS / f"{segment.stem}.keys", msgspec.json.encode(keys))
    publish(folder / SEGMENTS / f"{segment.stem}.segment", data)
    return segment


def read_segment(
    folder: Path, segment: SegmentName, by: Member, mine: Identity, later: Mapping[str, str]
) -> list[Record]:
    """Return the records of a segment of a machine; Unreadable if it is torn or not for us."""
    try:
        data = read_head(folder / SEGMENTS / f"{segment.stem}.segment", LARGEST_BYTES)
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest()[:32] != segment.digest or not data.startswith(_MAGIC):
        raise Unreadable("it is torn, or not all of it has arrived")
    body = data[len(_MAGIC) :]
    signature, sealed = body[:_SIGNATURE_BYTES], body[_SIGNATURE_BYTES:]
    signed = _signed(mine.share, by.id, segment.first, segment.last, sealed)
    verify(by.card.verify_key, signature, signed)
    secret = key_of(folder, segment, mine, later)
    if secret is None:
        raise Unreadable("no key for this machine has arrived")
    packed = unseal(sealed, [secret])
    try:
        if not 0 <= zstandard.frame_content_size(packed) <= LARGEST_BYTES:
            raise Unreadable(f"it holds more than {LARGEST_BYTES >> 20} MiB")
        lines = zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise Unreadable(f"it cannot be unpacked: {error}") from error
    return _records(lines, segment, by.origin)


def wrapped(secret: str, to: Member) -> str:
    """Return a segment's key encrypted to a member."""
    return base64.b64encode(seal(secret.encode(), to.card.recipient)).decode("ascii")


def key_of(
    folder: Path, segment: SegmentName, mine: Identity, later: Mapping[str, str]
) -> str | None:
    """Return the key of a segment, None if this machine has none."""
    at_first = read_keys(folder / SEGMENTS / f"{segment.stem}.keys")
    for found in (later.get(segment.stem), at_first.get(mine.id), *at_first.values()):
        with suppress(Unreadable, ValueError):
            if found:
                secrets = (mine.secret, *mine.former)
                return unseal(base64.b64decode(found), secrets).decode("ascii")
    return None


def keys_for(folder: Path, machine: str) -> Wrapped:
    """Return the keys that were encrypted to a machine after it was let in, by segment."""
    found: Wrapped = {}
    for path in sorted((folder / KEYS).glob(f"{machine}.*.keys")):
        found |= read_keys(path)
    return found


def read_keys(path: Path) -> Wrapped:
    """Return a file of keys; one that is not there or not whole has none."""
    with suppress(OSError, msgspec.DecodeError):
        return decode_json(read_head(path, LARGEST_BYTES), Wrapped)
    return {}


def _signed(share: str, machine: str, first: int, last: int, sealed: bytes) -> bytes:
    digest = hashlib.sha256(sealed).hexdigest()
    return f"observer segment\0{share}\0{machine}\0{first}\0{last}\0{digest}".encode()


def _records(lines: bytes, segment: SegmentName, origin: str) -> list[Record]:
    """Return the records, which are all of one origin, linked, and as many as the name says."""
    try:
        records = [decode_json(line, Record) for line in lines.split(b"\n")]
    except msgspec.DecodeError as error:
        raise Unreadable(f"it holds what is no record: {error}") from error
    if [one.sequence for one in records] != list(range(segment.first, segment.last + 1)):
        raise Unreadable("it does not hold the records that its name says")
    if any(one.origin != origin for one in records):
        raise Unreadable("it holds records of an origin that is not its machine's")
    if any(later.previous != one.hash() for one, later in pairwise(records)):
        raise Unreadable("its records do not continue each other")
    return records
