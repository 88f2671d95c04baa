"""Requests about notes as JSON, for HTTP and the command line, and how notes are shown.

Decoding ends here: `notes` gets its own types only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import msgspec
import orjson

from observer.core.errors import BadInput, NotFound
from observer.core.model import Item, iso
from observer.core.value import decode_json
from observer.memory.api import Memory
from observer.notes.notes import Notes
from observer.notes.pairs import How, Pair, Settlement
from observer.notes.values import Author, Changes, Note, NoteLink, Similar, Version
from observer.views import moment, render
from observer.views.labels import with_suspicion
from observer.views.render import ProjectName, project_names
from observer.views.tool import ResultRow

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


Change = EditRequest | UndoRequest | ApproveRequest | LinkRequest | Unlink | SettleRequest
"""The body of POST /note."""


class NoteRow(ResultRow):
    """A note in full; fields that it does not have are null."""

    id: int
    uuid: str
    title: str
    content: str
    type: str
    layer: str
    scope: str
    project: str
    key: str | None
    category: str | None
    tags: list[str]
    confidence: float | None
    approval: str | None
    suspicion: str | None
    author: str
    metadata: Any  # the author's own JSON
    created_at: str
    updated_at: str
    expires_at: str | None


def remember(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /remember.

    Raises:
        BadInput: the body is not what is documented; and as `Notes.remember`.
    """
    asked = decoded(body, Remembering)
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


def _near(one: Similar) -> JsonObject:
    return {"id": one.item.id, "title": one.item.title, "score": round(one.score, 2)}


SAID_CHARS = 80
"""Of a standing note, in the line that asks whether it still holds."""


def stands(item: Item, *, name: str = "", how: str = "") -> str:
    """Return the line that shows a standing note to whoever has written a note near it.

    Args:
        item: the standing note.
        name: how the reader names it; its id if empty.
        how: what the reader does if it no longer holds.
    """
    said = with_suspicion(item, render.one_line(item.narrative or item.title, SAID_CHARS))
    line = f"{name or f'#{item.id}'} of {moment.day(item.updated_ms)} stands too: {said}"
    if item.layer == "rule" and item.approval == "approved":
        how = "ask the person, who approved it"
    return f"{line.rstrip('.')}. If it no longer holds: {how}" if how else line


def final(final_ms: int, *, is_now: bool, how: str) -> str:
    """Return the line that says when a deletion is final, and how it is undone until then."""
    if is_now:
        return "Final now: it leaves log, index and copies too, and nothing brings it back."
    return f"Final at {iso(final_ms)[:19]}Z; until then its owner brings it back with: {how}"


def pair_lines(pair: Pair) -> str:
    """Return two near notes, a dated line each, the newer first."""
    lines = (
        f"#{item.id} {moment.day(item.updated_ms)} "
        + with_suspicion(item, render.one_line(item.narrative or item.title))
        for item in (pair.newer, pair.older)
    )
    return "- " + "\n  ".join(lines)


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


def change(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /note, and return the note as it is now.

    Raises:
        BadInput: the body is not what is documented; and as the method of `Notes`.
    """
    asked: Change = decoded(body, Change)  # type: ignore[arg-type] # a union is not a type
    notes = memory.notes
    match asked:
        case EditRequest():
            do: Callable[..., Item] = partial(notes.edit, asked.id, asked.changes)
        case UndoRequest():
            do = partial(_undoing(memory, asked).undo, asked.id)
        case ApproveRequest():
            do = partial(notes.approve, asked.id)
        case LinkRequest():
            do = partial(notes.link, asked.id, asked.target, kind=asked.kind)
        case Unlink():
            do = partial(notes.unlink, asked.id, asked.target, kind=asked.kind)
        case SettleRequest():
            settled = msgspec.convert(asked, Settlement, from_attributes=True)
            do = partial(memory.pairs.settle, settled)
    result: JsonObject = msgspec.to_builtins(
        row(do(author=asked.author), project_names(memory.projects()))
    )
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


def row(item: Item, name: ProjectName) -> NoteRow:
    """Return a note as a JSON row."""
    return NoteRow(
        id=item.id,
        uuid=item.uuid,
        title=item.title,
        content=item.narrative,
        type=item.type,
        layer=item.layer,
        scope=item.scope,
        project=name(item.project_id),
        key=item.key or None,
        category=item.category or None,
        tags=list(item.tags),
        confidence=item.confidence,
        approval=item.approval or None,
        suspicion=item.suspicion or None,
        author=item.author,
        metadata=metadata_of(item) or None,
        created_at=iso(item.created_ms),
        updated_at=iso(item.updated_ms),
        expires_at=None if item.expires_ms is None else iso(item.expires_ms),
    )


def metadata_of(item: Item) -> dict[str, Any]:
    """Return the author's own JSON of a note."""
    found: dict[str, Any] = orjson.loads(item.metadata) if item.metadata else {}
    return found


def listed(item: Item, name: ProjectName) -> str:
    """Return a note of a list: its heading, and its tags where it has some."""
    tags = " ".join(f"#{tag}" for tag in item.tags)
    return " · ".join(filter(None, (render.heading(item, name), tags)))


def detail(item: Item, name: ProjectName) -> str:
    """Return everything that is known about a note, its text as it was written."""
    fields = (
        ("key", item.key),
        ("category", item.category),
        ("", _KEPT[item.layer]),
        ("for", item.scope),
        ("by", item.author),
        ("confidence", "" if item.confidence is None else f"{item.confidence:g}"),
        ("metadata", item.metadata),
        ("changed", moment.minute(item.updated_ms) if item.updated_ms > item.created_ms else ""),
    )
    about = " · ".join(f"{label} {text}".lstrip() for label, text in fields if text)
    return f"{listed(item, name)}\n{about}\n\n{item.narrative}"


_KEPT: dict[str, str] = {
    "past": "stands as it was written", "state": "holds until it is changed", "rule": "a rule"
}  # fmt: skip
"""What a layer says of a note."""


def version(one: Version) -> str:
    """Return one version of a note in a line; one that was undone is in brackets."""
    line = f"{one.number}. {moment.minute(one.at_ms)} {one.action} by {one.author}"
    line += f" · {render.one_line(one.item.title)}"
    return line if one.stands else f"({line})"


def connections(out: tuple[NoteLink, ...], back: tuple[NoteLink, ...]) -> Iterator[str]:
    """Yield the outgoing links of a note, then the incoming ones, a line each."""
    for sign, found in (("->", out), ("<-", back)):
        for one in found:
            where = f"#{one.item.id}" if one.item else "(nothing yet)"
            yield f"{sign} {one.kind} {where} {one.title}".rstrip()
