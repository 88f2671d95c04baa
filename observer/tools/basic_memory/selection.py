"""Which notes, lines and relations of a note folder a search returns, and in which order."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from observer.core.errors import BadInput
from observer.core.model import Item, iso
from observer.core.note_file import NoteFile
from observer.notes.folders.items import listed
from observer.search.query import NUMBERS, dated, tokens, uses_operators
from observer.tools.basic_memory.vault import (
    Vault,
    matcher,
    observation_permalink,
    relation_permalink,
)
from observer.tools.labels import labels
from observer.tools.tool import Row, row

DAY_MS = 86_400_000
LONGEST_DAYS = 365

_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_NAMED = {"now": 0, "today": 0, "yesterday": 1}
_SPAN = re.compile(
    rf"(?:last\s+|past\s+)?(?P<count>\d{{1,5}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})?"
    r"\s*(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?:\s+ago)?",
    re.IGNORECASE,
)


def since_ms(text: str, *, now_ms: int) -> int:
    """Return when a time frame that ends now begins; it is a day long at least.

    >>> (since_ms("2 weeks", now_ms=20 * DAY_MS) // DAY_MS, since_ms("1h", now_ms=DAY_MS))
    (6, 0)

    Raises:
        BadInput: it is no time frame, begins in the future, or more than a year ago.
    """
    days = _days(text.strip(), now_ms)
    if days is None or days < 0:
        raise BadInput(
            f"Could not parse timeframe: {text[:80]}",
            hint='write a span or a day: "7d", "2 weeks", "yesterday", "2026-01-05"',
        )
    if days > LONGEST_DAYS:
        raise BadInput(f"Timeframe should be <= 1 year, not {text[:80]!r}", hint='at most "365d"')
    return now_ms - int(max(days, 1) * DAY_MS)


def moment_or_since_ms(text: str, *, now_ms: int) -> int | None:
    """Return when a date lies or a span until now begins, None for no text. Raises BadInput."""
    if not text.strip():
        return None
    days = _days(text.strip(), now_ms)
    if days is None:
        raise BadInput(
            f"{text[:80]!r} is not a date", hint='write 2026-01-05, or a span: "7d", "1 week"'
        )
    return now_ms - int(days * DAY_MS)


def _days(text: str, now_ms: int) -> float | None:
    if text.lower() in _NAMED:
        return _NAMED[text.lower()]
    if span := _SPAN.fullmatch(text):
        count = (span["count"] or "1").lower()
        number = int(count) if count.isdecimal() else NUMBERS[" ".join(count.split())]
        return number * _DAYS[span["unit"][0].lower()]
    try:
        begun = datetime.fromisoformat(text)
    except ValueError:
        said = dated(text, now_ms=now_ms)
        begun_ms = said.since_ms if said and not said.rest else None
    else:
        begun_ms = int(begun.replace(tzinfo=begun.tzinfo or UTC).timestamp() * 1000)
    return None if begun_ms is None else (now_ms - begun_ms) / DAY_MS


Json: TypeAlias = Any
"""The client's JSON, or a field of the frontmatter."""
Test: TypeAlias = Callable[[Json], bool]

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")


def parse(filters: Mapping[str, Json]) -> Callable[[Mapping[str, Json]], bool]:
    """Return what is true of the fields of a note if it fits the filters.

    Raises:
        BadInput: a name of a field, an operator or its operand is malformed.
    """
    if wrong := [key for key in filters if not _KEY.fullmatch(key)]:
        raise BadInput(
            f"Unsupported metadata filter key: {wrong[0][:80]}",
            hint="use letters, digits, _ and -; dots lead into nested fields",
        )
    tests = [(key.split("."), _test(key, wanted)) for key, wanted in filters.items()]

    def fit(fields: Json) -> bool:
        for path, test in tests:
            value = fields
            for name in path:
                value = value.get(name) if isinstance(value, Mapping) else None
            if not test(value):
                return False
        return True

    return fit


def _test(key: str, wanted: Json) -> Test:
    if isinstance(wanted, list):
        every = _members(key, wanted)
        return lambda value: every <= set(_listed_value(value))
    if not isinstance(wanted, Mapping):
        return lambda value: str(wanted) in _listed_value(value)
    if len(wanted) != 1 or (name := next(iter(wanted))) not in _OPERATORS:
        raise BadInput(
            f"Invalid metadata filter for '{key}': {str(dict(wanted))[:80]}",
            hint=f"use one operator of {', '.join(_OPERATORS)}",
        )
    if name == "$in":
        some = _members(key, wanted[name])
        return lambda value: not some.isdisjoint(_listed_value(value))
    holds, limits = _OPERATORS[name], wanted[name] if name == "$between" else [wanted[name]]
    is_fit = isinstance(limits, list) and len(limits) == len(holds)
    if not is_fit or any(each is None or isinstance(each, list | Mapping) for each in limits):
        raise BadInput(
            f"'{key}' is compared with one number or text, by $between with two",
            hint='{"$gt": 3}, {"$between": [1, 5]}',
        )
    return lambda value: all(map(_compares, holds, repeat(value), limits))


def _members(key: str, wanted: Json) -> set[str]:
    if not isinstance(wanted, list) or not wanted:
        raise BadInput(f"'{key}' needs a list with at least one value", hint='write ["a", "b"]')
    return set(map(str, wanted))


def _compares(holds: Callable[[Json, Json], bool], value: Json, limit: Json) -> bool:
    """Return True if a comparison holds, by number where the limit is one."""
    if value is None or isinstance(value, list | Mapping):
        return False
    number, own = _number(limit), _number(value)
    if number is None:
        return holds(str(value), str(limit))
    return own is not None and holds(own, number)


def _number(value: Json) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _listed_value(value: Json) -> list[str]:
    if value is None:
        return []
    return list(map(str, value)) if isinstance(value, list) else [str(value)]


_OPERATORS: dict[str, tuple[Callable[[Json, Json], bool], ...]] = {
    "$in": (),
    "$gt": (operator.gt,),
    "$gte": (operator.ge,),
    "$lt": (operator.lt,),
    "$lte": (operator.le,),
    "$between": (operator.ge, operator.le),
}
"""How each compares a field with its limits; `$in` has members instead."""


SearchType = Literal["text", "title", "permalink", "vector", "semantic", "hybrid"]
RESULTS = ("entity", "observation", "relation")

MOST = 500
"""Notes that a search by words looks at."""
_TITLE_CHARS = 50
_BY_MEANING = frozenset({"vector", "semantic", "hybrid"})
_TAG = re.compile(r"\btag:(\S+)")
_WORD = re.compile(r"[\w'-]+")


class Wanted(NamedTuple):
    """What a search asks for; empty fields do not restrict."""

    query: str = ""
    search_type: SearchType = "text"
    types: Sequence[str] = ()
    entity_types: Sequence[str] = ()
    categories: Sequence[str] = ()
    after_ms: int | None = None
    metadata: Mapping[str, Any] = {}
    min_similarity: float | None = None


class _Note(NamedTuple):
    file: NoteFile
    item: Item
    score: float


def found(vault: Vault, wanted: Wanted, *, at_most: int) -> tuple[list[Row], int]:
    """Return the first hits and their number, best or newest first. Raises BadInput: a filter."""
    tags = _TAG.findall(wanted.query)
    query = _TAG.sub(" ", wanted.query).strip()
    fits = parse({**({"tags": tags} if tags else {}), **wanted.metadata})
    kinds = {plain(each) for each in wanted.types}
    ranked = [
        (file, score)
        for file, score in _ranked(vault, query, wanted)
        if (not kinds or plain(file.type) in kinds)
        and (wanted.after_ms is None or file.updated_ms >= wanted.after_ms)
    ]
    fields = vault.frontmatter(file for file, _ in ranked)
    ranked = [pair for pair in ranked if pair[0].item in fields and fits(fields[pair[0].item])]
    types = wanted.entity_types or (("observation",) if wanted.categories else ("entity",))
    if set(types) == {"entity"}:
        return list(map(_entity, _notes(vault, ranked[:at_most]))), len(ranked)
    notes = _notes(vault, ranked)
    hits: list[Row] = []
    if "entity" in types:
        hits += map(_entity, notes)
    if "observation" in types:
        hits += _observations(vault, notes, query, wanted.categories)
    if "relation" in types:
        hits += _relations(vault, notes, query)
    order = {note.file.item: place for place, note in enumerate(notes)}
    return sorted(hits, key=lambda hit: order[hit["entity_id"]])[:at_most], len(hits)


def _ranked(vault: Vault, query: str, wanted: Wanted) -> list[tuple[NoteFile, float]]:
    if wanted.search_type in {"title", "permalink"} or not query:
        return [(file, 0.0) for file in _listed(vault, query, wanted.search_type)]
    if wanted.search_type not in _BY_MEANING:
        # Where every word, or a word that begins so, is there.
        if not uses_operators(tokens(query)):
            query = " AND ".join(f"{word}*" for word in words_of(query)) or query
        return [(file, hit.score) for file, hit in vault.ranked(query, limit=MOST)]
    hits = vault.ranked(query, limit=MOST)
    scored = [(file, hit.score) for file, hit in hits]
    # Without a model, or before anything is embedded, the ranking by words is what there is.
    if wanted.search_type != "hybrid" and any(hit.signals.semantic for _, hit in hits):
        near = [(file, hit.signals.semantic) for file, hit in hits if hit.signals.semantic]
        scored = sorted(near, key=lambda pair: -pair[1])
    least = wanted.min_similarity
    least = vault.files.min_similarity if least is None else least
    return [(file, score) for file, score in scored if score >= least]


def _notes(vault: Vault, ranked: Sequence[tuple[NoteFile, float]]) -> list[_Note]:
    items = vault.items(file for file, _ in ranked)
    there = (pair for pair in ranked if pair[0].item in items)
    return [_Note(file, items[file.item], round(score, 4)) for file, score in there]


def _listed(vault: Vault, query: str, search_type: SearchType) -> list[NoteFile]:
    """Return notes by title or permalink; without a query all, the newest first."""
    files: Sequence[NoteFile] = vault.notes()
    if query and search_type == "permalink":
        fit = matcher(query).fullmatch
        bare = matcher(f"{vault.name}/{query}").fullmatch
        return [file for file in files if fit(file.permalink) or bare(file.permalink)]
    if query:
        words = words_of(query)
        with vault.files.store.read() as reader:
            known = reader.aliases_of(file.item for file in files)
        names = ((file, (file.title, *known.get(file.item, ()))) for file in files)
        return [file for file, some in names if any(_holds(name, words) for name in some)]
    return sorted(files, key=lambda file: (-file.updated_ms, file.path))


def words_of(query: str) -> list[str]:
    """Return the words of a query, in lower case, without its operators."""
    plain = (word.strip("'-") for word in _WORD.findall(query) if word not in {"AND", "OR", "NOT"})
    return [part.lower() for word in plain for part in word.split("-") if part]


def _holds(text: str, words: Sequence[str]) -> bool:
    """Return True if each word begins a word of a text."""
    known = words_of(text)
    return all(any(each.startswith(word) for each in known) for word in words)


def plain(name: str) -> str:
    """Return the name of a type as names are compared."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _observations(
    vault: Vault, notes: Sequence[_Note], query: str, categories: Sequence[str]
) -> list[Row]:
    words = words_of(query)
    claims = vault.claims(note.file for note in notes)
    return [
        _hit(
            note,
            "observation",
            f"{claim.category or 'note'}: {claim.text[:_TITLE_CHARS]}...",
            observation_permalink(note.file, claim),
            content=claim.text,
            metadata={"tags": list(claim.tags)},
            category=claim.category or "note",
        )
        for note in notes
        for claim in claims.get(note.file.item, ())
        if (not categories or (claim.category or "note") in categories)
        and _holds(f"{claim.category} {claim.text}", words)
    ]


def _relations(vault: Vault, notes: Sequence[_Note], query: str) -> list[Row]:
    words = words_of(query)
    edges = vault.edges([note.file for note in notes])
    return [
        _hit(
            note,
            "relation",
            f"{edge.source.title} -> {edge.to}",
            relation_permalink(edge),
            metadata={},
            from_entity=edge.source.permalink,
            to_entity=edge.target.permalink,
            relation_type=edge.relation.kind,
        )
        for note in notes
        for edge in edges.get(note.file.item, ())
        if edge.target and _holds(f"{edge.source.title} -> {edge.to} {edge.relation.kind}", words)
    ]


def _entity(note: _Note) -> Row:
    text, about = note.item.narrative, {"note_type": note.file.type}
    named = (note.file.title, note.file.permalink)
    return _hit(note, "entity", *named, content=text, metadata=about)


def _hit(
    note: _Note,
    kind: str,
    title: str,
    permalink: str,
    *,
    content: str | UnsetType = UNSET,
    metadata: Row,
    **more: str,
) -> Row:
    """Return a hit as clients know it: a note, an observation (a line of one) or a relation."""
    return row(
        title=title,
        type=kind,
        score=note.score,
        entity=note.file.permalink,
        external_id=note.item.uuid,
        permalink=permalink,
        content=content,
        file_path=note.file.path,
        updated_at=iso(note.file.updated_ms),
        metadata=metadata,
        entity_id=note.file.item,
        **more,
        validity=labels(note.item) or UNSET,
    )


def tags_of(given: object) -> list[str]:
    """Return tags as somebody wrote them, in a list or a text, without `#`."""
    if isinstance(given, str):
        return list(listed(given))
    return list(listed([*given])) if isinstance(given, Sequence) else []
