"""What one training step sees: texts of one repository in several views, as bags of tokens.

Negatives come from the same repository, since that is where recall has to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from modelling.pairs import PARTS, Pair
from modelling.words import Vocabulary

Ids = NDArray[np.int64]
DROPPED = 0.3
"""How often a view leaves out a part of an observation."""
_LEAST_NOTES = 8
"""Tokens from which on prose is enough of a document of its own."""
_LEAST_TEXTS = 16
_NAMES = (2, 6)


class Texts:
    """The pairs as token ids, part by part."""

    def __init__(self, pairs: Sequence[Pair], vocabulary: Vocabulary) -> None:
        ids = vocabulary.ids
        self.subjects = [_array(ids(pair.subject)) for pair in pairs]
        self.names = [_array(ids(" ".join(pair.names))) for pair in pairs]
        self.parts = [
            {name: _array(ids(shown)) for name, shown in pair.parts.items()} for pair in pairs
        ]
        self.places: dict[str, list[int]] = defaultdict(list)
        for place, pair in enumerate(pairs):
            self.places[pair.repository].append(place)

    def counts(self, vocabulary: int) -> NDArray[np.int64]:
        """Return how often every token occurs."""
        every = [*self.subjects, *(ids for parts in self.parts for ids in parts.values())]
        return np.bincount(np.concatenate(every), minlength=vocabulary)


class View:
    """Texts that belong together: a query and a document in the same place of both lists."""

    def __init__(self, queries: list[Ids], documents: list[Ids]) -> None:
        self.queries = queries
        self.documents = documents

    def repeats(self) -> NDArray[np.bool_]:
        """Return where another query is the same one, so that its document is no wrong answer."""
        numbers: dict[bytes, int] = {}
        same = np.array([numbers.setdefault(q.tobytes(), len(numbers)) for q in self.queries])
        repeats: NDArray[np.bool_] = same[:, None] == same[None]
        np.fill_diagonal(repeats, val=False)
        return repeats


class Batches:
    """A source of batches, the same ones for the same seed."""

    def __init__(self, texts: Texts, *, size: int, seed: int) -> None:
        self._texts = texts
        self._size = size
        self._random = np.random.default_rng(seed)
        self._repositories = list(texts.places)
        # Large repositories are seen more often, but less than their size would have it.
        sizes = np.array([len(places) for places in texts.places.values()]) ** 0.8
        self._shares = sizes / sizes.sum()

    def next(self) -> dict[str, View]:
        """Return the views of some commits of one repository; a view of few texts is left out.

        `subject` asks for any of the observation's parts, `names` with the words of definitions,
        `prose` for its notes alone.
        """
        repository = self._repositories[self._random.choice(len(self._shares), p=self._shares)]
        every = self._texts.places[repository]
        places = self._random.choice(every, size=min(self._size, len(every)), replace=False)
        texts = self._texts
        named = [p for p in places if len(texts.names[p])]
        noted = [p for p in places if len(texts.parts[p].get("notes", ())) >= _LEAST_NOTES]
        views = {
            "subject": View([texts.subjects[p] for p in places], [self._some(p) for p in places]),
            "names": View([self._asked(p) for p in named], [self._some(p) for p in named]),
            "prose": View([texts.subjects[p] for p in noted], [self._notes(p) for p in noted]),
        }
        return {name: view for name, view in views.items() if len(view.queries) > _LEAST_TEXTS}

    def _some(self, place: int) -> Ids:
        """Return an observation without some of its parts."""
        parts = self._texts.parts[place]
        kept = [parts[p] for p in PARTS if p in parts and self._random.random() >= DROPPED]
        return np.concatenate(kept) if kept else parts["title"]

    def _asked(self, place: int) -> Ids:
        """Return the first words of a commit's definitions."""
        return self._texts.names[place][: self._random.integers(*_NAMES)]

    def _notes(self, place: int) -> Ids:
        """Return the prose of an observation, every other time behind its title."""
        parts = self._texts.parts[place]
        titled = self._random.random() < 0.5
        return np.concatenate([parts["title"], parts["notes"]]) if titled else parts["notes"]


def _array(ids: list[int]) -> Ids:
    return np.array(ids, np.int64)
