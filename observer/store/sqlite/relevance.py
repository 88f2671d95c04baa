"""BM25 with the document frequencies at hand.

FTS5's own `bm25()` counts the documents of every phrase anew in each query, by walking all of
them: for a common word that costs more than everything else. Here the counts come from the store,
so that a query costs what it scores.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework", with FTS5's constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import apsw

WEIGHTS = (2.0, 1.0, 1.0, 1.5, 1.0, 1.0, 0.0)
"""What an occurrence counts for in `title` … `files`, `place`. Source: development sets."""

SATURATION = 1.2
LENGTH_SHARE = 0.75
LEAST_RARITY = 1e-6
"""What a word that most items hold is worth: enough to match, too little to matter."""

COUNTED = 1_000
"""Items that may hold a phrase's rarest word for the phrase itself to be counted."""

COMMON = 1_000
STALE_SHARE = 0.02
"""Counts from `COMMON` on are kept until the store has grown by this share."""

Frequencies = Callable[[Sequence[str]], Mapping[str, int]]


class Counts:
    """What is known of the commonest words, so that they need not be counted for each query.

    Shared by all readers of a store; a lost or doubled entry does no harm.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def recall(self, terms: Sequence[str], *, newest_id: int) -> dict[str, int]:
        """Return the counts that still hold."""
        known = ((term, self._known.get(term, (0, 0))) for term in terms)
        return {
            term: count
            for term, (count, at_id) in known
            if count and abs(newest_id - at_id) <= STALE_SHARE * at_id
        }

    def learn(self, counts: Mapping[str, int], *, newest_id: int) -> None:
        """Keep the counts that are costly to find out."""
        self._known |= {term: (n, newest_id) for term, n in counts.items() if n >= COMMON}


class Query(NamedTuple):
    """What is the same for all rows of one query."""

    rarities: tuple[float, ...]
    mean_length: float


class Relevance:
    """The SQL function ``relevance(item_words, unscored)``.

    BM25 of all phrases of the query but the last `unscored`, which only restrict.
    """

    def __init__(self, frequencies: Frequencies) -> None:
        self._frequencies = frequencies

    def __call__(self, api: apsw.FTS5ExtensionApi, /, *arguments: apsw.SQLiteValue) -> float:
        """Return the score of the row that the query stands on."""
        query = api.aux_data or self._prepare(api, unscored=cast("int", arguments[0]))
        length = api.column_size(-1) / query.mean_length
        dampening = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
        score = 0.0
        for phrase, rarity in enumerate(query.rarities):
            # Most phrases are not in most rows; asking for places is what costs.
            if columns := api.phrase_columns(phrase):
                places = api.phrase_locations(phrase)
                weight = sum([WEIGHTS[column] * len(places[column]) for column in columns])
                score += rarity * weight * (SATURATION + 1) / (weight + dampening)
        return score

    def _prepare(self, api: apsw.FTS5ExtensionApi, *, unscored: int) -> Query:
        phrases = [list(map(str, phrase)) for phrase in api.phrases]
        phrases = phrases[: len(phrases) - unscored]
        counts = self._frequencies(sorted({term for phrase in phrases for term in phrase}))
        rarities = []
        for place, phrase in enumerate(phrases):
            count = min((counts[term] for term in phrase), default=api.row_count)
            if len(phrase) > 1 and count <= COUNTED:
                count = _count(api, place)
            rarities.append(_rarity(count, api.row_count))
        mean_length = api.column_total_size(-1) / max(1, api.row_count)
        api.aux_data = query = Query(tuple(rarities), max(1.0, mean_length))
        return query


def _count(api: apsw.FTS5ExtensionApi, phrase: int) -> int:
    found: list[int] = []
    api.query_phrase(phrase, lambda row, ids: ids.append(row.rowid), found)
    return len(found)


def _rarity(count: int, rows: int) -> float:
    return max(LEAST_RARITY, math.log((rows - count + 0.5) / (count + 0.5)))
