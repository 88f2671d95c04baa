"""How far the words and the meaning of one query are to be trusted; pure.

BM25 says which item fits the words best, not whether that is any good: the best of an answer may
hold but one common word of five. So words count by the share of the query that they cover, and
what they leave open goes to meaning. Where all words of a short query stand together they are a
name, and what holds it is meant: the larger an item the likelier, so its length counts little, and
what is merely near in meaning counts little too. A short text is hit by one word as by chance, and
means one thing: of it words that find little count less yet, and meaning more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.index import Damping

Column = NDArray[Any]

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

    words: Column
    meaning: Column
    doubt: float


def is_name(together: Column, count: int) -> bool:
    """Return True if a query of `count` words is a name: somewhere all of them stand together.

    `together` are the most of its words that stand together in each item.
    """
    return 1 < count <= MOST_OF_A_NAME and bool(together.max(initial=0) >= count)


def found_share(best: float, most: float) -> float:
    """Return how much of a query words find, 0 to 1, by the best BM25 and what it stays below."""
    return min(1.0, best / max(COVERED * most, _LEAST))


def trust(bm25: Column, lengths: Column | None, *, most: float, is_named: bool) -> Trust:
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


def distinctness(semantic: Column, crowding: Column, *, doubt: float) -> Column:
    """Return by what the meaning of each item is multiplied for what others mean too, 0 or more.

    Args:
        semantic: cosine of each item with the query.
        crowding: by how much the cosine of each item with what means nearly the same is above the
            mean of all; less than 0 for what stands alone.
        doubt: how little of the query its words find, 0 to 1.
    """
    crowding = np.where(crowding < 0, ALONE * crowding, crowding)
    factors: Column = 1 - CROWDED * doubt * crowding / np.maximum(semantic, _LEAST)
    return factors.clip(0)
