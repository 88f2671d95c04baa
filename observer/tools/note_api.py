"""Notes as text and as JSON rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from observer.core import moment
from observer.core.model import Item, iso
from observer.notes.pairs import Pair
from observer.notes.values import NoteLink, Version
from observer.tools import render
from observer.tools.labels import with_suspicion
from observer.tools.render import ProjectName


class NoteRow(msgspec.Struct, frozen=True, kw_only=True):
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


SAID_CHARS = 80
"""Of a standing note, in the line that asks whether it still holds."""


def stands(item: Item, *, name: str = "", how: str = "") -> str:
    """Return the line that shows a standing note to whoever has written a note near it.

    `name` is how the reader names it, else its id; `how` what to do if it no longer holds.
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
    by = one.item.person if one.action == "shared" else one.author
    line = f"{one.number}. {moment.minute(one.at_ms)} {one.action} by {by}"
    line += f" · {render.one_line(one.item.title)}"
    return line if one.stands else f"({line})"


def connections(out: tuple[NoteLink, ...], back: tuple[NoteLink, ...]) -> Iterator[str]:
    """Yield the outgoing links of a note, then the incoming ones, a line each."""
    for sign, found in (("->", out), ("<-", back)):
        for one in found:
            where = f"#{one.item.id}" if one.item else "(nothing yet)"
            yield f"{sign} {one.kind} {where} {one.title}".rstrip()
