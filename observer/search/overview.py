"""What of a project is worth showing where nothing is asked: knowledge, finished sessions, news."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from observer.core.filters import Filters
from observer.core.model import KNOWLEDGE_TYPES, Item
from observer.observations.memory_use import QUESTION
from observer.observations.unfinished import is_trivial
from observer.search.eligible import capped, discarded, lasting, successors
from observer.search.rank import ASKING, Hit, Signals, clamped, composite, is_knowledge, recency
from observer.search.token_budget import Finished, PackRequest
from observer.search.usage import UNKNOWN, usefulness
from observer.store.interface import Reader

TOKENS_PER_CANDIDATE = 80
FEWEST_CANDIDATES = 20
MOST_CANDIDATES = 200
"""Items of one sort that are looked at; an entry seldom costs less than 80 tokens."""

SUMMARIES = 5


def ranked(reader: Reader, request: PackRequest, ids: Sequence[int]) -> list[Hit]:
    """Return items by what they are worth where nothing is asked, best first.

    What took the place of one of them is among them.
    """
    filters = request.filters("observation", "note")
    known = usefulness(reader.uses(items=ids), now_ms=request.now_ms)
    items = reader.items(ids)
    items += reader.items([each for each in successors(items) if each not in frozenset(ids)])
    gone = discarded(reader, items)
    offered: dict[int, tuple[float, Item]] = {}
    signals: dict[int, Signals] = {}
    for item in filter(filters.admits, items):
        if item.id in gone:
            continue
        of_item = Signals(
            recency=recency(item.created_ms, now_ms=request.now_ms),
            project_match=1.0 if item.project_id == request.project_id else 0.5,
            usefulness=known.get(item.id, UNKNOWN).weight,
        )
        worth = composite(of_item, type_=item.type if is_knowledge(item) else "")
        worth *= lasting(item.standing)
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
        whole = worth / (lasting(item.standing) or 1)
        for target in set(successors([item])) & offered.keys():
            lifted[target] = (max(whole, lifted[target][0]), lifted[target][1])
    return lifted


def newest(reader: Reader, request: PackRequest) -> Iterator[int]:
    """Yield the newest items, and the newest knowledge and notes however old they are."""
    sorts = (request.filters("observation", "note"), request.filters("note"), knowledge(request))
    for filters in sorts:
        yield from reader.ids(filters, limit=_candidates(request))


def knowledge(request: PackRequest) -> Filters:
    """Return what notes must be to hold until somebody says otherwise."""
    return msgspec.structs.replace(request.filters("note"), types=tuple(sorted(KNOWLEDGE_TYPES)))


def newest_summaries(reader: Reader, request: PackRequest) -> list[Finished]:
    """Return the newest summaries of sessions that are over."""
    filters = msgspec.structs.replace(request.filters("summary"), with_global=False)
    ids = reader.ids(filters, limit=3 * SUMMARIES)
    # Most are over: seldom are more looked at than are wanted.
    parts = (ids[start : start + SUMMARIES] for start in range(0, len(ids), SUMMARIES))
    return finished(reader, chain.from_iterable(map(reader.items, parts)), most=SUMMARIES)


def finished(reader: Reader, summaries: Iterable[Item], *, most: int) -> list[Finished]:
    """Return the summaries of sessions that are over, in the order given.

    Those of a question or a greeting come last.
    """
    over: list[Finished] = []
    trivial: list[Finished] = []
    for item in summaries:
        session = reader.session(item.session_id or 0)
        if session is None or session.status != "active":
            is_last = session is not None and is_trivial(session)
            (trivial if is_last else over).append(
                Finished(item, session.external if session else "")
            )
        if len(over) == most:
            break
    return [*over, *trivial][:most]


def _candidates(request: PackRequest) -> int:
    affordable = request.budget_tokens // TOKENS_PER_CANDIDATE
    return min(max(FEWEST_CANDIDATES, affordable), MOST_CANDIDATES)
