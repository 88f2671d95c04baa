"""What speaks for each item that a query may mean, asked of the index: a column a signal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from observer.filters import Filters
from observer.index import Best, View, Wanted
from observer.interpret.memory_use import QUESTION
from observer.recall.query import Plan
from observer.recall.rank import ASKING, COMPARED, TYPE_WEIGHTS
from observer.recall.trust import OF_NAMES, OF_PROSE, distinctness, is_name, trust
from observer.store.interface import Reader

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
_NONE = Best(np.zeros(0, np.int64), np.zeros(0, np.float32))


class Query:
    """The words of a plan as the index knows them."""

    def __init__(self, reader: Reader, view: View, wanted: Plan) -> None:
        names = {code: word for word in wanted.words for code in view.codes(word)}
        for prefix in wanted.prefixes:
            endings = reader.beginning_with(prefix.casefold(), limit=MOST_ENDINGS)
            names |= {code: term for term in endings for code in view.codes(term)}
        self.codes = np.array(list(names)[:MOST_CODES], np.uint32)
        self.words = list(names.values())[:MOST_CODES]
        self.sequences = [
            [code for word in shape.split() for code in view.codes(word)] for shape in wanted.shapes
        ]


def columns(
    view: View,
    query: Query,
    vector: Vector | None,
    lists: Sequence[Wanted],
    *,
    by_words: Sequence[Best],
    by_meaning: Sequence[Best],
) -> Mapping[str, Column]:
    """Return the figures of all candidates, a column a signal; see `rank.Signals`.

    Args:
        view: the index.
        query: its words.
        vector: what it means; None where meaning is not asked.
        lists: which items belong to which list of the answer.
        by_words: what words found, of each list.
        by_meaning: what meaning found.
    """
    places = np.unique(np.concatenate([best.places for best in (_NONE, *by_words, *by_meaning)]))
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
    crowding = _crowding(view, vector, places, by_meaning if trusted.doubt else ())
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
        "meaning_rank": _ranks(places, by_meaning),
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


def _ranks(places: Column, found: Sequence[Best]) -> Column:
    ranks = np.zeros(len(places), np.int64)
    for best in found:
        ranks[np.searchsorted(places, best.places)] = np.arange(1, len(best.places) + 1)
    return ranks


def _crowding(
    view: View, vector: Vector | None, places: Column, by_meaning: Sequence[Best]
) -> Column:
    """Return how much nearer than is usual each item that meaning found is to others of these."""
    found = np.zeros(len(places))
    dimensions = 0 if vector is None else len(vector)
    for near in [np.sort(best.places) for best in by_meaning if len(best.places)]:
        crowding = view.crowding(near, dimensions)
        found[np.searchsorted(places, near)] = crowding - crowding.mean()
    return found
