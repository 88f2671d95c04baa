"""What says the same twice of one project: found by title and words, numbers left out; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from observer.model import Item
from observer.recall.rank import Hit

ALIKE = 0.8
"""Share of words in common from which two items under one title are the same to a reader."""

EACH_COUNTS = frozenset({"commit"})
"""Types of which each is a place of its own, however alike: what was picked to another branch."""

_Title = tuple[int | None, str, str]

_LETTERS = re.compile(r"[^\W\d_]+")


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Leave out what says the same as something before it, which then names it as `alike`."""
    offered = list(hits)
    titles = Counter(map(_title, offered))
    kept: dict[int, Hit] = {}
    told: dict[_Title, dict[int, set[str]]] = {}
    for hit in offered:
        title = _title(hit)
        # Few share a title, and taking texts apart costs more than all else here.
        words = _words(hit.item) if titles[title] > 1 else set()
        others = told.setdefault(title, {})
        same = next((item for item, other in others.items() if _alike(words, other)), None)
        if same is None or hit.item.type in EACH_COUNTS:
            others[hit.item.id] = words
            kept[hit.item.id] = hit
        else:
            alike = (*kept[same].alike, hit.item.id)
            kept[same] = msgspec.structs.replace(kept[same], alike=alike)
    return list(kept.values())


def content(item: Item) -> str:
    """Return the text that says most of an item."""
    return item.narrative or "; ".join(item.facts) or item.subtitle


def _title(hit: Hit) -> _Title:
    return hit.item.project_id, hit.item.type, hit.item.title.casefold()


def _words(item: Item) -> set[str]:
    return set(_LETTERS.findall(f"{item.subtitle} {content(item)}".casefold()))


def _alike(some: set[str], other: set[str]) -> bool:
    together = len(some | other)
    return not together or len(some & other) / together >= ALIKE
