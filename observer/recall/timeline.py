"""What happened around an item, in order; a read of its own, independent of any query."""

from __future__ import annotations

from observer.errors import BadInput, NotFound
from observer.events import Value
from observer.model import Item
from observer.store.interface import Reader

MAX_DEPTH = 50
"""Most entries on one side of the anchor."""


class Entry(Value):
    """An item of a timeline; `position` is negative before the anchor, 0 at it, positive after."""

    position: int
    item: Item


class Timeline(Value):
    """The anchor and its neighbours of the same project, oldest first."""

    anchor: Item
    entries: tuple[Entry, ...]


def timeline(
    reader: Reader, anchor_id: int, *, owner: str, before: int = 5, after: int = 5
) -> Timeline:
    """Return what happened before and after an item in its project.

    Args:
        reader: where the items are.
        anchor_id: the item at position 0.
        owner: whose personal notes are among them.
        before: entries before it, 0 to `MAX_DEPTH`.
        after: entries after it, 0 to `MAX_DEPTH`.

    Raises:
        BadInput: a depth is out of range.
        NotFound: there is no such item.
    """
    for name, depth in (("before", before), ("after", after)):
        if not 0 <= depth <= MAX_DEPTH:
            raise BadInput(f"the depth {name} is {depth}", hint=f"use 0 to {MAX_DEPTH}")
    found = reader.items([anchor_id])
    if not found:
        raise NotFound(f"there is no item {anchor_id}", hint="search for it first")
    items = reader.around(found[0], owner=owner, before=before, after=after)
    origin = [item.id for item in items].index(anchor_id)
    entries = (Entry(position=place - origin, item=item) for place, item in enumerate(items))
    return Timeline(anchor=found[0], entries=tuple(entries))
