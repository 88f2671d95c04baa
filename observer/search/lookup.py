"""What a query means, looked up: its time words restrict, its typing errors are corrected.

From the ids of candidates to hits: what is asked of the store for all of them is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item
from observer.search.candidates import BY_WORDS, LEGS, Candidates, Leg, Sources, candidates
from observer.search.dates import Dated, dated
from observer.search.eligible import EXPIRED, has_expired, lasting, successors
from observer.search.query import STOP_WORDS, Plan, plan
from observer.search.rank import Hit, fit, has_signal, recency
from observer.search.spelling import corrected
from observer.search.usage import UNKNOWN, usefulness


class HitLoader:
    """Makes hits of candidates.

    Args:
        sources: where they were found.
        found: the candidates.
        filters: what items must be; a project there is the one whose items match it in full.
        now_ms: the time from which recency counts.
    """

    def __init__(
        self,
        sources: Sources,
        found: Candidates,
        filters: Filters,
        *,
        now_ms: int,
    ) -> None:
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
        is_home = self._filters.project_id in {None, item.project_id}
        signals = replace(signals, project_match=1.0 if is_home else 0.5)
        score = fit(signals)
        score *= self.factors.get(item.id, 1.0)
        score *= EXPIRED if has_expired(item, self._now_ms) else 1
        return Hit(item=item, score=score, signals=signals)


def with_newer(loader: HitLoader, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with what took the place of some, or amended them, at their old place.

    What is asked in the words of an older statement is answered by the newer one.
    """
    places: dict[int, float] = {}
    for hit in hits:
        whole = hit.score / (lasting(hit.item.standing) or 1)
        for target in successors([hit.item]):
            places[target] = max(whole, places.get(target, 0))
    found = {hit.item.id for hit in hits}
    newer = loader.hits([item for item in places if item not in found])
    return [
        replace(hit, score=max(hit.score, places.get(hit.item.id, 0))) for hit in (*hits, *newer)
    ]


ANY_WORK = STOP_WORDS | {"happen", "happened", "done", "work", "worked", "working", "everything"}
"""Words beside a time that ask for whatever was done then."""


class Lookup(NamedTuple):
    """A query as it was understood, what items must be for it, and what was found.

    `wanted` has no words where whatever fits the filters is meant.
    """

    wanted: Plan
    filters: Filters
    found: Candidates


def look_up(
    sources: Sources,
    text: str,
    filters: Filters,
    *,
    now_ms: int,
    legs: Sequence[Leg] = LEGS,
    most: int = BY_WORDS,
) -> Lookup:
    """Return what a text means and the candidates for it; see `candidates`.

    Time words restrict unless nothing of that time fits, or `filters` say which time is meant.
    """

    def search(wanted: Plan, among: Filters) -> Lookup:
        meant = corrected(sources, wanted, among)
        return Lookup(meant, among, candidates(sources, meant, among, legs=legs, most=most))

    wanted = plan(text)
    is_timeless = filters.since_ms is None and filters.until_ms is None and not wanted.expression
    when = dated(text, now_ms=now_ms) if is_timeless else None
    if when is None:
        return search(wanted, filters)
    of_then = replace(filters, since_ms=when.since_ms, until_ms=when.until_ms)
    then = search(_beside(when), of_then)
    if not then.wanted.words or _is_found(then):
        return _noted(then, f"only of {when.days}")
    return _noted(search(wanted, filters), f"nothing of {when.days} fits; searched all times")


def _beside(when: Dated) -> Plan:
    """Return what is looked for beside a time; a plan without words for anything."""
    rest = plan(when.rest)
    return Plan() if ANY_WORK.issuperset(map(str.casefold, rest.words)) else rest


def _is_found(lookup: Lookup) -> bool:
    found = lookup.found
    return any(has_signal(found.signals(each, 0)) for each in found.ids)


def _noted(lookup: Lookup, notice: str) -> Lookup:
    notices = filter(None, (lookup.wanted.notice, notice))
    return lookup._replace(wanted=replace(lookup.wanted, notice="; ".join(notices)))
