"""What a query finds: plan, match, rank, explain; the read behind `search` and `memory recall`.

Nothing is found twice, nothing outside the filters is found, and the answer says where the query
was understood otherwise than written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain

import msgspec

from observer.events import Value
from observer.model import ItemKind
from observer.recall.budget import BUDGET, Leg, legs
from observer.recall.evidence import matched
from observer.recall.query import Plan, plan
from observer.recall.rank import Hit, Signals, clamped, recency
from observer.store.interface import Filters, Match, Reader

_LISTS: tuple[tuple[ItemKind, ...], ...] = (("observation", "note"), ("summary",))
"""Kinds that a query finds when none is named, by the list that they are shown in."""

_TIE = 2
"""Digits of a score that count; hits that differ by less are ordered by recency."""


class Found(Value):
    """Hits, best first. `notice` tells how the query was read, `degraded` why less was found."""

    hits: tuple[Hit, ...] = ()
    notice: str = ""
    degraded: str = ""


def search(reader: Reader, text: str, filters: Filters, *, limit: int, now_ms: int) -> Found:
    """Find items by words.

    Args:
        reader: where the items are.
        text: what the user wrote; no text is an error.
        filters: what items must be; inferences are found only where their kind is named.
        limit: most hits that are no summary, and most that are one.
        now_ms: the time from which recency counts.
    """
    wanted = plan(text)
    ranked = matches(reader, wanted, filters, limit=limit)
    items = {item.id: item for item in reader.items([match.id for match, _ in ranked])}
    hits = []
    stem = cache(reader.stem)
    for match, fts5 in ranked:
        item = items[match.id]
        terms, close = matched(item, wanted.words, stem=stem)
        signals = Signals(
            fts5=fts5, close=close, recency=recency(item.created_ms, now_ms=now_ms), terms=terms
        )
        hits.append(Hit(item=item, score=clamped(fts5), signals=signals))
    return Found(hits=tuple(sorted(hits, key=_order)), notice=wanted.notice)


def matches(
    reader: Reader, wanted: Plan, filters: Filters, *, limit: int
) -> list[tuple[Match, float]]:
    """Return the best matches for each list, and the BM25 of each as a share of the best one's."""
    if not wanted.words:
        return []
    lists = _lists(filters.kinds)
    asked = legs(wanted, _counts(reader, wanted), budget=BUDGET)
    found = _asked(reader, asked, filters, kinds=tuple(chain(*lists)))
    ranked: list[Match] = []
    for kinds in lists:
        part = [match for match in found if match.kind in kinds]
        # What was chosen to be scored may hold too few of one kind.
        if len(part) < limit and len(lists) > 1 and any(leg.is_partial for leg in asked):
            part = _asked(reader, asked, filters, kinds=kinds)
        ranked += part[:limit]
    top = max((match.bm25 for match in ranked), default=1.0)
    return [(match, match.bm25 / top) for match in ranked]


def _asked(
    reader: Reader, asked: Sequence[Leg], filters: Filters, *, kinds: tuple[ItemKind, ...]
) -> list[Match]:
    """Return the answers to all legs, best first."""
    narrowed = msgspec.structs.replace(filters, kinds=kinds)
    best: dict[int, Match] = {}
    for leg in asked:
        found = reader.match(
            leg.expression, narrowed, limit=BUDGET, within=leg.within, newest=leg.newest
        )
        best |= {match.id: match for match in found}
    return sorted(best.values(), key=lambda match: (-match.bm25, -match.id))


def _counts(reader: Reader, wanted: Plan) -> dict[str, int]:
    """Return how many items hold each word; of several terms in one word the rarest counts."""
    terms = {word: reader.stem(word) for word in wanted.words}
    counts = reader.frequencies(sorted({term for found in terms.values() for term in found}))
    return {word: min((counts[term] for term in found), default=0) for word, found in terms.items()}


def _lists(kinds: Sequence[ItemKind]) -> list[tuple[ItemKind, ...]]:
    if not kinds:
        return list(_LISTS)
    summaries = tuple(kind for kind in kinds if kind == "summary")
    others = tuple(kind for kind in kinds if kind != "summary")
    return [part for part in (others, summaries) if part]


def _order(hit: Hit) -> tuple[float, int, int]:
    return (-round(hit.score, _TIE), -hit.item.created_ms, -hit.item.id)
