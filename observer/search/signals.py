"""The signals of candidates, a column each, and how far words and meaning are trusted; pure.

BM25 says which item matches the words best, not whether that is any good: the best item may hold
only one common word of five. So words count by the share of the query that they cover, and what
they leave open goes to meaning. Where all words of a short query stand together they are a name,
and what holds it is meant: the larger an item the likelier, so its length counts little, and what
is merely near in meaning counts little too. A short text is matched by one word by chance: in it
words that match little count less, and meaning more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.index import Damping, ListRequest, TopK, View
from observer.observations.drafts import QUESTION
from observer.search.query import QueryPlan
from observer.search.rank import ASKING, COMPARED, TYPE_WEIGHTS
from observer.store.interface import StoreReader

Column = NDArray[Any]
Vector = NDArray[np.float32]

MOST_CODES = 64
"""Different stems of one query."""

MOST_ENDINGS = 20
"""Words that one prefix stands for when it comes to ranking."""

MOST_OF_A_PHRASE = 5
"""Words of the longest query that is looked for as it was written."""

CLOSE_DISTANCE = 3
"""Other words that may stand between words which count as close. Source: development sets."""

_QUESTIONS = Filters(types=("prompt", "summary"), categories=(QUESTION,))
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


def columns(
    view: View,
    query: QueryWords,
    vector: Vector | None,
    lists: Sequence[ListRequest],
    *,
    by_words: Sequence[TopK],
    by_vector: Sequence[TopK],
) -> Mapping[str, Column]:
    """Return the figures of all candidates, a column a signal; see `rank.HitSignals`.

    Args:
        view: the index.
        query: its words.
        vector: what it means; None where meaning is not asked.
        lists: which items belong to which list of the answer.
        by_words: what words found, of each list.
        by_vector: what meaning found.
    """
    places = np.unique(np.concatenate([best.places for best in (_NONE, *by_words, *by_vector)]))
    if not len(places) or not len(query.codes):
        return no_columns()
    seen = view.occurrences(places, query.codes)
    weights = seen.weights()
    together = seen.together(len(query.codes) + CLOSE_DISTANCE)
    is_named = is_name(together, len(query.codes))
    damped = OF_NAMES if is_named else OF_PROSE
    trusted = trust(
        view.relevance(places, query.codes, weights, damped),
        None if vector is None else view.lengths(places),
        most=view.most_relevance(query.codes, damped),
        is_named=is_named,
    )
    semantic = np.zeros(len(places)) if vector is None else view.cosines(places, vector).clip(0, 1)
    crowding = _crowding(view, vector, places, by_vector if trusted.doubt else ())
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
        "meaning_weight": trusted.meaning * distinctness(semantic, crowding, doubt=trusted.doubt),
        "close": (together - 1).clip(0) / most,
        "phrase": seen.hold(query.codes.tolist()) * float(is_short),
        "exact": exact,
        "weight": _weights(view, places),
        "held": weights > 0,
        "words": np.array(query.words),
        "words_rank": _ranks(places, by_words),
        "meaning_rank": _ranks(places, by_vector),
    }


def no_columns() -> Mapping[str, Column]:
    """Return the figures of no candidate."""
    names = ("ids", "list", *COMPARED, "weight", "held", "words", "words_rank", "meaning_rank")
    return {name: np.zeros(0, np.int64) for name in names}


def _weights(view: View, places: Column) -> Column:
    """Return what the score of each item is multiplied with for its type and category."""
    weights = np.ones(len(places))
    for weight, types in TYPE_WEIGHTS:
        weights[view.mask(Filters(types=types))[places]] = weight
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


Column_trust = NDArray[Any]

COVERED = 0.5
"""Share of the highest BM25 there could be that makes the words of a query trusted in full."""

OPEN = 1.25
"""By what share meaning counts for more where words find nothing at all."""

SHORT_WORDS = 20
"""Words that a text has when it counts as short by a share of 1/e."""
SHORT_OPEN = 5.0
"""By what share more, beside `OPEN`, the meaning of a text counts the shorter it is."""
SHORT_DOUBT = 6
"""Power of what is found by which words count for such a text.

Source: development sets, short notes among them; those of longer texts change by 0.02 points.
"""

CROWDED = 0.5
"""Share of an item's crowding (see `distinctness`) that is taken off its cosine where words find
nothing.

Source: development sets. Where much says nearly the same, as reports of one kind do, all of it is
near to any query: 60 facts among 560 short notes, asked for in other words, have an nDCG@10 of 73
instead of 59. Where nothing repeats, and where words find what is meant, nothing changes.
"""

ALONE = 0.6
"""Share of that which is put onto the cosine of what stands alone: it may be about anything."""

NAMED = 0.25
"""What meaning counts for where the words of a query are a name."""

MOST_OF_A_NAME = 5
"""Words of the longest query that may be a name."""

OF_NAMES = Damping(saturation=0.9, length_share=0.2)
OF_PROSE = Damping()
"""Source: development sets, in which `OF_NAMES` for all queries costs prose 0.2 to 0.7 points."""

_LEAST = 1e-9


class Trust(NamedTuple):
    """What the words of each item count for, 0 to 1, and by what its meaning is multiplied.

    `doubt` says how little of the query its words find, 0 to 1.
    """

    words: Column_trust
    meaning: Column_trust
    doubt: float


def is_name(together: Column_trust, count: int) -> bool:
    """Return True if a query of `count` words is a name: somewhere all of them stand together.

    `together` are the most of its words that stand together in each item.
    """
    return 1 < count <= MOST_OF_A_NAME and bool(together.max(initial=0) >= count)


def found_share(best: float, most: float) -> float:
    """Return how much of a query words find, 0 to 1, by the best BM25 and what it stays below."""
    return min(1.0, best / max(COVERED * most, _LEAST))


def trust(
    bm25: Column_trust, lengths: Column_trust | None, *, most: float, is_named: bool
) -> Trust:
    """Return how far a query's words and meaning are to be trusted.

    Args:
        bm25: of each item.
        lengths: words of each item; None where no meaning can make up for words in doubt.
        most: what BM25 stays below in any item, whatever it holds of the query.
        is_named: whether the query is a name; see `is_name`.
    """
    best, enough = float(bm25.max(initial=0)), COVERED * most
    found = found_share(best, most)
    short = np.zeros(len(bm25)) if lengths is None else np.exp(-lengths / SHORT_WORDS)
    words = bm25 / max(best, enough, _LEAST) * found ** (SHORT_DOUBT * short)
    meaning = 1 + (OPEN + SHORT_OPEN * short) * (1 - found)
    return Trust(words, meaning * NAMED if is_named else meaning, 1 - found)


def distinctness(semantic: Column_trust, crowding: Column_trust, *, doubt: float) -> Column_trust:
    """Return by what the meaning of each item is multiplied for what others mean too, 0 or more.

    Args:
        semantic: cosine of each item with the query.
        crowding: by how much the cosine of each item with what means nearly the same is above the
            mean of all; less than 0 for what stands alone.
        doubt: how little of the query its words find, 0 to 1.
    """
    crowding = np.where(crowding < 0, ALONE * crowding, crowding)
    factors: Column_trust = 1 - CROWDED * doubt * crowding / np.maximum(semantic, _LEAST)
    return factors.clip(0)
