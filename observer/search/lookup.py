"""Looking up a query: its dates restrict it, its typing errors are corrected, ids become hits.

What the store is asked for all candidates is asked once. A word that any item holds is never taken
for a typing error, nor one that the model that ships knows, nor a word of an expression; what is
searched instead stands as it is in an item, and every correction is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, columns_of
from observer.index import View, pieces
from observer.index.embed.vocabulary import known_words
from observer.search.candidates import BY_WORDS, LEGS, Candidates, Leg, Sources, candidates
from observer.search.dates import Dated, dated
from observer.search.eligible import EXPIRED, has_expired, staleness_factor, successors
from observer.search.query import STOP_WORDS, QueryPlan, parts, plan, quoted
from observer.search.rank import Hit, fit, recency

SHORTEST = 5
"""Letters of a word from which on one slip leaves little doubt what was meant."""
SHORTEST_REPLACED = 7
"""With another letter in place of one, shorter words are often words of their own: login, logic."""

MOST_WORDS = 4
"""Words of one query that are looked at: who writes in a language that no item holds makes none."""
TRIED, LOOKED_AT = 5, 20
"""Words that may be meant, the commonest, and items that may hold one of them as it is."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def corrected(sources: Sources, wanted: QueryPlan, filters: Filters) -> QueryPlan:
    """Return a plan with its typing errors corrected, by words of the items that it may find."""
    if wanted.expression:
        return wanted
    tried = (
        (word, _known(sources, word.casefold(), filters)) for word in _unknown(sources, wanted)
    )
    meant = {word: known for word, known in tried if known}
    if not meant:
        return wanted
    instead = ", ".join(f"{known!r} for {word!r}" for word, known in meant.items())
    notice = f"searched {instead}, which nothing holds"
    # The text stays as it was written: a word that no item holds may still be one, and then only
    # its meaning finds what says it otherwise.
    return replace(
        wanted,
        words=tuple(dict.fromkeys(meant.get(word, word) for word in wanted.words)),
        shapes=tuple(_replaced(shape, meant) for shape in wanted.shapes),
        notice="; ".join(filter(None, (wanted.notice, notice))),
    )


def _is_word(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and len(pieces(word)) == 1


def _unknown(sources: Sources, wanted: QueryPlan) -> list[str]:
    """Return the words of a plan that no item holds and no model knows."""
    likely = list(dict.fromkeys(filter(_is_word, wanted.words)))
    counts = _counts(sources.view, likely)
    strange = [word for word in likely if counts.get(word) == 0]
    return [word for word in strange if word.casefold() not in known_words()][:MOST_WORDS]


def _known(sources: Sources, word: str, filters: Filters) -> str:
    """Return the commonest word that is one slip away and that an item asked for holds, or none."""
    counts = _counts(sources.view, list(_slips(word)))
    commonest = sorted(filter(counts.get, counts), key=lambda slip: -counts[slip])
    return next((slip for slip in commonest[:TRIED] if _is_held(sources, slip, filters)), "")


def _counts(view: View, words: Sequence[str]) -> dict[str, int]:
    """Return how many items hold the stem of each word that has one; two stems may be as one."""
    each = zip(words, view.codes(words), strict=True)
    codes = {word: of_word[0] for word, of_word in each if len(of_word) == 1}
    counts = view.counts(np.array(list(codes.values()), np.uint32))
    return dict(zip(codes, counts.tolist(), strict=True))


def _is_held(sources: Sources, word: str, filters: Filters) -> bool:
    """Return True if an item asked for holds a word as it is, not only another of its stem."""
    ids = sources.reader.match(quoted(word), filters, limit=LOOKED_AT)
    texts = ("\n".join(columns_of(item)) for item in sources.reader.items(ids))
    return any(word in map(str.casefold, parts(text)) for text in texts)


def _slips(word: str) -> Iterator[str]:
    """Yield what a word may have been before one slip: the likeliest kinds of slips first.

    The first letter stays: it is seldom mistyped (Pollock and Zamora, "Automatic spelling
    correction in scientific and scholarly text", 1984), and without it a word is often another.
    """
    heads = [(word[:place], word[place:]) for place in range(1, len(word))]
    yield from (f"{head}{tail[1]}{tail[0]}{tail[2:]}" for head, tail in heads[:-1])
    yield from (head + tail[1:] for head, tail in heads)
    yield from (head + letter + tail for head, tail in (*heads, (word, "")) for letter in _ALPHABET)
    if len(word) >= SHORTEST_REPLACED:
        yield from (head + letter + tail[1:] for head, tail in heads for letter in _ALPHABET)


def _replaced(text: str, meant: dict[str, str]) -> str:
    for word, known in meant.items():
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", known, text)
    return text


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

    def fetch(self, ids: Iterable[int]) -> None:
        """Have items at hand, those that the index let through by mistake left out."""
        missing = [item for item in ids if item not in self._items]
        if missing:
            items = self._reader.items(missing)
            self._items |= {item.id: item for item in items if self._filters.admits(item)}

    def hits(self, ids: Sequence[int]) -> list[Hit]:
        """Return items as hits; what is not at hand is fetched."""
        self.fetch(ids)
        return [self._hit(self._items[item]) for item in ids if item in self._items]

    def _hit(self, item: Item) -> Hit:
        is_home = self._filters.project_id in {None, item.project_id}
        signals = self._found.signals(
            item.id,
            recency=recency(item.created_ms, now_ms=self._now_ms),
            project_match=1.0 if is_home else 0.5,
        )
        score = fit(signals) * signals.type_weight * staleness_factor(item.validity)
        score *= EXPIRED if has_expired(item, self._now_ms) else 1
        return Hit(item=item, score=score, signals=signals)


def with_newer(loader: HitLoader, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with what took the place of some, or amended them, at their old place.

    What is asked in the words of an older statement is answered by the newer one.
    """
    places: dict[int, float] = {}
    for hit in hits:
        whole = hit.score / (staleness_factor(hit.item.validity) or 1)
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

    wanted: QueryPlan
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

    def search(wanted: QueryPlan, among: Filters) -> Lookup:
        meant = corrected(sources, wanted, among)
        return Lookup(meant, among, candidates(sources, meant, among, legs=legs, most=most))

    wanted = plan(text)
    is_timeless = filters.since_ms is None and filters.until_ms is None and not wanted.expression
    when = dated(text, now_ms=now_ms) if is_timeless else None
    if when is None:
        return search(wanted, filters)
    of_then = replace(filters, since_ms=when.since_ms, until_ms=when.until_ms)
    then = search(_beside(when), of_then)
    if not then.wanted.words or then.found.signalled():
        return _noted(then, f"only of {when.days}")
    return _noted(search(wanted, filters), f"nothing of {when.days} fits; searched all times")


def _beside(when: Dated) -> QueryPlan:
    """Return what is looked for beside a time; a plan without words for anything."""
    rest = plan(when.rest)
    return QueryPlan() if ANY_WORK.issuperset(map(str.casefold, rest.words)) else rest


def _noted(lookup: Lookup, notice: str) -> Lookup:
    notices = filter(None, (lookup.wanted.notice, notice))
    return lookup._replace(wanted=replace(lookup.wanted, notice="; ".join(notices)))
