"""Values of the notes API, what it works with, and the checks of what is said and changed."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from observer.core.clock import LAST_MS
from observer.core.errors import (
    BadInput,
    CapturedUserOnly,
    DaemonUnavailable,
    PastImmutable,
    RuleUserOnly,
    SecretRefused,
)
from observer.core.events import AnyBody, Event, Layer, Reference, Scope
from observer.core.filters import RECORDED_KINDS
from observer.core.json_text import dump
from observer.core.model import UNASSIGNED, Item, Project, Receipt
from observer.core.text import is_utf8
from observer.core.value import Value
from observer.observations.note_reducer import CONTENT_CHARS, LINKS, METADATA_CHARS, TAGS, note_type
from observer.redaction.redact import redact_text, secret_class
from observer.search.candidates import Sources
from observer.search.handles import around
from observer.store.interface import Store

Author = Literal["person", "agent"]
"""Who asks. Only a person approves rules, and changes those that are approved."""


class Note(Value):
    """What to remember.

    `confidence` is 0 to 1. `key` makes it replace the note under that key in its scope. Without a
    `layer` the type decides it. `supersedes` and `amends` name notes by id, `links` anything else.
    `expires_ms` is when it stops to hold.
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
    """What to change of a note; None leaves a field as it is, an `expires_ms` of 0 means never."""

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
    """A note near another one: `meaning` is the cosine, 0 without a model; `words` the share."""

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

    `project` is a name, empty for personal and team notes. `near` are standing notes, nearest
    first, of which nobody has said yet whether they still hold beside this one; `dangling` are
    titles that no note has yet.
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
    """One event in a note's life (from 1), and the note after it; `stands` unless taken back."""

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


class NoteAccess(NamedTuple):
    """What the notes of one owner are read and written with; without a `record` only read."""

    store: Store
    owner: str
    now_ms: Callable[[], int]
    sources: Callable[[], AbstractContextManager[Sources]]
    record: Record | None

    def write(
        self, *bodies: AnyBody, author: Author, folder: str = "", project_id: int | None
    ) -> Receipt:
        """Store all or nothing; return what became of the first. Raises: DaemonUnavailable."""
        if self.record is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        events = [
            Event(
                id=f"note-{uuid.uuid4().hex}",
                at_ms=self.now_ms(),
                client="observer",
                cwd=folder,
                body=body,
                author=author,
            )
            for body in bodies
        ]
        return self.record(events, project_id)[0]


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


NAME_CHARS = 2_000
"""Most of a title, key, category or tag; what is shown of it is shorter."""


def check(note: Note | Changes) -> None:
    """Raise BadInput for what cannot be kept as it is, SecretRefused for a secret, by its class."""
    if note.content is not None and not any(
        c.isprintable() and not c.isspace() for c in note.content
    ):
        raise BadInput("content is empty", hint="say what to remember")
    if len(note.content or "") > CONTENT_CHARS:
        raise BadInput(f"content is longer than {CONTENT_CHARS:,} characters", hint="part it")
    _check_figures(note)
    if len(note.tags or ()) > TAGS:
        raise BadInput(f"more than {TAGS} tags", hint="keep those that group notes")
    if isinstance(note, Note) and len(note.links) > LINKS:
        raise BadInput(f"more than {LINKS} links", hint="keep those that matter")
    metadata, key = metadata_text(note.metadata), note.key if isinstance(note, Note) else ""
    names = [name for name in (note.title, note.category, *(note.tags or ()), key) if name]
    check_texts((note.content, metadata, *names))
    if max(map(len, names), default=0) > NAME_CHARS:
        raise BadInput(
            f"a title, key, category or tag is longer than {NAME_CHARS:,} characters",
            hint="say it in the content",
        )
    # A span that is taken out on the way would leave no JSON, and a key that nobody knows.
    if (redact_text(metadata), redact_text(key)) != (metadata, key):
        raise BadInput("metadata or key holds a private span", hint="leave it out")


def metadata_text(metadata: dict[str, object] | None) -> str:
    """Return metadata as kept: JSON, empty for none. Raises: BadInput (it is none, too large)."""
    if not metadata:
        return ""
    try:
        text = dump(metadata).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"metadata is no JSON: {error}", hint="use plain values") from error
    if len(text) > METADATA_CHARS:
        raise BadInput(f"metadata is longer than {METADATA_CHARS:,} characters", hint="keep less")
    return text


def free_name(base: str, taken: Container[str]) -> str:
    """Return a name that is not taken: the base, else with the first number behind it, from 2."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def check_kept_here(item: Item) -> None:
    """Raise BadInput, which names the file, for a change in the store alone of what is a file."""
    if item.file:
        raise BadInput(
            f"note {item.id} is kept as a file, which decides what it says",
            hint=f"edit, move or delete {item.file}",
        )


def check_change(item: Item, author: Author) -> None:
    """Raise BadInput, PastImmutable or RuleUserOnly for what an agent may not change."""
    check_rule(item, author)
    if author == "agent" and item.kind == "inference":
        raise BadInput(
            f"{item.id} is an inference, kept as the user approved it",
            hint="mint another one, and delete this one",
        )
    if author == "agent" and item.layer == "past":
        raise PastImmutable(
            f"note {item.id} records what happened, and cannot be changed",
            hint=f"remember a note titled '[Amendment] {item.title}' that amends {item.id}",
        )


def check_rule(item: Item, author: Author) -> None:
    """Raise RuleUserOnly where an agent would change a rule that a person stands for."""
    if author == "agent" and item.layer == "rule" and item.approval == "approved":
        raise RuleUserOnly(
            f"note {item.id} is a rule that a person approved",
            hint="propose the change to the person in words",
        )


def check_forget(item: Item, author: Author) -> None:
    """Raise CapturedUserOnly or RuleUserOnly for what an agent neither deletes nor brings back."""
    check_rule(item, author)
    if author == "agent" and item.kind not in RECORDED_KINDS:
        raise CapturedUserOnly(
            f"{item.id} is a {item.type} that was captured, not a note",
            hint=f"ask the person to run: observer forget {item.id}",
        )


def _check_figures(note: Note | Changes) -> None:
    if note.confidence is not None and not 0.0 <= note.confidence <= 1.0:
        raise BadInput("confidence must be 0.0 to 1.0", hint="leave it out for 0.5")
    if not 0 <= (note.expires_ms or 0) <= LAST_MS:
        raise BadInput("it would expire on no day that has a date", hint="leave it out for never")
    if note_type(note.type or "") == "inference":
        raise BadInput(
            "an inference rests on notes, so it is minted, not remembered", hint="use another type"
        )


def check_texts(texts: Iterable[str | None]) -> None:
    """Raise BadInput for what is no Unicode, SecretRefused for a secret, wherever it is kept."""
    for text in filter(None, texts):
        if not is_utf8(text):
            raise BadInput("a text holds half a character", hint="send it as UTF-8")
        if found := secret_class(text):
            raise SecretRefused(
                f"content looks like it holds a secret ({found})",
                hint="to keep it on purpose, put it where secrets belong (a password manager, or a"
                " file that only you read), and remember that place",
            )
