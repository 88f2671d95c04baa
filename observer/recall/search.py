"""What a query finds: plan, find, rank, explain; the read behind `search` and `memory recall`.

Nothing is found twice, nothing outside the filters is found, and the answer says where the query
was understood otherwise than written, and where less was looked at than there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from observer.events import Value
from observer.filters import Filters
from observer.model import Item
from observer.recall.candidates import LEGS, Candidates, Leg, Sources, candidates
from observer.recall.distinct import Distinct
from observer.recall.lasting import EXPIRED, has_expired, lasting, outranked, successors
from observer.recall.query import plan
from observer.recall.rank import COMPARED, Hit, recency, relevance
from observer.recall.usefulness import UNKNOWN, usefulness

_SPARE = 2
"""Items fetched beside those asked for, in case some say the same."""

_TIE = 2
"""Digits of a score that count; hits that differ by less are ordered by their use, then by age."""

MERELY_NEAR = "nothing holds any of these words; what was found is merely near in meaning"


class Found(Value):
    """Hits, best first.

    `notice` tells how the query was read, or that none of its words was found; `degraded` why less
    was found.
    """

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
    looking = _Looking(sources, found, filters, now_ms)
    lists = found.lists(looking.factors)
    step = limit + _SPARE
    looking.fetch([item for ids in lists for item in ids[:step]])
    hits = [hit for ids in lists for hit in _best(looking, ids, limit)]
    ordered = sorted(outranked(_with_newer(looking, hits)), key=_order)[: len(hits)]
    is_merely_near = bool(ordered) and not any(hit.signals.terms for hit in ordered)
    unknown = [] if ordered else _unknown(sources, filters)
    notices = (wanted.notice, MERELY_NEAR if is_merely_near else "", *unknown)
    return Found(
        hits=tuple(ordered), notice="; ".join(filter(None, notices)), degraded=found.degraded
    )


def _unknown(sources: Sources, filters: Filters) -> Iterator[str]:
    """Yield which names in the filters no item has: mostly they are spelled otherwise."""
    seen = Filters(owner=filters.owner)
    named = [("type", name, replace(seen, types=(name,))) for name in filters.types]
    if filters.branch:
        named.append(("branch", filters.branch, replace(seen, branch=filters.branch)))
    for what, name, alone in named:
        if not sources.view.mask(alone).any():
            yield f"no item is of {what} {name[:80]!r}"


class _Looking:
    """Makes hits of candidates; what is asked of the store for all of them is asked once."""

    def __init__(self, sources: Sources, found: Candidates, filters: Filters, now_ms: int) -> None:
        self._reader = sources.reader
        self._found = found
        self._filters = filters
        self._now_ms = now_ms
        self._items: dict[int, Item] = {}
        self.standings = self._reader.standings(found.ids)
        self.factors = {item: lasting(told) for item, told in self.standings.items()}
        for item, weight in found.weights.items():
            self.factors[item] = self.factors.get(item, 1.0) * weight
        self._uses = usefulness(self._reader.uses(items=found.ids), now_ms=now_ms)

    def fetch(self, ids: Iterable[int]) -> None:
        """Have items at hand, those that the index let through by mistake left out."""
        missing = [item for item in ids if item not in self._items]
        if missing:
            items = self._reader.items(missing, standings=self.standings)
            self._items |= {item.id: item for item in items if self._filters.admits(item)}

    def hits(self, ids: Sequence[int]) -> list[Hit]:
        """Return items as hits; what is not at hand is fetched."""
        self.fetch(ids)
        return [self._hit(self._items[item]) for item in ids if item in self._items]

    def _hit(self, item: Item) -> Hit:
        signals = self._found.signals(
            item.id,
            recency(item.created_ms, now_ms=self._now_ms),
            usefulness=self._uses.get(item.id, UNKNOWN).weight,
        )
        score = relevance(**{name: getattr(signals, name) for name in COMPARED})
        score *= self.factors.get(item.id, 1.0)
        score *= EXPIRED if has_expired(item, self._now_ms) else 1
        return Hit(item=item, score=score, signals=signals)


def _best(looking: _Looking, ids: Sequence[int], limit: int) -> list[Hit]:
    """Return the best of a list, each thing once."""
    best = Distinct()
    step = limit + _SPARE
    for start in range(0, len(ids), step):
        for hit in sorted(looking.hits(ids[start : start + step]), key=_order):
            best.take(hit)
        if len(best) >= limit:
            break
    return list(best)[:limit]


def _with_newer(looking: _Looking, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with what took the place of some, or amended them, at their old place.

    What is asked in the words of an older statement is answered by the newer one.
    """
    places: dict[int, float] = {}
    for hit in hits:
        whole = hit.score / (lasting(hit.item.standing) or 1)
        for target in successors([hit.item]):
            places[target] = max(whole, places.get(target, 0))
    found = {hit.item.id for hit in hits}
    newer = looking.hits([item for item in places if item not in found])
    return [
        replace(hit, score=max(hit.score, places.get(hit.item.id, 0))) for hit in (*hits, *newer)
    ]


def _order(hit: Hit) -> tuple[float, float, int, int]:
    item = hit.item
    return (-round(hit.score, _TIE), -hit.signals.usefulness, -item.created_ms, -item.id)
