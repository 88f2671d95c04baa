"""Values of the notes API, the writer that makes events of changes, and the scope of a note."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from observer.core.errors import DaemonUnavailable
from observer.core.events import AnyBody, Event, Layer, Reference, Scope
from observer.core.model import UNASSIGNED, Item, Project, Receipt
from observer.core.value import Value
from observer.search.handles import around

Author = Literal["person", "agent"]
"""Who asks. Only a person approves rules, and changes those that are approved."""


class Note(Value):
    """What to remember.

    `confidence` is 0 to 1. `key` makes it replace the note under that key in its scope; without a
    key the same words again add to the note that has them. Without a `layer` the type decides it:
    decisions are past, rules are rules, all else is state. `supersedes` and `amends` name notes by
    id, `links` anything else; `[[Title]]` in the content links by title. `expires_ms` is when it
    stops to hold. `metadata` is any JSON object and is kept as it is.
    """

    content: str
    title: str = ""
    type: str = "fact"
    key: str = ""
    category: str = ""
    confidence: float | None = 0.5
    scope: Scope = "project"
    layer: Layer | None = None
    tags: tuple[str, ...] = ()
    supersedes: tuple[int, ...] = ()
    amends: tuple[int, ...] = ()
    links: tuple[Reference, ...] = ()
    expires_ms: int | None = None
    metadata: dict[str, Any] | None = None  # Any: the author's own JSON


class Changes(Value, forbid_unknown_fields=True):
    """What to change of a note; None leaves a field as it is.

    `tags` and `metadata` are the whole new ones. An `expires_ms` of 0 means never.
    """

    content: str | None = None
    title: str | None = None
    type: str | None = None
    category: str | None = None
    confidence: float | None = None
    layer: Layer | None = None
    tags: tuple[str, ...] | None = None
    expires_ms: int | None = None
    metadata: dict[str, Any] | None = None  # Any: the author's own JSON


SIMILAR = 0.72
"""The score from which two notes say nearly the same."""


class Similar(Value):
    """A note that is near another one; figures from 0 to 1.

    `meaning` is the cosine of the meanings, 0 without a model; `words` the share of different words
    that both have.
    """

    item: Item
    meaning: float
    words: float

    @property
    def nearness(self) -> float:
        """How likely both are about the same: meaning counts twice what words do."""
        return (2 * self.meaning + self.words) / 3

    @property
    def score(self) -> float:
        """How nearly both say the same: words that are the same say it surely."""
        return max(self.words, self.nearness)


MOST_NEAR = 3
"""Notes that whoever writes one is shown."""


class Remembered(Value):
    """The note as stored; `updated` if it existed before, under its key or word for word.

    `project` is the name of the project it belongs to, empty for personal and team notes.
    `near` are standing notes that may be about the same, nearest first, of which nobody has said
    yet whether they still hold beside this one; `dangling` titles it links to that no note has yet.
    """

    item: Item
    updated: bool
    project: str = ""
    near: tuple[Similar, ...] = ()
    dangling: tuple[str, ...] = ()

    @property
    def similar(self) -> tuple[Similar, ...]:
        """Those of the near notes that say nearly the same."""
        return tuple(one for one in self.near if one.score >= SIMILAR)


_ID_BITS = 48
"""As many bits of a digest name a signal: few enough for any reader of JSON."""


def signal_id(type_: str, identity: str) -> int:
    """Return the id of a signal: the same for the same thing, in every store."""
    digest = hashlib.sha256(f"{type_}|{identity}".encode()).digest()
    return int.from_bytes(digest[: _ID_BITS // 8], "big")


class Version(Value):
    """One event in the life of a note, and the note as it was after it.

    `number` counts from 1. `stands` is False for what was taken back, and for taking back itself.
    """

    number: int
    action: str
    author: str
    at_ms: int
    item: Item
    stands: bool


class NoteLink(Value):
    """One link of a note. `item` is None where nothing has that title yet."""

    kind: str
    title: str
    item: Item | None


class Connections(Value):
    """What a note leads to, in its own order, and what leads to it, newest first."""

    out: tuple[NoteLink, ...]
    back: tuple[NoteLink, ...]


Record = Callable[[Sequence[Event], int | None], Sequence[Receipt]]
"""Stores events, in the given project if one is named, and returns after the commit."""


class EventWriter:
    """Writes events of one owner's front.

    Args:
        record: the way into the log; None for a process that only reads.
        now_ms: the clock.
    """

    def __init__(self, record: Record | None, now_ms: Callable[[], int]) -> None:
        self._record = record
        self._now_ms = now_ms

    def write(
        self, *bodies: AnyBody, author: Author, folder: str = "", project_id: int | None
    ) -> Receipt:
        """Store what happened, all of it or nothing, and return what became of the first.

        Raises:
            DaemonUnavailable: this process only reads.
        """
        if self._record is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        events = [
            Event(
                id=f"note-{uuid.uuid4().hex}",
                at_ms=self._now_ms(),
                client="observer",
                cwd=folder,
                body=body,
                author=author,
            )
            for body in bodies
        ]
        return self._record(events, project_id)[0]


class NoteScope(NamedTuple):
    """Where a note belongs: a project or none, and whose it is alone."""

    project_id: int | None
    owner: str


def scope_of(item: Item) -> NoteScope:
    """Return where an item belongs."""
    return NoteScope(item.project_id, item.owner)


def is_near(item: Item, place: NoteScope) -> bool:
    """Return True if a note of that scope may refer to an item."""
    return place.project_id is None or item.project_id in {None, place.project_id}


def is_known(projects: Sequence[Project], folder: str) -> bool:
    """Return True unless a folder is there, and a note in it is the first that is heard of it."""
    is_there = Path(folder).is_absolute() and Path(folder).is_dir()
    return not is_there or around(projects, folder) is not None


def project_of(
    note: Note, chosen: int | None, projects: Sequence[Project], folder: str
) -> int | None:
    """Return the project that a note will belong to, 0 for one that nobody knows yet."""
    if note.scope != "project":
        return None
    if chosen is not None or not folder:
        return chosen or UNASSIGNED
    inside = around(projects, folder)
    return inside.id if inside else 0
