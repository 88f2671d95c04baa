"""What a query finds: plan, find, rank, explain; the read behind `search` and `memory recall`.

Nothing is found twice, nothing outside the filters is found, and the answer says where the query
was understood otherwise than written, and where less was looked at than there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from observer.events import Value
from observer.filters import Filters
from observer.model import Item
from observer.recall.candidates import LEGS, Candidates, Leg, Sources, candidates
from observer.recall.distinct import distinct
from observer.recall.lasting import EXPIRED, has_expired, lasting, outranked
from observer.recall.query import plan
from observer.recall.rank import COMPARED, Hit, recency, relevance
from observer.recall.usefulness import UNKNOWN, usefulness

_SPARE = 2
"""Items fetched beside those asked for, in case some say the same."""

_TIE = 2
"""Digits of a score that count; hits that differ by less are ordered by their use, then by age."""


class Found(Value):
    """Hits, best first. `notice` tells how the query was read, `degraded` why less was found."""

    hits: tuple[Hit, ...] = ()
    notice: str = ""
    degraded: str = ""


def search(
    sources: Sources,
    text: str,
    filters: Filters,
    *,
    limit: int,
    now_ms: int,
    legs: Sequence[Leg] = LEGS,
) -> Found:
    """Find items by words and by meaning.

    Args:
        sources: where to look.
        text: what the user wrote; no text is an error.
        filters: what items must be; inferences are found only where their kind is named.
        limit: most hits that are no summary, and most that are one.
        now_ms: the time from which recency counts.
        legs: which ways of finding to take.
    """
    wanted = plan(text)
    found = candidates(sources, wanted, filters, legs=legs)
    known = sources.reader.standings(found.ids)
    hits: list[Hit] = []
    for ids in found.lists({item: lasting(told) for item, told in known.items()}):
        hits += _best(_Looking(sources, found, filters, now_ms), ids, limit)
    hits = sorted(outranked(hits), key=_order)
    return Found(hits=tuple(hits), notice=wanted.notice, degraded=found.degraded)


class _Looking(NamedTuple):
    """What is needed to make hits of candidates."""

    sources: Sources
    found: Candidates
    filters: Filters
    now_ms: int

    def hits(self, ids: Sequence[int]) -> list[Hit]:
        """Fetch items and leave out what the index let through by mistake."""
        reader = self.sources.reader
        known = usefulness(reader.uses(items=ids), now_ms=self.now_ms)
        items = filter(self.filters.admits, reader.items(ids))
        return [self._hit(item, known.get(item.id, UNKNOWN).weight) for item in items]

    def _hit(self, item: Item, weight: float) -> Hit:
        signals = self.found.signals(item.id, recency(item.created_ms, now_ms=self.now_ms))
        signals = msgspec.structs.replace(signals, usefulness=weight)
        score = relevance(**{name: getattr(signals, name) for name in COMPARED})
        score *= lasting(item.standing) * (EXPIRED if has_expired(item, self.now_ms) else 1)
        return Hit(item=item, score=score, signals=signals)


def _best(looking: _Looking, ids: Sequence[int], limit: int) -> list[Hit]:
    """Return the best of a list, each thing once."""
    hits: list[Hit] = []
    step = limit + _SPARE
    for start in range(0, len(ids), step):
        more = sorted(looking.hits(ids[start : start + step]), key=_order)
        hits = distinct([*hits, *more])
        if len(hits) >= limit:
            break
    return hits[:limit]


def _order(hit: Hit) -> tuple[float, float, int, int]:
    item = hit.item
    return (-round(hit.score, _TIE), -hit.signals.usefulness, -item.created_ms, -item.id)
