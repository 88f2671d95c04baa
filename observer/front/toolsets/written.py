"""What a language model wrote about an item, as the tools return it: apart, and marked."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from observer.front.tool import Row
from observer.model import Item


class Written(Row):
    """What the language model `by` wrote; everything else of an item is made without one.

    `is_outdated` says that the item has changed since.
    """

    by: str
    narrative: str
    learned: str | None
    next_steps: str | None
    concepts: str | None
    is_outdated: bool


def written(item: Item) -> Written | UnsetType:
    """Show what was written about an item; left out where nothing was."""
    wrote = item.enrichment
    if wrote is None:
        return UNSET
    return Written(
        by=wrote.model,
        narrative=wrote.narrative,
        learned=wrote.learned or None,
        next_steps=wrote.next_steps or None,
        concepts=", ".join(wrote.concepts) or None,
        is_outdated=item.updated_ms > wrote.as_of_ms,
    )
