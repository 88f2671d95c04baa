"""Flashbacks: older notes from elsewhere that say something near to what is looked at now."""

from __future__ import annotations

import numpy as np

from observer.events import Value
from observer.filters import Filters
from observer.index import Wanted
from observer.model import Item
from observer.recall.candidates import Sources

DAY_MS = 86_400_000
LOOKED_AT = 250
"""Older notes, the nearest, of which most may be of the same folder."""


class Nostalgia(Value):
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
    sources: Sources, anchor: Item, wanted: Nostalgia, *, owner: str, now_ms: int
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
    (best,) = view.by_meaning(vectors[0], [Wanted(view.mask(older), LOOKED_AT)])
    cosines = zip(view.ids(best.places).tolist(), best.scores.tolist(), strict=True)
    near = {number: cosine for number, cosine in cosines if cosine > 1 - wanted.distance**2 / 2}
    found = [
        Flashback(item=item, days=(now_ms - item.created_ms) // DAY_MS, match=near[item.id])
        for item in sources.reader.items(list(near))
        if older.admits(item) and item.id != anchor.id and is_elsewhere(item, anchor)
    ]
    return tuple(found[: wanted.limit])


def is_elsewhere(item: Item, anchor: Item) -> bool:
    """Tell whether a note is of another project or top folder; without a folder it is anywhere."""
    folder = item.category.partition("/")[0]
    same = folder != "" and folder == anchor.category.partition("/")[0]
    return item.project_id != anchor.project_id or not same
