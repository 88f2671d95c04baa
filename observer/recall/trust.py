"""How far the words and the meaning of one query are to be trusted; pure.

BM25 says which item fits the words best, not whether that is any good: the best of an answer may
hold but one common word of five. So words count by the share of the query that they cover, and
what they leave open goes to meaning. Where all words of a short query stand together they are a
name, and what holds it is meant: the larger an item the likelier, so its length counts little, and
what is merely near in meaning counts little too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from observer.index import Damping

Column = NDArray[Any]

COVERED = 0.5
"""Share of the highest BM25 there could be that makes the words of a query trusted in full."""

OPEN = 1.25
"""By what share meaning counts for more where words find nothing at all."""

NAMED = 0.25
"""What meaning counts for where the words of a query are a name."""

MOST_OF_A_NAME = 5
"""Words of the longest query that may be a name."""

OF_NAMES = Damping(saturation=0.9, length_share=0.2)
OF_PROSE = Damping()
"""Source: development sets, in which `OF_NAMES` for all queries costs prose 0.2 to 0.7 points."""

_LEAST = 1e-9


class Trust(NamedTuple):
    """What the words of each item count for, 0 to 1, and a factor of what meaning counts for."""

    words: Column
    meaning: float


def is_name(together: Column, count: int) -> bool:
    """Return True if a query of `count` words is a name: somewhere all of them stand together.

    `together` are the most of its words that stand together in each item.
    """
    return 1 < count <= MOST_OF_A_NAME and bool(together.max(initial=0) >= count)


def trust(bm25: Column, *, most: float, is_named: bool) -> Trust:
    """Return how far a query's words and meaning are to be trusted.

    Args:
        bm25: of each item.
        most: what BM25 stays below in any item, whatever it holds of the query.
        is_named: whether the query is a name; see `is_name`.
    """
    best, enough = float(bm25.max(initial=0)), COVERED * most
    found = min(1.0, best / max(enough, _LEAST))
    meaning = 1 + OPEN * (1 - found)
    return Trust(bm25 / max(best, enough, _LEAST), meaning * NAMED if is_named else meaning)
