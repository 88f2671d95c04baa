"""Items of a share's server beside those of this home: ranked by one formula, joined by ranks.

Only a few items are at hand; how rare words are among all that it has, the server says itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, ItemChange
from observer.index.segment import Codes, QueryTerms, segment
from observer.index.view import LEAST_RARITY, Query, View
from observer.search.candidates import Sources, candidates
from observer.search.find import PLACE, answering
from observer.search.query import QueryPlan
from observer.search.rank import Hit, fit, order, recency


class Elsewhere(NamedTuple):
    """Items that may answer, each with its vector, if it has one of `model`.

    Of all that is there `size` says how many items, `counts` how many hold each word, by its code.
    """

    items: Sequence[tuple[Item, bytes | None]]
    size: int
    counts: Mapping[int, int]
    model: str
    dimensions: int


class _SampleView(View):
    """A view of a few of many rows: words are as rare as among all."""

    def __init__(self, found: Elsewhere, codes: Codes) -> None:
        changes = [
            ItemChange(change=number, id=number, item=replace(item, id=number), vector=vector)
            for number, (item, vector) in enumerate(found.items, start=1)
        ]
        rows = segment(
            changes, codes, model=found.model, dimensions=found.dimensions, mean_length=0
        )
        super().__init__([rows], codes, is_complete=True)
        self._found = found

    def words(self, query: Query) -> QueryTerms:
        asked = super().words(query)
        counts = np.array([self._found.counts.get(code, 0) for code in query.tolist()], np.int64)
        counts = np.maximum(counts, asked.counts)
        rarities = np.log((max(self._found.size, self.size) - counts + 0.5) / (counts + 0.5))
        return asked._replace(counts=counts, rarities=np.maximum(LEAST_RARITY, rarities))


def ranked(  # noqa: PLR0913 - what is asked, of what, and with what
    found: Elsewhere,
    wanted: QueryPlan,
    filters: Filters,
    *,
    sources: Sources,
    codes: Codes,
    limit: int,
    now_ms: int,
) -> list[Hit]:
    """Return the best of some items, at most `limit` summaries and `limit` others.

    Of `filters` project, session and home are looked at before. `sources` of this home say what
    words a prefix stands for, and what a query means.
    """
    apart = replace(filters, project_id=None, session_id=None, without=(), files=())
    fitting = replace(filters, project_id=None, session_id=None, without=())
    found = found._replace(items=[one for one in found.items if fitting.admits(one[0])])
    if not found.items:
        return []
    sample = sources._replace(view=_SampleView(found, codes))
    best = candidates(sample, wanted, replace(apart, tags=(), layer=None), most=len(found.items))
    hits: list[Hit] = []
    for ids in best.lists():
        for number in ids[:limit]:
            item, _ = found.items[number - 1]
            signals = best.signals(
                number, recency=recency(item.created_ms, now_ms=now_ms), project_match=1.0
            )
            score = fit(signals) * signals.type_weight
            hits.append(Hit(item=item, score=score, signals=signals))
    return sorted(answering(hits, means=True), key=order)


def joined_by_ranks(
    local: Sequence[Hit], elsewhere: Iterable[Hit], known: Mapping[str, int], *, limit: int
) -> tuple[Hit, ...]:
    """Return hits of two lists, each best first, by the sum of the reciprocals of their ranks.

    At most `limit` are summaries, and `limit` others. Only items that are in this home too have an
    id: `known`, by uuid.
    """
    hits = {hit.item.uuid: hit for hit in local}
    worth = {uuid: 1 / (PLACE + place) for place, uuid in enumerate(hits)}
    for place, hit in enumerate(elsewhere):
        uuid = hit.item.uuid
        worth[uuid] = worth.get(uuid, 0.0) + 1 / (PLACE + place)
        hits.setdefault(uuid, replace(hit, item=replace(hit.item, id=known.get(uuid, 0))))
    ordered = sorted(hits.values(), key=lambda hit: -worth[hit.item.uuid])
    chosen = [
        [hit for hit in ordered if (hit.item.kind == "summary") is is_summary][:limit]
        for is_summary in (False, True)
    ]
    return tuple(hit for hit in ordered if any(hit is one for part in chosen for one in part))
