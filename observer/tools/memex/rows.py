"""Rows of the memex tools, and how their texts name notes and dates."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, UnsetType

from observer.core.events import Layer
from observer.core.model import Item, iso
from observer.notes.note_reader import Flashback
from observer.notes.values import Similar
from observer.tools import render
from observer.tools.labels import labels
from observer.tools.render import ProjectName
from observer.tools.tool import ResultRow


class NoteRef(ResultRow):
    """A note by its id."""

    id: int
    title: str


class SimilarNoteRow(NoteRef):
    """A similar note; `match` is 0 to 1."""

    match: float


class FlashbackRow(SimilarNoteRow):
    """An older note from a different context."""

    days_ago: int


class NoteSummary(NoteRef):
    """A note in a list; `validity` are its labels, e.g. superseded."""

    layer: Layer
    category: str | None
    tags: list[str]
    project: str | None
    created_at: str
    validity: list[str] | UnsetType = UNSET


class NoteHit(NoteSummary, kw_only=True):
    """A note that matches a query; `score` is comparable within one answer."""

    snippet: str
    score: float


class FullNote(NoteSummary, kw_only=True):
    """A note with its whole text, and the notes that link to it or amend it."""

    content: str
    updated_at: str
    referenced_by: list[NoteRef]
    amended_by: list[NoteRef]


class SaveResult(NoteRef):
    """Result of `save_note`; `is_new` is false if a note with this text existed."""

    layer: Layer
    is_new: bool
    similar: list[SimilarNoteRow]
    flashbacks: list[FlashbackRow]
    dangling: list[str]
    approval: str | UnsetType = UNSET


class Hits(ResultRow):
    """Result of `search_notes`, best first; the flashbacks are those of the first."""

    notes: list[NoteHit]
    flashbacks: list[FlashbackRow]
    notice: str | UnsetType = UNSET
    degraded: str | UnsetType = UNSET


class Recent(ResultRow):
    """Result of `list_notes`, newest first."""

    notes: list[NoteSummary]


class Count(ResultRow):
    """A name, and how many notes have it."""

    name: str
    count: int


class Counts(ResultRow):
    """Result of `list_tags` and `list_folders`, the commonest first."""

    counts: list[Count]


class NoteResult(ResultRow):
    """Result of `get_note`."""

    found: bool
    note: FullNote | UnsetType = UNSET


class Suggestion(ResultRow):
    """What to do instead of changing a note of the layer past."""

    action: str
    title: str
    link: str
    layer: Layer


class Updated(ResultRow):
    """Result of `update_note`; `error` is PAST_IMMUTABLE or RULE_USER_ONLY if it was refused."""

    id: int
    updated: bool
    error: str | UnsetType = UNSET
    suggestion: Suggestion | UnsetType = UNSET


class DeleteResult(ResultRow):
    """Result of `delete_note`."""

    id: int
    deleted: bool


def named(item: Item) -> NoteRef:
    """Return a note as a reference."""
    return NoteRef(id=item.id, title=item.title)


def listed(item: Item, name: ProjectName) -> NoteSummary:
    """Return a note as a row of a list."""
    return NoteSummary(
        id=item.id,
        title=item.title,
        layer=item.layer,
        category=item.category or None,
        tags=list(item.tags),
        project=name(item.project_id) or None,
        created_at=iso(item.created_ms),
        validity=labels(item) or UNSET,
    )


def similar_note(one: Similar) -> SimilarNoteRow:
    """Return a similar note as a row."""
    return SimilarNoteRow(id=one.item.id, title=one.item.title, match=round(one.score, 2))


def memory(one: Flashback) -> FlashbackRow:
    """Return a flashback as a row."""
    return FlashbackRow(
        id=one.item.id, title=one.item.title, match=round(one.match, 2), days_ago=one.days
    )


def heading(item: Item) -> str:
    """Return the id and title by which texts name a note."""
    return f'#{item.id} "{render.one_line(item.title)}"'


def line(item: Item, name: ProjectName) -> str:
    """Return a note as one line of a list."""
    tags = "tags: " + ", ".join(item.tags) if item.tags else ""
    parts = (
        heading(item),
        item.layer,
        item.category,
        tags,
        name(item.project_id),
        iso(item.created_ms)[:10],
        *labels(item),
    )
    return "- " + render.one_line(" · ".join(part for part in parts if part), 400)


def section(title: str, lines: Iterable[str]) -> str:
    """Return lines under a title; empty without lines."""
    found = list(lines)
    return "\n".join((title, *found)) if found else ""


def flashback_section(found: Iterable[Flashback]) -> str:
    """Return flashbacks as a section of a text."""
    return section(
        "🔗 Flashback, older notes from a different context:",
        (f"- {one.days} days ago: {heading(one.item)} ({one.match:.0%} match)" for one in found),
    )


def paragraphs(*parts: str) -> str:
    """Return the parts that are not empty, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)
