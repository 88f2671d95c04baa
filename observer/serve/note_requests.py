"""Requests about notes as JSON, for HTTP and the command line.

Decoding ends here: `notes` gets its own types only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec

from observer.core.errors import BadInput, NotFound
from observer.core.model import Item
from observer.core.text import did_you_mean
from observer.core.value import decode_json
from observer.memory.api import Memory
from observer.notes.notes import Notes
from observer.notes.pairs import How, Settlement
from observer.notes.values import Author, Changes, Note, Similar
from observer.observations.note_reducer import note_type
from observer.search.start import NOTE_TYPES
from observer.tools.note_api import row, stands

T = TypeVar("T")
JsonObject = dict[str, Any]  # JSON of an answer


class Remembering(Note, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /remember: a note, and its project: named, or the one around `cwd`."""

    project: str | None = None
    cwd: str = ""
    author: Author = "agent"


class Forgetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of POST /forget."""

    id: int | str
    author: Author = "agent"


class GiveRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /given: how an item is given unasked; see `Choices.give`."""

    id: int | str
    how: str
    author: Author = "agent"


class NoteRequest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="action"
):
    """Base of the bodies of POST /note; `id` is an exact handle."""

    id: int | str
    author: Author = "agent"


class EditRequest(NoteRequest, frozen=True, kw_only=True, tag="edit"):
    """Change some fields."""

    changes: Changes


class UndoRequest(NoteRequest, frozen=True, kw_only=True, tag="undo"):
    """Undo the last change."""


class ApproveRequest(NoteRequest, frozen=True, kw_only=True, tag="approve"):
    """Approve it in a person's name."""


class PromoteRequest(NoteRequest, frozen=True, kw_only=True, tag="promote"):
    """Make a personal note one of a project, or of the team that works on it."""

    project: str
    to: Literal["project", "team"] = "project"


class LinkRequest(NoteRequest, frozen=True, kw_only=True, tag="link"):
    """Link it to another item."""

    target: int | str
    kind: str = "explicit"


class Unlink(NoteRequest, frozen=True, kw_only=True, tag="unlink"):
    """Remove links to an item."""

    target: int | str
    kind: str = ""


class SettleRequest(NoteRequest, frozen=True, kw_only=True, tag="settle"):
    """Say what holds of a pair; see `Settlement`."""

    how: How
    other: int | str
    content: str = ""


Change = (
    EditRequest
    | UndoRequest
    | ApproveRequest
    | PromoteRequest
    | LinkRequest
    | Unlink
    | SettleRequest
)
"""The body of POST /note."""


def remember(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /remember.

    Raises:
        BadInput: the body is not what is documented; a type that no note has; and as
            `Notes.remember`.
    """
    asked = decoded(body, Remembering)
    _check_type(memory, asked.type)
    note = msgspec.convert(asked, Note, from_attributes=True)
    kept = memory.notes.remember(note, project=asked.project, folder=asked.cwd, author=asked.author)
    return {
        "id": kept.item.id,
        "uuid": kept.item.uuid,
        "updated": kept.updated,
        "project": kept.project,
        "approval": kept.item.approval,
        "suspicion": kept.item.suspicion,
        "similar": [_near(one) for one in kept.similar],
        "near": [_near(one) | {"stands": stands(one.item)} for one in kept.near],
        "dangling": kept.dangling,
    }


def _check_type(memory: Memory, name: str) -> None:
    """Refuse a type that is neither one of ours nor that of a note: nobody would look for it."""
    known = dict.fromkeys((*NOTE_TYPES, *memory.notes.counts("type")))
    if (spelled := note_type(name)) not in known:
        near = get_close_matches(spelled, known, n=2)
        hint = did_you_mean(near) or f"one of: {', '.join(known)}"
        raise BadInput(f"no type of notes {name[:80]!r}", hint=hint)


def _near(one: Similar) -> JsonObject:
    return {"id": one.item.id, "title": one.item.title, "score": round(one.score, 2)}


def forget(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /forget.

    Raises:
        BadInput: the body is not what is documented; and as `Notes.forget`.
        NotFound: there is no such item.
    """
    asked = decoded(body, Forgetting)
    if not memory.notes.forget(asked.id, author=asked.author):
        raise NotFound(f"no item {asked.id}", hint="search for it first")
    return {"id": asked.id, "deleted": True}


def give(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /given.

    Raises:
        BadInput: the body is not what is documented, or an agent asks; and as `Choices.give`.
    """
    asked = decoded(body, GiveRequest)
    if asked.author != "person":
        raise BadInput("only a person chooses what is given", hint="ask yours to do it")
    item = memory.choices.give(str(asked.id), asked.how)
    return {"id": item.id, "title": item.title, "how": asked.how}


def change(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /note, and return the note as it is now.

    Raises:
        BadInput: the body is not what is documented; and as the method of `Notes`.
    """
    asked: Change = decoded(body, Change)  # type: ignore[arg-type] # a union is not a type
    notes = memory.notes
    match asked:
        case EditRequest():
            _check_type(memory, asked.changes.type or "")
            do: Callable[..., Item] = partial(notes.edit, asked.id, asked.changes)
        case UndoRequest():
            do = partial(_undoing(memory, asked).undo, asked.id)
        case ApproveRequest():
            do = partial(notes.approve, asked.id)
        case PromoteRequest():
            do = partial(notes.promote, asked.id, asked.to, project=asked.project)
        case LinkRequest():
            do = partial(notes.link, asked.id, asked.target, kind=asked.kind)
        case Unlink():
            do = partial(notes.unlink, asked.id, asked.target, kind=asked.kind)
        case SettleRequest():
            settled = msgspec.convert(asked, Settlement, from_attributes=True)
            do = partial(memory.pairs.settle, settled)
    result: JsonObject = msgspec.to_builtins(row(do(author=asked.author), memory.project_names()))
    return result


def _undoing(memory: Memory, asked: UndoRequest) -> Notes:
    """Return the notes as whoever may undo this sees them: a person here, everybody's."""
    if asked.author == "person":
        with suppress(NotFound):  # nobody's personal note
            return memory.owner_of(asked.id).notes
    return memory.notes


def decoded(body: bytes, shape: type[T]) -> T:
    """Return the JSON of a request as a value.

    Raises:
        BadInput: it is not of that shape.
    """
    try:
        return decode_json(body, shape)
    except msgspec.DecodeError as error:
        raise BadInput(f"the body is refused: {error}", hint="send JSON as documented") from error
