"""From the text of a file to the note: what is stored, without secrets. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson
from msgspec.structs import replace

from observer.core.clock import iso_ms
from observer.core.model import Item, Link, item_uuid, seq_of, title_key
from observer.core.note_file import NoteFile, NoteFileContent, Relation
from observer.core.text import block, distinct, one_line
from observer.note_files.frontmatter import Field, Fields, fields_of, parts_of
from observer.note_files.grammar import LINKS_TO, content_of
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
from observer.observations.note_syntax import acts
from observer.observations.prompt_injection import suspicion_once
from observer.redaction.redact import redact_text

STANDARD = ("title", "type", "permalink", "tags")
"""Fields that say what a note is; all others are metadata."""
NOTE = "note"
ALIASES = 50
"""Most other names of one note."""
_TIMES = (("created_ms", "created"), ("updated_ms", "modified"))
_BY_ID = frozenset({LINKS_TO, "supersedes", "amends"})
"""Relations that are plain links by title; what they do to another note: see `acts`."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class ParsedNote(NamedTuple):
    """What a file says. Nothing of it holds a secret.

    `permalink` is that of the frontmatter, empty where it has none. `tags` are those of the
    frontmatter and of the claims. `body` is as long as it is stored, `suspicion` that of title and
    body. The times are those of the frontmatter.
    """

    title: str
    type: str
    permalink: str
    tags: tuple[str, ...]
    metadata: Fields
    body: str
    suspicion: str
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
    tags = (*listed(fields.get("tags")), *(tag for claim in content.claims for tag in claim.tags))
    times = {name: _ms(fields.get(field)) for name, field in _TIMES}
    stem = redact_text(_stem(path))
    title = _word(fields.get("title")) or stem
    body = block(body.strip(), CONTENT_CHARS)
    return ParsedNote(
        title=title,
        type=_word(fields.get("type")) or NOTE,
        permalink=_word(fields.get("permalink")).strip("/"),
        tags=distinct(tags, TAGS),
        metadata={name: value for name, value in fields.items() if name not in STANDARD},
        body=body,
        suspicion=suspicion_once(f"{_shown(title, path)}\n{body}"),
        content=replace(content, aliases=_aliases(title, stem, fields)),
        created_ms=times["created_ms"],
        updated_ms=times["updated_ms"],
    )


def listed(value: Field | None) -> tuple[str, ...]:
    """Return tags as somebody wrote them: a list, or words parted by commas; `#` left out."""
    spelled = (name.removeprefix("#").strip() for name in _names(value))
    return tuple(dict.fromkeys(filter(None, spelled)))


def _shown(title: str, path: str) -> str:
    return title_of(title) or title_of(path)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _names(value: Field | None) -> list[str]:
    names = value.split(",") if isinstance(value, str) else value or ()
    return [name.strip() for name in names if isinstance(name, str)]


def _aliases(title: str, stem: str, fields: Fields) -> tuple[str, ...]:
    """Return the names of a note beside its title, as links may spell them."""
    named = (*_names(fields.get("aliases")), *_names(fields.get("alias")))
    others = (title_of(name) for name in (stem, *named))
    return distinct((name for name in others if title_key(name) != title_key(title)), ALIASES)


def note_item(
    file: NoteFile, note: ParsedNote, *, project_id: int | None, branch: str, commit: str
) -> Item:
    """Return the note of a file, as it is stored and found.

    Whatever the file says, it is a statement: rules are approved in the store alone.
    """
    metadata = orjson.dumps(note.metadata).decode() if note.metadata else ""
    title, body = _shown(note.title, file.path), note.body
    tags = tags_of(note.tags)
    # The file's own name is found by the path.
    aliases = (name for name in note.content.aliases if name != _stem(file.path))
    return Item(
        id=file.item,
        uuid=item_uuid(f"note-file:{seq_of(file.item)}", file.created_ms),
        kind="note",
        type=note_type(note.type) or NOTE,
        title=title,
        subtitle=one_line(file.path, 200),
        narrative=body,
        concepts=distinct((*tags, *aliases), TAGS + ALIASES),
        links=(*acts(body), *map(_link, note.content.relations))[:LINKS],
        project_id=project_id,
        author="person",
        scope="team" if project_id is None else "project",
        layer="state",
        category=label_of(file.path.partition("/")[0]) if "/" in file.path else "",
        tags=tags,
        suspicion=note.suspicion,
        metadata=metadata if len(metadata) <= METADATA_CHARS else "",
        file=f"{file.folder}/{file.path}",
        branch=branch,
        commit=commit,
        discovery_tokens=-(-len(body) // 4),
        created_ms=file.created_ms,
        updated_ms=max(file.mtime_ns // 1_000_000, file.created_ms),
    )


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
