"""Which item supersedes an older one, and which only amends it; pure.

Items are compared by what they state; `relating` holds the rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import mul

from observer.core.model import Item, Reason, Validity, seq_of
from observer.core.text import one_line
from observer.core.value import Value
from observer.staleness.relating import Relation, joins_list, relation
from observer.staleness.statements import TEXT_CHARS, read

RULES = ("decision", "constraint", "rule", "heuristic", "preference")
"""Types of which one may take the place of another where it is only proposed."""
TYPES = (*RULES, "fact", "context", "note")
"""Types of notes of which a newer one may take an older one's place."""
COMMON = 60
"""A word of more statements than that says nothing of their subjects."""
TITLE_CHARS = 60

NEAR = 0.25
"""Cosine from which two names are of one kind, where lists say nothing of what they list.
Right pairs with the *instant* model had 0.27, wrong ones 0.17 at most."""
DIMENSIONS = 256
"""Of vectors that are compared, from the first: all that *instant* makes. What another model adds
to them in the background must not change what was said of two statements."""

_LISTING = frozenset({"(list)"})
"""Stands for lists among the words by which statements are compared."""


class PlacedStatement(Value):
    """A statement in its item; `items` are all that it is said of, that one first.

    `is_part` of an item that says much else: nothing is said of that for it.
    """

    item: Item
    text: str
    items: tuple[int, ...]
    is_part: bool = False


def validity(
    said: Sequence[PlacedStatement], vectors: Mapping[int, bytes]
) -> dict[int, tuple[Validity, ...]]:
    """Return the validity of each item: what superseded or amended it, and what it superseded.

    Of several items that supersede one, the newest counts. A note's `supersedes` link counts
    whatever the texts say.
    """
    found_by_item: dict[int, dict[tuple[str, int], Validity]] = {
        item: {} for one in said for item in one.items
    }
    ordered = sorted(said, key=lambda one: (one.item.updated_ms, one.item.id), reverse=True)
    for older, newer, what in _successions(ordered, vectors):
        for item in older.items:
            reason: Reason = "superseded" if what == "supersedes" else "amended"
            found_by_item[item].setdefault((reason, 0), _of(reason, newer, newer.item.updated_ms))
        for item in newer.items:
            found_by_item[item].setdefault(
                (what, older.item.id), _of(what, older, older.item.updated_ms)
            )
    return {item: tuple(found.values()) for item, found in found_by_item.items()}


def _of(reason: Reason, other: PlacedStatement, since_ms: int) -> Validity:
    target = other.item.id
    is_newer = reason in {"supersedes", "amends"}
    subject = f"{target} {one_line(other.text, TITLE_CHARS)}" if is_newer else str(target)
    return Validity(reason=reason, subject=subject, target=target, since_ms=since_ms)


def _successions(
    ordered: Sequence[PlacedStatement], vectors: Mapping[int, bytes]
) -> Iterator[tuple[PlacedStatement, PlacedStatement, Relation]]:
    """Yield an older statement, what came of it, and how; of several that replace it the newest."""
    postings, linking = _postings(ordered), _linking(ordered)
    for place, older in enumerate(ordered):
        if older.is_part:
            continue
        linked = [ordered[newer] for newer in linking[older.item.id] if newer < place]
        for newer in linked or _akin(ordered, place, postings):
            what: Relation | None = "supersedes" if linked else _between(newer, older, vectors)
            if what:
                yield older, newer, what
            if what == "supersedes":
                break


def _postings(ordered: Sequence[PlacedStatement]) -> dict[str, list[int]]:
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(ordered):
        statement = read(one.text)
        for word in (
            statement.words | statement.question | (_LISTING if statement.is_open else frozenset())
        ):
            postings[word].append(place)
    return postings


def _linking(ordered: Sequence[PlacedStatement]) -> Mapping[int, Sequence[int]]:
    """Return the places of the statements in items that link to an item as superseded."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(ordered):
        for target in {link.target or 0 for link in one.item.links if link.kind == "supersedes"}:
            found[target].append(place)
    return found


def _akin(
    ordered: Sequence[PlacedStatement], place: int, postings: Mapping[str, Sequence[int]]
) -> Iterator[PlacedStatement]:
    """Yield newer statements that share a word with one, the newest first."""
    statement = read(ordered[place].text)
    shared: Counter[int] = Counter()
    for word in (
        statement.words | statement.question | (_LISTING if statement.is_open else frozenset())
    ):
        places = postings[word]
        if len(places) <= COMMON or word in _LISTING:
            shared.update(newer for newer in places if newer < place)
    yield from (ordered[newer] for newer in sorted(shared))


def _between(
    newer: PlacedStatement, older: PlacedStatement, vectors: Mapping[int, bytes]
) -> Relation | None:
    is_one = seq_of(newer.item.id) == seq_of(older.item.id)
    if is_one or not _may_replace(newer.item, older.item):
        return None
    if what := relation(newer.text, older.text):
        return what
    if joins_list(newer.text, older.text) and _cosine(newer, older, vectors) >= NEAR:
        return "amends"
    return None


def _may_replace(newer: Item, older: Item) -> bool:
    """Return True unless types part two statements, or a person's approval stands above one.

    Agents file the same thing as a fact today and as a decision tomorrow; a rule is a rule.
    """
    if is_proposed(newer) or is_proposed(older):
        is_rule = {newer.type, older.type} <= {*RULES, "prompt", "finding"}
        return is_rule and older.approval != "approved"
    if newer.type != older.type and "rule" in {newer.type, older.type}:
        return False
    return older.approval != "approved" or newer.author == "person" or newer.approval == "approved"


def is_proposed(item: Item) -> bool:
    """Return True if a statement was met in a conversation, and nobody recorded it on purpose."""
    return item.kind == "observation"


def text_of(item: Item) -> str:
    """Return what a note states."""
    return item.narrative[:TEXT_CHARS] or item.title


def _cosine(one: PlacedStatement, other: PlacedStatement, vectors: Mapping[int, bytes]) -> float:
    """Return how alike two items are in meaning; 0 where that is not known."""
    if one.item.id not in vectors or other.item.id not in vectors:
        return 0.0
    first, second = (_signed(vectors[each.item.id])[:DIMENSIONS] for each in (one, other))
    length = (sum(map(mul, first, first)) * sum(map(mul, second, second))) ** 0.5
    return sum(map(mul, first, second)) / length if length and len(first) == len(second) else 0.0


def _signed(vector: bytes) -> Sequence[int]:
    return memoryview(vector).cast("b")
