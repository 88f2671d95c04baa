"""Notes that are near another one, and flashbacks: near notes from elsewhere.

Nearness combines vectors and words. Vectors alone take related notes for duplicates, words alone
miss paraphrases; and a model that knows no word of a text must not hide a copy of it.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import Item
from observer.core.value import Value
from observer.index import ListRequest, View
from observer.notes.values import Similar
from observer.search.candidates import Sources

LOOKED_AT = 12
"""Notes nearest by each leg that are compared in full."""
TEXT_CHARS = 2_000
"""How much of a note is compared."""
RAREST = 8
"""Words by which a copy is looked for: those that fewest items hold."""
LEAST = 0.3
"""Nearness from which a note may be about the same.

Source: of 383 statements among 1,705, each with a later one that changes it, .98 are nearer to that
one, and .97 are among its three nearest; of all pairs of these statements .003 are as near. No
threshold tells what is replaced from what is merely related.
"""

_WORD = re.compile(r"\w+")


def near_notes(sources: Sources, item: Item, filters: Filters) -> tuple[Similar, ...]:
    """Return other notes that may be about the same as a stored note, nearest first.

    Args:
        sources: where to look.
        item: the note.
        filters: where it belongs: no other project and no other owner is looked at.
    """
    text = _text(item)
    vector = _vector(sources, item, text)
    places = _places(sources.view, text, ListRequest(sources.view.mask(filters), LOOKED_AT), vector)
    if not len(places):
        return ()
    cosines = np.zeros(len(places)) if vector is None else sources.view.cosines(places, vector)
    ids = sources.view.ids(places).tolist()
    meanings = dict(zip(ids, cosines.clip(0, 1).tolist(), strict=True))
    words = _words(text)
    found = [
        Similar(item=other, meaning=meanings[other.id], words=_shared(words, other))
        for other in sources.reader.items(ids)
        if other.id != item.id and filters.admits(other)
    ]
    near = (one for one in found if max(one.nearness, one.score) >= LEAST)
    return tuple(sorted(near, key=lambda one: (-one.nearness, one.item.id)))


def _text(item: Item) -> str:
    return f"{item.title}\n{item.narrative}"[:TEXT_CHARS]


def _vector(sources: Sources, item: Item, text: str) -> NDArray[np.float32] | None:
    """Return what a note means: what the index has of it, else made now; None without a model."""
    view = sources.view
    _, vectors = view.meanings(view.mask(Filters(owner=item.owner), np.array([item.id])))
    return vectors[0] if len(vectors) else sources.encode(text)


def _shared(words: set[str], other: Item) -> float:
    """Return the share of different words that both have."""
    others = _words(_text(other))
    return len(words & others) / max(1, len(words | others))


def _places(
    view: View, text: str, wanted: ListRequest, vector: NDArray[np.float32] | None
) -> NDArray[np.int64]:
    words = list(dict.fromkeys(_WORD.findall(text)))
    codes = np.array(list(dict.fromkeys(chain.from_iterable(view.codes(words)))), np.uint32)
    best = view.by_words(view.rarest(codes, RAREST), [wanted])
    if vector is not None:
        best += view.by_vector(vector, [wanted])
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

    A note that has no meaning yet is given one now; without a model it reminds of nothing.
    """
    view = sources.view
    vector = _vector(sources, anchor, _text(anchor))
    if vector is None:
        return ()
    older = Filters(
        kinds=("note",),
        owner=owner,
        until_ms=now_ms - wanted.days * DAY_MS,
        trusted_at_ms=now_ms,  # nobody asked for them
    )
    (best,) = view.by_vector(vector, [ListRequest(view.mask(older), FLASHBACK_CANDIDATES)])
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
