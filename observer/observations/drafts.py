"""The text of an observation, the lengths that its fields may have, and the item made of it.

`event_text` returns an `ObservationDraft`; `item` turns it into an
`Item`. What a language model wrote about an item is cut to the same lengths. Lengths are in
characters. The words by which others recognize an observation stand here too, so that whoever
reads items needs nothing of how they are derived.

A concept is a keyword in lower case that the text does not say as a word: of its files and symbols.
The language of a file is the only one that the event itself does not contain. How much a word says
is not judged here: search weighs it by how many items have it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from msgspec.structs import asdict

from observer.code.languages import language_of
from observer.core.events import Commit, Enriched
from observer.core.model import Enrichment, Item, Link, Recorded, item_id, item_uuid
from observer.core.text import base_name, distinct, named, one_line, word_set
from observer.core.value import Value

TITLE = 120
SUBTITLE = 200
NARRATIVE = 1200
FACT = 300
FACTS = 40
RECORDS = word_set("file-write file-read command research tool-use delegation checkout rewrite")
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
    """Return the item of an observation, of which `recorded` is the newest event.

    `origin` is the first of `times` events that it stands for, and gives id, uuid and creation
    time; `chars` is the length of all their texts, if not `draft.chars`.
    """
    event = recorded.event
    first = origin or origin_of(recorded)
    # The commit checked out may be later than one that is reported, or the newest of an import.
    commit = (isinstance(event.body, Commit) and event.body.hash) or recorded.commit
    said = asdict(draft)
    own_chars = said.pop("chars")
    by = (f"by sub-agent {one_line(event.agent, 60)}",) if event.agent else ()
    said["title"] = draft.title or draft.type
    said["subtitle"] = ", ".join((draft.subtitle, *by) if draft.subtitle else by)
    return Item(
        **said,
        id=item_id(first.seq),
        uuid=item_uuid(first.event, first.at_ms),
        kind="record" if draft.type in RECORDS or draft.category == REPEATS else "observation",
        project_id=recorded.project_id,
        session_id=recorded.session_id,
        author=event.author,
        branch=one_line(recorded.branch, 250),
        commit=one_line(commit, 64),
        content_hash=content_hash(draft.type, draft.title, draft.narrative, *draft.facts),
        discovery_tokens=-(-(own_chars if chars < 0 else chars) // 4),
        folded=times,
        created_ms=first.at_ms,
        updated_ms=max(event.at_ms, first.at_ms),
    )


def content_hash(*parts: str) -> str:
    """Return 32 hexadecimal digits of SHA-256, equal for texts that differ only in spacing."""
    text = "|".join(parts)
    text = one_line(text, len(text))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")


def concepts_of(paths: Iterable[str], symbols: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the concepts of some paths, then of the symbols touched in them."""
    return distinct(chain(*map(_of_path, paths), *map(_words_of, symbols)), CONCEPTS)


@lru_cache(maxsize=4096)
def _of_path(path: str) -> tuple[str, ...]:
    """Return a file's language, the words of its name and of its folder.

    A path that is a sentence gives no words: whoever's repository it is may have written it.
    """
    folders, _, name = path.rpartition("/")
    parts = (name.partition(".")[0], folders.rpartition("/")[2]) if named(path) == path else ()
    return distinct((language_of(path), *chain(*map(_words_of, parts))), CONCEPTS)


@lru_cache(maxsize=8192)
def _words_of(name: str) -> tuple[str, ...]:
    """Return the words of an identifier: ``verifyToken2`` -> ``("verify", "token")``."""
    words = (word.lower() for word in _PARTS.findall(name[:100]))
    return tuple(word for word in words if len(word) > 2)
