"""What says the same twice of one project: found by title and words, numbers left out; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from observer.model import Item
from observer.recall.rank import Hit

ALIKE = 0.8
"""Share of words in common from which two items under one title are the same to a reader."""

EACH_COUNTS = frozenset({"commit"})
"""Types of which each is a place of its own, however alike: what was picked to another branch."""

_Title = tuple[int | None, str, str]

_LETTERS = re.compile(r"[^\W\d_]+")


class Distinct:
    """Takes hits, best first, and keeps of those that say the same the first, which names them."""

    def __init__(self) -> None:
        self._kept: dict[int, Hit] = {}
        self._told: dict[_Title, list[_Told]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._kept.values())

    def take(self, hit: Hit) -> None:
        """Keep a hit, or name it as `alike` in one that says the same and is kept."""
        item = hit.item
        new, others = _Told(item), self._told.setdefault(_title(item), [])
        same = next((other.item.id for other in others if new.is_like(other)), None)
        if same is None or item.type in EACH_COUNTS:
            others.append(new)
            self._kept[item.id] = hit
        else:
            alike = (*self._kept[same].alike, item.id)
            self._kept[same] = msgspec.structs.replace(self._kept[same], alike=alike)


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Leave out what says the same as something before it, which then names it as `alike`."""
    found = Distinct()
    for hit in hits:
        found.take(hit)
    return list(found)


def content(item: Item) -> str:
    """Return the text that says most of an item."""
    return item.narrative or "; ".join(item.facts) or item.subtitle


class _Told:
    """An item and its words, which are taken apart, the dear part, only where a title is shared."""

    def __init__(self, item: Item) -> None:
        self.item = item

    @cached_property
    def words(self) -> set[str]:
        return set(_LETTERS.findall(f"{self.item.subtitle} {content(self.item)}".casefold()))

    def is_like(self, other: _Told) -> bool:
        shared = len(self.words & other.words)
        together = len(self.words) + len(other.words) - shared
        return not together or shared / together >= ALIKE


def _title(item: Item) -> _Title:
    return item.project_id, item.type, item.title.casefold()
