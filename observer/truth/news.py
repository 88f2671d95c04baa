"""What is new in the memory for one vantage: items that were added, changed or forgotten."""

from __future__ import annotations

from typing import NamedTuple

from observer.events import Value
from observer.store.interface import Reader
from observer.store.truth import Vantage
from observer.truth.wishes import Wish, wish

PAGE = 1_000
"""Items read at once; what they say is let go of again."""
MOST = 20_000
"""Items that are followed through the history together."""


class Fresh(Value):
    """An item that is to be moored; it held at `at_ms`, on `branch`."""

    item: int
    wish: Wish
    branch: str
    at_ms: int


class News(NamedTuple):
    """What was seen up to a change: what to moor, and all items that are not as they were."""

    change: int
    fresh: list[Fresh]
    seen: set[int]


def news(reader: Reader, vantage: Vantage) -> News:
    """Return what is new since the last change that a vantage has taken up."""
    told = News(vantage.change, [], set())
    while len(told.fresh) < MOST:
        page = reader.changes_in(vantage.project_id, after=told.change, limit=PAGE)
        if not page:
            return told
        told = told._replace(change=page[-1].change)
        known = {
            mooring.item: mooring.updated_ms
            for mooring in reader.moorings(vantage.id, [change.id for change in page])
        }
        for change in page:
            # A vector that was added changes an item too, but not what it is about.
            if change.item and change.item.updated_ms == known.get(change.id):
                continue
            told.seen.add(change.id)
            if change.item and (wanted := wish(change.item)):
                at_ms = change.item.updated_ms
                told.fresh.append(
                    Fresh(item=change.id, wish=wanted, branch=change.item.branch, at_ms=at_ms)
                )
    return told
