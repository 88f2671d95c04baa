"""A record of a share: what one home lets others know of one item, and how records are checked.

The records of a home (their *origin*) in a share form a chain; nothing is rewritten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from observer.core.errors import ShareUnavailable
from observer.core.events import Scope
from observer.core.filters import OURS, OWN
from observer.core.text import one_line
from observer.core.value import Value

HASH_DIGITS = 64
PERSON_CHARS = 60
RecordKind = Literal["item", "tombstone", "withheld"]


class NotMember(ShareUnavailable):
    """The machine is not in the share, or not any more."""


class ProjectKey(Value):
    """What machines recognise a project by: normalised remotes, oldest commit; else its name."""

    name: str
    remotes: tuple[str, ...] = ()
    root_commit: str = ""


class Record(Value):
    """One item as it was when its origin sent it, or that it is gone.

    `origin` is the uuid of a home, `sequence` counts its records in this share from 1 without gaps,
    `previous` is the hash of the one before ('' of the first). `author` is what its sender calls
    himself. `body` is the item as JSON; a tombstone has none, one that was purged later
    ("withheld") the hash that it had.
    """

    origin: str
    sequence: int
    previous: str
    kind: RecordKind
    uuid: str
    project: ProjectKey
    author: str
    visibility: Scope
    at_ms: int
    body: str = ""

    def hash(self) -> str:
        """Return the SHA-256 of the record's canonical JSON, as hexadecimal digits."""
        if self.kind == "withheld":
            return self.body
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


class Refused(NamedTuple):
    """Records of an origin that were not taken from `sequence` on, why, and whose, if known."""

    origin: str
    sequence: int
    why: str
    person: str = ""


class Pulled(NamedTuple):
    """What a carrier had: records in order of each origin, and what of it cannot be trusted.

    `people` has as whom each origin's machine or login was let in, `me` is who asks.
    """

    records: Sequence[Record]
    refused: Sequence[Refused] = ()
    people: Mapping[str, str] = {}
    me: str = ""

    def whose(self, origin: str) -> str:
        """Return whose the records of an origin are, as it is shown."""
        person = self.people.get(origin, "")
        return OWN if person and person == self.me else shown_name(person)


def shown_name(person: str) -> str:
    """Return the name of another person in one line; none passes for the owner's."""
    name = one_line(person, PERSON_CHARS)
    return "somebody" if name in OURS else name


def withheld(record: Record) -> Record:
    """Return what stands in a chain for a record of which nothing else is to be there."""
    fields = {"project": ProjectKey(name=""), "author": "", "at_ms": 0, "body": record.hash()}
    return replace(record, kind="withheld", **fields)


def chained(
    records: Iterable[Record], last: Mapping[str, tuple[int, str]]
) -> tuple[list[Record], list[Refused]]:
    """Return the records that continue the chain of their origin, and what does not.

    last: (sequence, hash) of the newest known record of each origin.
    """
    known = dict(last)
    taken: list[Record] = []
    refused: dict[str, Refused] = {}
    for record in records:
        sequence, digest = known.get(record.origin, (0, ""))
        if record.sequence <= sequence or record.origin in refused:
            continue
        own = record.hash()
        is_next = (record.sequence, record.previous) == (sequence + 1, digest)
        if not is_next or len(own) != HASH_DIGITS:
            why = f"does not continue record {sequence}"
            refused[record.origin] = Refused(record.origin, record.sequence, why)
            continue
        taken.append(record)
        known[record.origin] = (record.sequence, own)
    return taken, list(refused.values())
