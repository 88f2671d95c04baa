"""Which notes say nearly the same: near in meaning, and for the most part in the same words.

Meaning alone takes neighbours for twins, and words alone miss what is said in other ones; a model
that knows no word of a text must not hide a copy of it either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from observer.filters import Filters
from observer.index import View, Wanted
from observer.knowledge.values import Similar
from observer.model import Item
from observer.recall.candidates import Sources

LOOKED_AT = 6
"""Notes nearest by each leg that are compared in full.

Source: with 8, an effort of 0.2 and 12 words, 960 pairs were found where these find 959: of 900
notes among 100,000 with a fifth to two fifths of their words changed.
"""
TEXT_CHARS = 2_000
"""How much of a note is compared."""
EFFORT = 0.1
"""Part of the vectors that a search looks at: a near-duplicate is among the first."""
RAREST = 8
"""Words by which a copy is looked for: those that fewest items hold."""
NEAR = 0.72
"""A mean of both figures from which two notes say nearly the same. See `score`."""

_WORD = re.compile(r"\w+")


def similar(
    sources: Sources, text: str, filters: Filters, *, limit: int = 3, least: float = NEAR
) -> tuple[Similar, ...]:
    """Return the notes that say nearly what a text says, nearest first.

    Args:
        sources: where to look.
        text: title and content.
        filters: where the note would belong: no other project and no other owner is looked at.
        limit: most that are returned.
        least: the score from which on, 0 to 1.
    """
    view, text = sources.view, text[:TEXT_CHARS]
    wanted = [Wanted(view.mask(filters), LOOKED_AT)]
    vector = sources.encode(text)
    places = _places(view, text, wanted, vector)
    if not len(places):
        return ()
    cosines = np.zeros(len(places)) if vector is None else view.cosines(places, vector)
    meanings = dict(zip(view.ids(places).tolist(), cosines.tolist(), strict=True))
    words = _words(text)
    found = [
        _compared(item, words, meanings[item.id])
        for item in sources.reader.items(list(meanings))
        if filters.admits(item)
    ]
    near = (one for one in found if one.score >= least)
    return tuple(sorted(near, key=lambda one: (-one.score, one.item.id))[:limit])


def score(meaning: float, words: float) -> float:
    """Return how nearly two notes say the same, 0 to 1.

    Words that are the same say it surely; else meaning counts twice what words do.
    """
    return max(words, (2 * meaning + words) / 3)


def _compared(item: Item, words: set[str], meaning: float) -> Similar:
    other = _words(f"{item.title}\n{item.narrative}"[:TEXT_CHARS])
    shared = len(words & other) / max(1, len(words | other))
    return Similar(
        item=item, score=score(max(0.0, meaning), shared), meaning=max(0.0, meaning), words=shared
    )


def _places(
    view: View, text: str, wanted: Sequence[Wanted], vector: NDArray[np.float32] | None
) -> NDArray[np.int64]:
    codes = np.array(list(dict.fromkeys(_codes(view, text))), np.uint32)
    best = [*view.by_words(view.rarest(codes, RAREST), wanted)]
    if vector is not None:
        best += view.by_meaning(vector, wanted, effort=EFFORT)
    return np.unique(np.concatenate([each.places for each in best]))


def _codes(view: View, text: str) -> Iterator[int]:
    for word in dict.fromkeys(_WORD.findall(text)):
        yield from view.codes(word)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
