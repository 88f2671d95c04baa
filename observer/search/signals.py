"""The signals of candidates, a column each, and how far words and meaning are trusted; pure.

BM25 says which item matches the words best, not whether that is any good: the best item may hold
only one common word of five. So words count by the share of the query that they cover, and what
they leave open goes to meaning. Where all words of a short query stand together they are a name,
and what holds it is meant: the larger an item the likelier, so its length does not count, and what
is merely near in meaning counts little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.index import LENGTH_SHARE, ListRequest, TopK, View
from observer.observations.drafts import QUESTION
from observer.search.query import QueryPlan
from observer.search.rank import ASKING, COMPARED
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
_NONE = TopK(np.zeros(0, np.int64), np.zeros(0, np.float32))


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
    """What words and meaning found, of each list, and how little of the query its words find."""

    by_words: Sequence[TopK]
    by_vector: Sequence[TopK]
    doubt: float
    """0 for nothing left open to 1; see `doubt_of`."""


def columns(
    view: View,
    query: QueryWords,
    vector: Vector | None,
    lists: Sequence[ListRequest],
    found: Found,
) -> Mapping[str, Column]:
    """Return the figures of all candidates, a column a signal; see `rank.HitSignals`.

    Args:
        view: the index.
        query: its words.
        vector: what it means; None where meaning is not asked.
        lists: which items belong to which list of the answer.
        found: by either leg.
    """
    places = np.unique(
        np.concatenate([best.places for best in (_NONE, *found.by_words, *found.by_vector)])
    )
    if not len(places) or not len(query.codes):
        return no_columns()
    seen = view.occurrences(places, query.codes)
    weights = seen.weights()
    together = seen.together(len(query.codes) + CLOSE_DISTANCE)
    is_named = is_name(together, len(query.codes))
    trusted = trust(
        view.relevance(places, query.codes, weights, 0.0 if is_named else LENGTH_SHARE),
        good=_good(view, query),
        doubt=found.doubt,
        is_named=is_named,
    )
    semantic = np.zeros(len(places)) if vector is None else view.cosines(places, vector).clip(0, 1)
    crowding = _crowding(view, vector, places, found.by_vector if found.doubt else ())
    most = max(1, len(query.codes) - 1)
    is_short = 1 < len(query.codes) <= MOST_OF_A_PHRASE
    exact = np.zeros(len(places))
    for sequence in query.sequences:
        exact += seen.hold(sequence) / len(query.sequences)
    return {
        "ids": view.ids(places),
        "list": sum(n * each.mask[places] for n, each in enumerate(lists)),
        "fts5": trusted.words,
        "semantic": semantic,
        "meaning_weight": trusted.meaning * distinctness(semantic, crowding, doubt=found.doubt),
        "close": (together - 1).clip(0) / most,
        "phrase": seen.hold(query.codes.tolist()) * float(is_short),
        "exact": exact,
        "weight": _weights(view, places),
        "held": weights > 0,
        "words": np.array(query.words),
        "words_rank": _ranks(places, found.by_words),
        "meaning_rank": _ranks(places, found.by_vector),
    }


def no_columns() -> Mapping[str, Column]:
    """Return the figures of no candidate."""
    names = ("ids", "list", *COMPARED, "weight", "held", "words", "words_rank", "meaning_rank")
    return {name: np.zeros(0, np.int64) for name in names}


def _weights(view: View, places: Column) -> Column:
    """Return what the score of each item is multiplied with for its category."""
    weights = np.ones(len(places))
    weights[view.mask(_QUESTIONS)[places]] = ASKING
    return weights


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
nothing.

Where much says nearly the same, as reports of one kind do, all of it is near to any query; and what
stands alone may be about anything, so it gains as much. Where words find what is meant, nothing
changes.
"""

NAMED = 0.25
"""What meaning counts for where the words of a query are a name.

Source: of this and all weights above, the sets in docs/benchmarks.md on which weights were chosen.
"""

_LEAST = 1e-9


class Trust(NamedTuple):
    """What the words of each item count for, 0 to 1, and by what meaning is multiplied."""

    words: Column
    meaning: float


def is_name(together: Column, count: int) -> bool:
    """Return True if a query of `count` words is a name: somewhere all of them stand together.

    `together` are the most of its words that stand together in each item.
    """
    return 1 < count <= MOST_OF_A_PHRASE and bool(together.max(initial=0) >= count)


def doubt_of(view: View, query: QueryWords, by_words: Sequence[TopK]) -> float:
    """Return how little of a query its words find, 0 for nothing left open to 1.

    Words that an item holds by chance are seldom most of a query, so a half counts for a quarter.
    """
    best = np.unique(np.concatenate([_NONE.places, *(each.places[:FIRST] for each in by_words)]))
    if not len(best):
        return 1.0
    rarities = view.rarities(query.codes)
    held = view.occurrences(best, query.codes).weights() > 0
    return 1 - float((held @ rarities).max() / rarities.sum()) ** 2


def by_chance(view: View, query: QueryWords) -> float:
    """Return about how many items would hold all words of a query if each stood where it may."""
    return view.size * math.exp(-float(view.rarities(query.codes).sum()))


def _good(view: View, query: QueryWords) -> float:
    """Return the BM25 of an item that may well be what is asked for."""
    return GOOD * float(np.sort(view.rarities(query.codes))[-EXPECTED:].sum())


def trust(bm25: Column, *, good: float, doubt: float, is_named: bool) -> Trust:
    """Return how far a query's words and meaning are to be trusted.

    Args:
        bm25: of each item.
        good: BM25 of an item that may well be what is asked for.
        doubt: how little of the query its words find, 0 to 1.
        is_named: whether the query is a name; see `is_name`.
    """
    words = bm25 / max(float(bm25.max(initial=0)), good, _LEAST)
    return Trust(words, (1 + OPEN * doubt**2) * (NAMED if is_named else 1))


def distinctness(semantic: Column, crowding: Column, *, doubt: float) -> Column:
    """Return by what the meaning of each item is multiplied for what others mean too, 0 or more.

    Args:
        semantic: cosine of each item with the query.
        crowding: by how much the cosine of each item with what means nearly the same is above the
            mean of all; less than 0 for what stands alone.
        doubt: how little of the query its words find, 0 to 1.
    """
    factors: Column = 1 - CROWDED * doubt * crowding / np.maximum(semantic, _LEAST)
    return factors.clip(0)
