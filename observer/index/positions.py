"""Where the words of a query stand in some rows: how near to each other, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from observer.index.segment import HALVES
from observer.index.tokens import COLUMNS, SEPARATOR

_APART = 1_000
"""Added between columns, so that what ends one is not near to what begins the next."""
_LOW_CODES = np.uint32(1 << 16)


class Occurrences:
    """Every place in some rows where a word of a query stands.

    Args:
        tokens: the codes of whole rows, one row behind the other.
        query: codes of at least one and at most 64 different words.
    """

    def __init__(self, tokens: NDArray[np.uint32], query: NDArray[np.uint32]) -> None:
        self._tokens = tokens
        self._query = query
        self._ends = np.flatnonzero(tokens == SEPARATOR)
        self._count = len(self._ends) // COLUMNS
        order = np.argsort(query)
        # Few words are of the query: most of the others are seen by half of their code.
        is_likely = np.zeros(_LOW_CODES, np.bool_)
        is_likely[query % _LOW_CODES] = True
        # In a quarter of the time of a remainder and brackets.
        places = np.flatnonzero(is_likely.take(tokens.astype(np.uint16)))
        found = np.minimum(np.searchsorted(query[order], tokens[places]), len(query) - 1)
        is_word = query[order][found] == tokens[places]
        places, found = places[is_word], found[is_word]
        columns = np.searchsorted(self._ends, places)
        self._rows = columns // COLUMNS
        self._words = order[found]
        self._halves = HALVES[columns % COLUMNS]
        self._positions = places + _APART * columns

    def weights(self) -> NDArray[np.float64]:
        """Return what the occurrences of each word weigh in each row, in halves: rows by words."""
        shape = self._count, len(self._query)
        cells = self._rows * shape[1] + self._words
        cell_count = shape[0] * shape[1]
        weights = np.bincount(cells, weights=self._halves, minlength=cell_count)
        return weights.reshape(shape).astype(np.float64)

    def together(self, span: int) -> NDArray[np.int64]:
        """Return the most different words that stand inside `span` words of each row."""
        bits = np.uint64(1) << self._words.astype(np.uint64)
        seen = bits.copy()
        for shift in range(1, min(span, len(bits))):
            is_near = self._positions[shift:] - self._positions[:-shift] < span
            is_near &= self._rows[shift:] == self._rows[:-shift]
            if not is_near.any():
                break
            seen[:-shift] |= np.where(is_near, bits[shift:], np.uint64(0))
        most = np.zeros(self._count, np.int64)
        np.maximum.at(most, self._rows, np.bitwise_count(seen).astype(np.int64))
        return most

    def hold(self, sequence: Sequence[int]) -> NDArray[np.bool_]:
        """Return a mask of the rows with these codes side by side, in order; none without codes."""
        tokens = self._tokens
        length = len(tokens) - len(sequence) + 1
        fits = np.full(max(0, length), len(sequence) > 0)
        for offset, code in enumerate(sequence):
            fits &= tokens[offset : offset + len(fits)] == code
        held = np.zeros(self._count, np.bool_)
        held[np.searchsorted(self._ends, np.flatnonzero(fits)) // COLUMNS] = True
        return held
