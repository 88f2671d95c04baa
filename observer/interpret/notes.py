"""Notes: what a person or agent recorded on purpose.

Part of interpretation (step 6): a `Remember` event becomes an item of kind `note`; with a key it
takes the place of the note that has it.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.events import Layer, Remember
from observer.interpret import concepts
from observer.interpret.classify import content_hash
from observer.interpret.told import TITLE
from observer.interpret.wording import block, first_line, one_line
from observer.model import Item, Recorded, item_id, item_uuid

CONTENT_CHARS = 65_536

_SYNONYMS = {"": "fact", "general": "fact"}
_LAYERS: dict[str, Layer] = {
    "decision": "past",
    "rejected": "past",
    "rule": "rule",
}
_NOT_WORDS = re.compile(r"[^a-z0-9]+")


def note(recorded: Recorded, existing: Item | None, *, owner: str) -> Item:
    """Return the note that a `Remember` event records.

    Args:
        recorded: the event.
        existing: the note under the same key, if there is one; the new one keeps its id, uuid and
            creation time, and takes everything else from the event.
        owner: who keeps personal notes here; notes of other scopes have no owner.

    Raises:
        TypeError: the event is of another kind.
    """
    event = recorded.event
    body = event.body
    if not isinstance(body, Remember):
        raise TypeError(f"not a remember event: {event.id}")
    content = block(body.content, CONTENT_CHARS)
    kind = note_type(body.type)
    made = Item(
        id=item_id(recorded.seq),
        uuid=item_uuid(one_line(event.id, 200), event.at_ms),
        kind="note",
        type=kind,
        title=one_line(body.title, TITLE) or first_line(content, TITLE) or f"Empty {kind}",
        subtitle=one_line(body.category, 200),
        narrative=content,
        concepts=concepts.of_text(f"{body.title}\n{content}"),
        project_id=project_of(recorded, body),
        session_id=recorded.session_id,
        author=event.author,
        owner=owner if body.scope == "personal" else "",
        scope=body.scope,
        layer=_LAYERS.get(kind, "state"),
        key=one_line(body.key, 200),
        category=one_line(body.category, 200),
        confidence=body.confidence,
        branch=one_line(recorded.branch, 250),
        commit=one_line(recorded.commit, 64),
        content_hash=content_hash(content),
        discovery_tokens=-(-len(content) // 4),
        created_ms=event.at_ms,
        updated_ms=event.at_ms,
    )
    if existing is None:
        return made
    return replace(made, id=existing.id, uuid=existing.uuid, created_ms=existing.created_ms)


def note_type(name: str) -> str:
    """Return a type as it is stored: lower case with hyphens; `general` is `fact`."""
    slug = _NOT_WORDS.sub("-", name[:200].lower()).strip("-")[:40]
    return _SYNONYMS.get(slug, slug)


def project_of(recorded: Recorded, body: Remember) -> int | None:
    """Return the project a note belongs to: personal and team notes belong to none."""
    return recorded.project_id if body.scope == "project" else None


def forgotten(item: Item, at_ms: int) -> Item:
    """Return an item as deleted at a time; deleting again changes nothing."""
    return item if item.deleted_ms is not None else replace(item, deleted_ms=at_ms)
