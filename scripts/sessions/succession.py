"""The labels by which one item voids or amends another, as they stand at the end of a replay."""

from __future__ import annotations

from collections import Counter

from observer.core.model import Item
from observer.core.moment import day
from sessions.kept import Kept
from sessions.measures import Scored, count, line

_GROUP = "succession"


def scored(kept: Kept) -> Scored:
    """Return how many such labels stand, and all of them: hook calls alone void nothing."""
    known = {item.id: item for item in kept.items}
    found = [(item, mark) for item in kept.items for mark in item.validity if mark.target]
    sorts = Counter(mark.reason for _, mark in found)
    return Scored(
        measures=(
            count(_GROUP, "labels that name another item", len(found)),
            *(count(_GROUP, f"labels: {name}", number) for name, number in sorted(sorts.items())),
        ),
        wrong=tuple(
            f"{_shown(item)} | {mark.reason}: {_shown(known.get(mark.target))}"
            for item, mark in found
        ),
    )


def _shown(item: Item | None) -> str:
    if item is None:
        return "an item that is gone"
    return f"#{item.id} of {day(item.created_ms)} {item.type}: {line(item.title)}"
