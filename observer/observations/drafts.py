"""The text of an observation, the lengths that its fields may have, and the item made of it.

`event_text` returns an `ObservationDraft`; `item` turns it into an
`Item`. What a language model wrote about an item is cut to the same lengths. Lengths are in
characters. The words by which others recognize an observation stand here too, so that whoever
reads items needs nothing of how they are derived.
"""

from __future__ import annotations

import hashlib

from observer.core.events import Commit, Enriched
from observer.core.model import Enrichment, Item, Link, Recorded, item_id, item_uuid
from observer.core.text import base_name, distinct, one_line
from observer.core.value import Value

TITLE = 120
SUBTITLE = 200
NARRATIVE = 1200
FACT = 300
FACTS = 40
RECORDS = frozenset(
    [
        "file-write",
        "file-read",
        "command",
        "research",
        "tool-use",
        "delegation",
        "checkout",
        "rewrite",
    ]
)
"""Types of what a tool did: shown in the item of its turn, and found where they are asked for."""
FAILED = "failed"
"""Category of a command or tool call that failed."""
QUESTION = "question"
"""Category of a turn that only asks what is remembered."""
REPEATS = "repeats"
"""Category of a commit that only repeats others: a release, or a merge without words of its own."""
DECISION = "decision"
"""Type of what a person decided."""
PATHS = 200


class ObservationDraft(Value):
    """The text of an observation; the fields are those of `Item`.

    `chars` is the length of the original text, `signature` that of the reported error.
    """

    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    signature: str = ""
    category: str = ""
    links: tuple[Link, ...] = ()
    chars: int = 0


class ItemOrigin(Value):
    """The first event that an item stands for."""

    seq: int
    event: str
    at_ms: int


class Where(Value):
    """What paths are shown relative to: the project's root and the event's working folder."""

    root: str = ""
    cwd: str = ""


_CHANGE_LOGS = frozenset({"changelog", "changes", "history", "news", "releases"})
"""How the files are named, but for their endings, that only list what was changed elsewhere."""


def is_work(path: str) -> bool:
    """Return True for every file but those that list what was changed in the others."""
    return base_name(path).partition(".")[0].casefold() not in _CHANGE_LOGS


MODEL = 100
FIELD = 600
CONCEPT = 40
CONCEPTS = 8


def enrichment(body: Enriched, at_ms: int) -> Enrichment:
    """Return what a language model wrote about an item, cut to the lengths that are stored."""
    concepts = (one_line(concept, CONCEPT) for concept in body.concepts)
    return Enrichment(
        model=one_line(body.model, MODEL),
        at_ms=at_ms,
        as_of_ms=body.as_of_ms,
        narrative=one_line(body.narrative, NARRATIVE),
        learned=one_line(body.learned, FIELD),
        next_steps=one_line(body.next_steps, FIELD),
        concepts=distinct(concepts, CONCEPTS),
    )


def order_of(recorded: Recorded) -> int:
    """Return a number by which events can be compared: the larger came later."""
    return recorded.order or recorded.seq


def where_of(recorded: Recorded) -> Where:
    """Return the folders that an event's paths are shown relative to."""
    return Where(root=recorded.root, cwd=recorded.event.cwd)


def origin_of(recorded: Recorded) -> ItemOrigin:
    """Return the origin of an item that begins with this event."""
    event = recorded.event
    return ItemOrigin(seq=recorded.seq, event=one_line(event.id, 200), at_ms=event.at_ms)


def item(
    draft: ObservationDraft,
    recorded: Recorded,
    *,
    origin: ItemOrigin | None = None,
    times: int = 1,
    chars: int = -1,
) -> Item:
    """Return the item of an observation.

    Args:
        draft: its text.
        recorded: the newest event that it stands for.
        origin: the first event that it stands for, which gives id, uuid and creation time.
        times: the number of events that it stands for.
        chars: the length of all their texts, if not `draft.chars`.
    """
    event = recorded.event
    first = origin or origin_of(recorded)
    by = (f"by sub-agent {one_line(event.agent, 60)}",) if event.agent else ()
    return Item(
        id=item_id(first.seq),
        uuid=item_uuid(first.event, first.at_ms),
        kind="record" if draft.type in RECORDS or draft.category == REPEATS else "observation",
        type=draft.type,
        title=draft.title or draft.type,
        subtitle=", ".join((draft.subtitle, *by) if draft.subtitle else by),
        narrative=draft.narrative,
        facts=draft.facts,
        concepts=draft.concepts,
        files_read=draft.files_read,
        files_modified=draft.files_modified,
        signature=draft.signature,
        category=draft.category,
        links=draft.links,
        project_id=recorded.project_id,
        session_id=recorded.session_id,
        author=event.author,
        branch=one_line(recorded.branch, 250),
        commit=one_line(_commit_of(recorded), 64),
        content_hash=content_hash(draft.type, draft.title, draft.narrative, *draft.facts),
        discovery_tokens=-(-(draft.chars if chars < 0 else chars) // 4),
        folded=times,
        created_ms=first.at_ms,
        updated_ms=max(event.at_ms, first.at_ms),
    )


def _commit_of(recorded: Recorded) -> str:
    """Return the commit that an event reports, else the one checked out at the time."""
    # The one checked out may be later, or, of an imported history, its newest.
    body = recorded.event.body
    return (isinstance(body, Commit) and body.hash) or recorded.commit


def content_hash(*parts: str) -> str:
    """Return 32 hexadecimal digits of SHA-256, equal for texts that differ only in spacing."""
    text = "|".join(parts)
    text = one_line(text, len(text))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
