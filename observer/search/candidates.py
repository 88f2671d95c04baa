"""Candidates of a query from both legs of the search, words and vectors, each scored by both.

BM25 says which item matches the words best, not whether that is any good: the best item may hold
only one common word of five. So words count by the share of the query that they cover, and what
they leave open goes to meaning. Where all words of a short query stand together they are a name,
and what holds it is meant: the larger an item the likelier, so its length does not count, and what
is merely near in meaning counts little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, compress
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import ItemKind
from observer.index import LENGTH_SHARE, ListRequest, TopK, View, distinct
from observer.observations.drafts import QUESTION
from observer.search.query import QueryPlan, quoted
from observer.search.rank import ASKING, COMPARED, NEAR, HitSignals, relevance
from observer.store.reader import StoreReader

Column = NDArray[Any]
Vector = NDArray[np.float32]

MOST_CODES = 64
"""Different stems of one query."""

MOST_ENDINGS = 20
"""Words that one prefix stands for when it comes to ranking."""

MOST_OF_A_PHRASE = 5
"""Words of the longest query that is looked for as it was written, and may be a name."""

CLOSE_DISTANCE = 3
"""Other words that may stand between words which count as close. Source: development sets."""

_QUESTIONS = Filters(types=("turn", "summary"), categories=(QUESTION,))


class QueryWords:
    """The words of a plan as the index knows them."""

    def __init__(self, reader: StoreReader, view: View, wanted: QueryPlan) -> None:
        names = _named(view, wanted.words)
        for prefix in wanted.prefixes:
            endings = reader.terms_with_prefix(prefix.casefold(), limit=MOST_ENDINGS)
            names |= _named(view, endings)
        self.codes = np.array(list(names)[:MOST_CODES], np.uint32)
        self.words = list(names.values())[:MOST_CODES]
        self.sequences = [
            list(chain.from_iterable(view.codes(shape.split()))) for shape in wanted.shapes
        ]


def _named(view: View, words: Sequence[str]) -> dict[int, str]:
    """Return some words by their codes."""
    named = zip(words, view.codes(words), strict=True)
    return {code: word for word, codes in named for code in codes}


class Found(NamedTuple):
    """What words and meaning found, of each list, and `doubt_of` the query."""

    by_words: Sequence[TopK]
    by_vector: Sequence[TopK]
    doubt: float


def columns(
    view: View, query: QueryWords, vector: Vector | None, lists: Sequence[ListRequest], found: Found
) -> Mapping[str, Column]:
    """Return the figures of all candidates, a column a signal; see `rank.HitSignals`.

    `vector` is None where meaning is not asked; `lists` say which items are of which list.
    """
    places = distinct([best.places for best in (*found.by_words, *found.by_vector)])
    if not len(places) or not len(query.codes):
        return NO_COLUMNS
    seen = view.occurrences(places, query.codes)
    weights = seen.weights()
    together = seen.together(len(query.codes) + CLOSE_DISTANCE)
    is_named = is_name(together, len(query.codes))
    by_words, meaning = trust(
        view.relevance(places, query.codes, weights, 0.0 if is_named else LENGTH_SHARE),
        good=GOOD * float(np.sort(view.words(query.codes).rarities)[-EXPECTED:].sum()),
        doubt=found.doubt,
        is_named=is_named,
    )
    semantic = np.zeros(len(places)) if vector is None else view.cosines(places, vector).clip(0, 1)
    crowding = _crowding(view, vector, places, found.by_vector if found.doubt else ())
    most = max(1, len(query.codes) - 1)
    exact = np.zeros(len(places))
    for sequence in query.sequences:
        exact += seen.hold(sequence) / len(query.sequences)
    return {
        "ids": view.ids(places),
        "list": np.sum([n * each.mask[places] for n, each in enumerate(lists)], axis=0),
        "fts5": by_words,
        "semantic": semantic,
        "meaning_weight": meaning * distinctness(semantic, crowding, doubt=found.doubt),
        "close": (together - 1).clip(0) / most,
        # What stands side by side stands together, too.
        "phrase": 1.0 * seen.hold(query.codes.tolist() if is_named else ()),
        "exact": exact,
        "weight": np.where(view.are(places, _QUESTIONS), ASKING, 1.0),
        "held": weights > 0,
        "words": np.array(query.words),
        "words_rank": _ranks(places, found.by_words),
        "meaning_rank": _ranks(places, found.by_vector),
    }


_OTHERS = ("ids", "list", "weight", "held", "words", "words_rank", "meaning_rank")
NO_COLUMNS: Mapping[str, Column] = dict.fromkeys((*_OTHERS, *COMPARED), np.zeros(0, np.int64))
"""The figures of no candidate."""


def _ranks(places: Column, found: Sequence[TopK]) -> Column:
    ranks = np.zeros(len(places), np.int64)
    for best in found:
        ranks[np.searchsorted(places, best.places)] = np.arange(1, len(best.places) + 1)
    return ranks


def _crowding(
    view: View, vector: Vector | None, places: Column, by_vector: Sequence[TopK]
) -> Column:
    """Return how much nearer than is usual each item that meaning found is to others of these."""
    found = np.zeros(len(places))
    dimensions = 0 if vector is None else len(vector)
    for near in [np.sort(best.places) for best in by_vector if len(best.places)]:
        crowding = view.crowding(near, dimensions)
        found[np.searchsorted(places, near)] = crowding - crowding.mean()
    return found


FIRST = 5
"""Items, the best by words, that are looked at for how much of a query they hold."""

EXPECTED = 4
"""Words, the rarest, of a query that what answers it may be expected to hold."""

GOOD = 1.5
"""By what the rarity of such a word is multiplied: about what BM25 makes of one in title and text,
which is 2.2 at most."""

OPEN = 1.25
"""By what share meaning counts for more where words find nothing at all."""

CROWDED = 0.4
"""Share of an item's crowding (see `distinctness`) that is taken off its cosine where words find
nothing: where much says nearly the same, as reports of one kind do, all is near to any query."""

NAMED = 0.25
"""What meaning counts for where the words of a query are a name. Source: of this and all weights
above, the sets in docs/benchmarks.md on which weights were chosen."""

_LEAST = 1e-9


def is_name(together: Column, count: int) -> bool:
    """Return True if a query of `count` words is a name: somewhere all of them stand together.

    `together` are the most of its words that stand together in each item.
    """
    return 1 < count <= MOST_OF_A_PHRASE and bool(together.max(initial=0) >= count)


def doubt_of(view: View, query: QueryWords, by_words: Sequence[TopK]) -> float:
    """Return how little of a query its words find, 0 for nothing left open to 1.

    Words that an item holds by chance are seldom most of a query, so a half counts for a quarter.
    """
    best = distinct([each.places[:FIRST] for each in by_words])
    if not len(best):
        return 1.0
    rarities = view.words(query.codes).rarities
    held = view.occurrences(best, query.codes).weights() > 0
    return 1 - float((held @ rarities).max() / rarities.sum()) ** 2


def trust(bm25: Column, *, good: float, doubt: float, is_named: bool) -> tuple[Column, float]:
    """Return what the words of each item count for, 0 to 1, and by what meaning is multiplied.

    `good` is the BM25 of an item that may well be what is asked for; `doubt`: see `doubt_of`.
    """
    words = bm25 / max(float(bm25.max(initial=0)), good, _LEAST)
    return words, (1 + OPEN * doubt**2) * (NAMED if is_named else 1)


def distinctness(semantic: Column, crowding: Column, *, doubt: float) -> Column:
    """Return by what the meaning of each item is multiplied for what others mean too, 0 or more.

    `semantic` is its cosine with the query, `crowding` by how much that with what means nearly the
    same is above the mean of all.
    """
    factors: Column = 1 - CROWDED * doubt * crowding / np.maximum(semantic, _LEAST)
    return factors.clip(0)


Leg = Literal["words", "meaning"]
LEGS: tuple[Leg, ...] = ("words", "meaning")


class Encode(Protocol):
    """Returns what a text means as a unit vector; None while no model is there."""

    def __call__(self, text: str, doubt: float = ..., /) -> Vector | None:
        """`doubt` says how little of the text its words find, 0 to 1."""


BY_WORDS = 60
"""Candidates of each leg. Source: more change nDCG@10 on the development sets by 0.02 points."""

MOST_MATCHES = 5_000
"""Items, the newest, that may fit an expression with operators, or a file, and are ranked."""

NO_MEANING = "searched by words alone: the model of meanings is not ready"

NOT_COMPLETE = "the newest items are not searched yet: the index is being made"

LEAST_BARE = 0.005
"""Share of items without a vector that is worth a word."""
BARE = "{:.0%} of the items are found by words alone until the daemon has embedded them"

SEARCHED: tuple[ItemKind, ...] = ("observation", "note", "summary")
"""Kinds that a query finds when none is named."""
_RECORDED: tuple[ItemKind, ...] = ("record", *SEARCHED)
"""The same where a type or category is named, which may be one of records."""


def searched(filters: Filters) -> tuple[ItemKind, ...]:
    """Return the kinds that a query with these filters finds."""
    return filters.kinds or (_RECORDED if filters.types or filters.categories else SEARCHED)


class Sources(NamedTuple):
    """One snapshot of the memory: its rows, its index, and the way from a text to its meaning."""

    reader: StoreReader
    view: View
    encode: Encode


class Candidates:
    """Items that a query may mean, and what speaks for each: a column of figures, 0 to 1, a signal.

    `degraded` says why some items may be missing; `is_narrowed`: only some might be candidates.
    """

    def __init__(
        self, columns: Mapping[str, Column], *, lists: int, degraded: str, is_narrowed: bool = False
    ) -> None:
        self.is_narrowed = is_narrowed
        self.ids: list[int] = columns["ids"].tolist()
        self.degraded = degraded
        self._columns = columns
        # One by one, figures of an array take three times as long as those of a list.
        self._figures = {name: columns[name].tolist() for name in COMPARED}
        self._lists = lists
        self._words: list[str] = columns["words"].tolist()
        self._places = {item_id: place for place, item_id in enumerate(self.ids)}

    def lists(self) -> list[list[int]]:
        """Return the ids of each list, those that fit the query best first; of equals the newest.

        Where summaries and others are wanted, the second list is that of summaries.
        """
        worth = relevance(**{name: self._columns[name] for name in COMPARED})
        order = np.lexsort((-self._columns["ids"], -worth * self._columns["weight"]))
        numbers = self._columns["list"][order]
        ids = self._columns["ids"][order]
        return [ids[numbers == number].tolist() for number in range(self._lists)]

    @property
    def has_signal(self) -> bool:
        """Whether any holds a word of the query, or is near to what it means."""
        return bool(((self._columns["fts5"] > 0) | (self._columns["semantic"] >= NEAR)).any())

    def signals(self, item_id: int, *, recency: float, project_match: float = 0.0) -> HitSignals:
        """Return what speaks for an item; for one that is no candidate nothing beside these."""
        place = self._places.get(item_id)
        if place is None:
            return HitSignals(recency=recency, project_match=project_match)
        columns = self._columns
        return HitSignals(
            **{name: figures[place] for name, figures in self._figures.items()},
            recency=recency,
            project_match=project_match,
            terms=tuple(compress(self._words, columns["held"][place].tolist())),
            words_rank=int(columns["words_rank"][place]) or None,
            meaning_rank=int(columns["meaning_rank"][place]) or None,
            type_weight=float(columns["weight"][place]),
        )


def candidates(
    sources: Sources,
    wanted: QueryPlan,
    filters: Filters,
    *,
    legs: Sequence[Leg] = LEGS,
    most: int = BY_WORDS,
    only: Callable[[float], Sequence[int] | None] = lambda _: None,
) -> Candidates:
    """Find what a plan may mean among the items that fit the filters, by one leg or both.

    Each leg finds `most` of each list. `only` returns the only items that may be candidates, None
    for any, where so many hold all words of the plan by chance.
    """
    kinds = searched(filters)
    others = tuple(kind for kind in kinds if kind != "summary")
    # Summaries have a list of their own.
    asked = [part for part in (others, ("summary",)) if set(part) & set(kinds)]
    view = sources.view
    if not wanted.words:
        return Candidates(NO_COLUMNS, lists=len(asked), degraded="")
    query = QueryWords(sources.reader, view, wanted)
    # About how many items would hold all words of the query if each stood where it may.
    chosen = only(view.size * math.exp(-float(view.words(query.codes).rarities.sum())))
    among, cut = _among(sources.reader, wanted, filters)
    among = among if chosen is None else np.array(chosen, np.int64)
    lists = [ListRequest(view.mask(replace(filters, kinds=part), among), most) for part in asked]
    by_words = view.by_words(query.codes, lists) if "words" in legs else []
    doubt = doubt_of(view, query, by_words)
    vector = sources.encode(wanted.text, doubt) if "meaning" in legs else None
    # An expression says what must hold: its matches are ranked by meaning, not found by it.
    by_vector: list[TopK] = []
    if vector is not None and not wanted.expression:
        # For whichever list: the nearest of one alone may all be far.
        of_any = np.logical_or.reduce([each.mask for each in lists])
        by_vector = view.by_vector(vector, [ListRequest(of_any, most)])
    late = "" if view.is_complete else NOT_COMPLETE
    bare = ""
    if "meaning" in legs and vector is None:
        bare = NO_MEANING
    elif "meaning" in legs and 1 - view.embedded >= LEAST_BARE:
        bare = BARE.format(1 - view.embedded)
    return Candidates(
        columns(view, query, vector, lists, Found(by_words, by_vector, doubt)),
        lists=len(lists),
        degraded="; ".join(filter(None, (cut, late, bare))),
        is_narrowed=chosen is not None,
    )


def _among(
    reader: StoreReader, wanted: QueryPlan, filters: Filters
) -> tuple[NDArray[np.int64] | None, str]:
    """Return the items that fit what only the store can match (None: all), and what is missing."""
    expressions = [wanted.expression] if wanted.expression else []
    if filters.files:
        expressions.append(f"files : ({' OR '.join(map(quoted, filters.files))})")
    if not expressions and is_indexed(filters):
        return None, ""
    ids = (
        reader.match(f"({') AND ('.join(expressions)})", filters, limit=MOST_MATCHES)
        if expressions
        else reader.ids(filters, limit=MOST_MATCHES)
    )
    if filters.files and not wanted.expression:
        ids += reader.moved_to(filters.files, limit=MOST_MATCHES)
    cut = f"only the newest {MOST_MATCHES:,} matches were ranked; narrow the query"
    return np.array(sorted(set(ids)), np.int64), cut if len(ids) >= MOST_MATCHES else ""


def is_indexed(filters: Filters) -> bool:
    """Return True if the index knows what fits; of a person's own notes alone it does."""
    others = (filters.files, filters.tags, filters.owner_tag, filters.layer, filters.by)
    return not (any(others) or filters.whose or filters.scope in {"project", "team"})
