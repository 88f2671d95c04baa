"""Two models as one: the first embeds at once, the second completes what it made.

The vector of an item is that of the first model followed by that of the second, each as long as
the other, so that the cosine with a query is the mean of both cosines, weighed as the query's
halves are. While the second half is not there yet, the first one alone is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from observer.embed.model import Model

LEAST, MOST = 0.3, 0.8
"""What the second model counts for in a query whose words find much, and in one whose words find
nothing; the first one counts for the rest.

Source: development sets. Code is found best by a model that was made for it, and what is asked for
in other words by one that reads them in context: 60 such questions have an nDCG@10 of 52 instead
of 47 with halves throughout, 3,100 about code of 75 with either.
"""
EVEN = 0.4
"""Doubt in which both models count alike."""

FEW_WORDS = 3
LITTLE_DOUBT = 0.3
"""Words of the longest query, and the most doubt, with which the second model is not asked.

What so short a query names is found by its words. Source: development sets, of which identifiers
gain 0.1 to 0.2 points and all others stay; the second model takes half of the time of a search.
"""


class Joined:
    """A model made of two; safe to share between threads."""

    def __init__(self, first: Model, second: Model, *, name: str) -> None:
        self.name = name
        self.id = f"{first.id}+{second.id}"
        self.dimensions = first.dimensions + second.dimensions
        self.quick = first.quick
        """What embeds an item at once, if not completely; None where the first model is slow."""
        self._parts = (first, second)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text, float32 (texts, dimensions): see `Model.embed`."""
        whole: NDArray[np.float32] = np.concatenate([p.embed(texts) for p in self._parts], axis=1)
        return whole

    def ask(self, text: str, doubt: float = EVEN) -> NDArray[np.float32]:
        """Return the unit vector of a query; zeros for a text without any token.

        Args:
            text: the query.
            doubt: how little of the query its words find, 0 to 1.
        """
        second = LEAST + (MOST - LEAST) * doubt
        if doubt <= LITTLE_DOUBT and len(text.split()) <= FEW_WORDS:
            second = 0.0
        halves = [
            share * part.ask(text) if share else np.zeros(part.dimensions, np.float32)
            for share, part in zip((1 - second, second), self._parts, strict=True)
        ]
        whole: NDArray[np.float32] = np.concatenate(halves)
        length = float(np.linalg.norm(whole))
        return whole / np.float32(length) if length else whole
