"""From the text of a file to the note: what is stored, without secrets. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from observer.core.clock import iso_ms
from observer.core.model import Item, Link, item_uuid, seq_of
from observer.core.note_file import NoteFile, NoteFileContent, Relation
from observer.core.text import block, distinct, one_line
from observer.note_files.frontmatter import Field, Fields, fields_of, parts_of
from observer.note_files.grammar import LINKS_TO, content_of
from observer.observations import concepts
from observer.observations.note_reducer import (
    CONTENT_CHARS,
    LINKS,
    METADATA_CHARS,
    TAGS,
    label_of,
    note_type,
    tags_of,
    title_of,
)
from observer.observations.prompt_injection import suspicion
from observer.redaction.redact import redact_text

STANDARD = ("title", "type", "permalink", "tags")
"""Fields that say what a note is; all others are metadata."""
NOTE = "note"
_TIMES = (("created_ms", "created"), ("updated_ms", "modified"))
_BY_ID = frozenset({LINKS_TO, "supersedes", "amends"})
"""Relations that are plain links by title: superseding and amending name an item by its id."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class ParsedNote(NamedTuple):
    """What a file says. Nothing of it holds a secret.

    `permalink` is that of the frontmatter, empty where it has none. `tags` are those of the
    frontmatter and of the claims. The times are those of the frontmatter.
    """

    title: str
    type: str
    permalink: str
    tags: tuple[str, ...]
    metadata: Fields
    body: str
    content: NoteFileContent
    created_ms: int | None
    updated_ms: int | None


def parsed(text: str, path: str) -> ParsedNote:
    """Parse the text of the file at a path; malformed frontmatter is text like any other."""
    kept = redact_text(text.replace("\0", ""))
    _, source, body = parts_of(kept)
    fields = fields_of(source) if source else {}
    if fields is None:
        fields, body = {}, kept
    content = content_of(body)
    times = {name: _ms(fields.get(field)) for name, field in _TIMES}
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return ParsedNote(
        title=_word(fields.get("title")) or redact_text(stem),
        type=_word(fields.get("type")) or NOTE,
        permalink=_word(fields.get("permalink")).strip("/"),
        tags=distinct((*listed(fields.get("tags")), *_inline(content)), TAGS),
        metadata={name: value for name, value in fields.items() if name not in STANDARD},
        body=body.strip(),
        content=content,
        created_ms=times["created_ms"],
        updated_ms=times["updated_ms"],
    )


def listed(value: Field | None) -> tuple[str, ...]:
    """Return tags as somebody wrote them: a list, or words parted by commas; `#` left out."""
    names = value.split(",") if isinstance(value, str) else value or ()
    spelled = (name.strip().removeprefix("#").strip() for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(filter(None, spelled)))


def note_item(
    file: NoteFile, note: ParsedNote, *, project_id: int | None, branch: str, commit: str
) -> Item:
    """Return the note of a file, as it is stored and found.

    Whatever the file says, it is a statement: rules are approved in the store alone.
    """
    metadata = orjson.dumps(note.metadata).decode() if note.metadata else ""
    title = title_of(note.title) or title_of(file.path)
    body = block(note.body, CONTENT_CHARS)
    tags = tags_of(note.tags)
    words = concepts.of_text(f"{title}\n{body}")
    return Item(
        id=file.item,
        uuid=item_uuid(f"note-file:{seq_of(file.item)}", file.created_ms),
        kind="note",
        type=note_type(note.type) or NOTE,
        title=title,
        subtitle=one_line(file.path, 200),
        narrative=body,
        concepts=distinct((*tags, *words), TAGS + concepts.AT_MOST),
        links=tuple(map(_link, note.content.relations[:LINKS])),
        project_id=project_id,
        author="person",
        scope="team" if project_id is None else "project",
        layer="state",
        category=label_of(file.path.partition("/")[0]) if "/" in file.path else "",
        tags=tags,
        suspicion=suspicion(f"{title}\n{body}"),
        metadata=metadata if len(metadata) <= METADATA_CHARS else "",
        file=f"{file.folder}/{file.path}",
        branch=branch,
        commit=commit,
        discovery_tokens=-(-len(body) // 4),
        created_ms=file.created_ms,
        updated_ms=max(file.mtime_ns // 1_000_000, file.created_ms),
    )


def _inline(content: NoteFileContent) -> tuple[str, ...]:
    return tuple(tag for claim in content.claims for tag in claim.tags)


def _link(relation: Relation) -> Link:
    kind = note_type(relation.kind)
    kind = "wiki" if kind in _BY_ID else kind or "wiki"
    target = relation.target.partition("|")[0].partition("#")[0]
    name = target.removesuffix(".md").strip()
    return Link(kind=kind, title=title_of(name.rpartition("/")[2] or name))


def _word(value: Field | None) -> str:
    return one_line(value, 500) if isinstance(value, str) else ""


def _ms(value: Field | None) -> int | None:
    """Return a time of the frontmatter; one without a zone is UTC."""
    at_ms = iso_ms(value) if isinstance(value, str) and _DAY.match(value) else None
    return None if at_ms is None else max(0, at_ms)
