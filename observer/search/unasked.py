"""What items are worth where nothing is asked: one ranking for session starts and context packs."""

from __future__ import annotations

from collections.abc import Sequence

from observer.core.model import Item
from observer.observations.drafts import QUESTION
from observer.search.eligible import (
    capped,
    discarded,
    made_here,
    staleness_factor,
    successors,
)
from observer.search.rank import (
    ASKING,
    Hit,
    HitSignals,
    clamped,
    composite,
    is_knowledge,
    recency,
)
from observer.search.token_budget import PackRequest
from observer.store.reader import StoreReader


def ranked(reader: StoreReader, request: PackRequest, ids: Sequence[int]) -> list[Hit]:
    """Return items by what they are worth where nothing is asked, best first.

    What took the place of one of them is among them; commits that others made are not.
    """
    filters = request.filters("observation", "note")
    items = reader.items(ids)
    items += reader.items([each for each in successors(items) if each not in frozenset(ids)])
    commits = [item for item in items if item.type == "commit"]
    others = {item.id for item in commits} - made_here(reader, commits)
    gone = discarded(reader, items) | others
    offered: dict[int, tuple[float, Item]] = {}
    signals: dict[int, HitSignals] = {}
    for item in filter(filters.admits, items):
        if item.id in gone:
            continue
        of_item = HitSignals(
            recency=recency(item.created_ms, now_ms=request.now_ms),
            project_match=1.0 if item.project_id == request.project_id else 0.5,
        )
        worth = composite(of_item, type_=item.type if is_knowledge(item) else "")
        worth *= staleness_factor(item.validity)
        worth *= ASKING if item.category == QUESTION else 1
        offered[item.id], signals[item.id] = (worth, item), of_item
    worths = capped(_lifted(offered))
    order = sorted(worths, key=lambda one: (-worths[one], -offered[one][1].created_ms, -one))
    return [
        Hit(item=offered[one][1], score=clamped(worths[one]), signals=signals[one]) for one in order
    ]


def _lifted(offered: dict[int, tuple[float, Item]]) -> dict[int, tuple[float, Item]]:
    """Return items with what took the place of others worth as much as those were."""
    lifted = dict(offered)
    for worth, item in offered.values():
        whole = worth / (staleness_factor(item.validity) or 1)
        for target in set(successors([item])) & offered.keys():
            lifted[target] = (max(whole, lifted[target][0]), lifted[target][1])
    return lifted
