"""Similar notes, for detecting duplicates, and flashbacks: similar notes from elsewhere.

Similarity combines vectors and words. Vectors alone take related notes for duplicates, words alone
miss paraphrases; and a model that knows no word of a text must not hide a copy of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import Item
from observer.core.value import Value
from observer.index import ListRequest, View
from observer.notes.values import Similar
from observer.search.candidates import Sources

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
    wanted = [ListRequest(view.mask(filters), LOOKED_AT)]
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
    view: View, text: str, wanted: Sequence[ListRequest], vector: NDArray[np.float32] | None
) -> NDArray[np.int64]:
    words = list(dict.fromkeys(_WORD.findall(text)))
    codes = np.array(list(dict.fromkeys(chain.from_iterable(view.codes(words)))), np.uint32)
    best = [*view.by_words(view.rarest(codes, RAREST), wanted)]
    if vector is not None:
        best += view.by_vector(vector, wanted, effort=EFFORT)
    return np.unique(np.concatenate([each.places for each in best]))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


DAY_MS = 86_400_000
FLASHBACK_CANDIDATES = 250
"""Older notes, the nearest, of which most may be of the same folder."""


class FlashbackSettings(Value):
    """When an older note is a flashback: its age, its distance, and how many there are at most.

    The distance is a little less than that below which two notes are about the same, since nobody
    asked.
    """

    days: int = 90
    distance: float = 0.9
    limit: int = 3


class Flashback(Value):
    """An older note from elsewhere; `match` is the cosine of their meanings."""

    item: Item
    days: int
    match: float


def flashbacks(
    sources: Sources, anchor: Item, wanted: FlashbackSettings, *, owner: str, now_ms: int
) -> tuple[Flashback, ...]:
    """Return older notes from another folder or project that are near a note, nearest first.

    A note without a meaning reminds of nothing.
    """
    view = sources.view
    _, vectors = view.meanings(view.mask(Filters(owner=owner), np.array([anchor.id])))
    if not len(vectors):
        return ()
    older = Filters(
        kinds=("note",),
        owner=owner,
        until_ms=now_ms - wanted.days * DAY_MS,
        trusted_at_ms=now_ms,  # nobody asked for them
    )
    (best,) = view.by_vector(vectors[0], [ListRequest(view.mask(older), FLASHBACK_CANDIDATES)])
    cosines = zip(view.ids(best.places).tolist(), best.scores.tolist(), strict=True)
    near = {number: cosine for number, cosine in cosines if cosine > 1 - wanted.distance**2 / 2}
    found = [
        Flashback(item=item, days=(now_ms - item.created_ms) // DAY_MS, match=near[item.id])
        for item in sources.reader.items(list(near))
        if older.admits(item) and item.id != anchor.id and is_elsewhere(item, anchor)
    ]
    return tuple(found[: wanted.limit])


def is_elsewhere(item: Item, anchor: Item) -> bool:
    """Return True if a note is of another project or top folder, or of no folder."""
    folder = item.category.partition("/")[0]
    same = folder != "" and folder == anchor.category.partition("/")[0]
    return item.project_id != anchor.project_id or not same
