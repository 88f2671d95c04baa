"""Search: plan, find, rank, explain; the read behind `search` and `memory recall`.

Dates of a query restrict it, its typing errors are corrected; the answer says where it was read
otherwise than written, and where fewer items were ranked than match. A word that any item holds is
never taken for a typing error, nor one that the model that ships knows, nor one of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, columns_of
from observer.core.text import counted, did_you_mean, listed
from observer.core.value import Value
from observer.index import View, pieces
from observer.index.embed.registry import known_words
from observer.search.candidates import (
    BY_WORDS,
    LEGS,
    NO_MEANING,
    Candidates,
    Leg,
    Sources,
    candidates,
    is_indexed,
    searched,
)
from observer.search.query import NO_WORD, STOP_WORDS, QueryPlan, dated, parts, plan, quoted
from observer.search.rank import (
    EXPIRED,
    FOUND,
    NEAR,
    STANDS_OUT,
    Hit,
    HitSignals,
    Nearness,
    fit,
    has_expired,
    is_merely_near,
    order,
    outranked,
    recency,
    staleness_factor,
    successors,
    together,
)
from observer.search.snippet import Deduplicator
from observer.store.reader import StoreReader

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
    likely = (each for each in wanted.words if len(each) >= SHORTEST and each.isalpha())
    plain = (each for each in dict.fromkeys(likely) if len(pieces(each)) == 1)
    unknown = [each for each in plain if each.casefold() not in known_words()]
    counts = _counts(sources.view, unknown) if unknown else {}
    meant: dict[str, str] = {}
    for word in [word for word, count in counts.items() if not count][:MOST_WORDS]:
        counts = _counts(sources.view, list(_slips(word.casefold())))
        commonest = sorted(filter(counts.get, counts), key=lambda slip: -counts[slip])[:TRIED]
        for slip in commonest:  # a word as it is, not only another of its stem
            ids = sources.reader.match(quoted(slip), filters, limit=LOOKED_AT)
            texts = ("\n".join(columns_of(item)) for item in sources.reader.items(ids))
            if any(slip in map(str.casefold, parts(text)) for text in texts):
                meant[word] = slip
                break
    if not meant:
        return wanted
    instead = ", ".join(f"{known!r} for {word!r}" for word, known in meant.items())
    notice = f"searched {instead}, which nothing holds"
    # The text stays as it was written: a word that no item holds may still be one, and then only
    # its meaning finds what says it otherwise.
    shapes = "\n".join(wanted.shapes)
    for word, known in meant.items():
        shapes = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", known, shapes)
    return replace(
        wanted,
        words=tuple(dict.fromkeys(meant.get(word, word) for word in wanted.words)),
        shapes=tuple(shapes.splitlines()),
        notice="; ".join(filter(None, (wanted.notice, notice))),
    )


def _counts(view: View, words: Sequence[str]) -> dict[str, int]:
    """Return how many items hold the stem of each word that has one; two stems may be as one."""
    each = zip(words, view.codes(words), strict=True)
    codes = {word: of_word[0] for word, of_word in each if len(of_word) == 1}
    counts = view.words(np.array(list(codes.values()), np.uint32)).counts
    return dict(zip(codes, counts.tolist(), strict=True))


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


class HitLoader:
    """Makes hits of candidates; a project in `filters` is the one whose items match it in full."""

    def __init__(
        self, sources: Sources, found: Candidates, filters: Filters, *, now_ms: int
    ) -> None:
        self._reader = sources.reader
        self._found = found
        self._filters = filters
        self._now_ms = now_ms
        self._hits: dict[int, Hit] = {}

    def hits(self, ids: Sequence[int]) -> list[Hit]:
        """Return items as hits, but for those that the index let through by mistake."""
        missing = [item for item in ids if item not in self._hits]
        for item in filter(self._filters.admits, self._reader.items(missing)):
            is_home = self._filters.project_id in {None, item.project_id}
            signals = self._found.signals(
                item.id,
                recency=recency(item.created_ms, now_ms=self._now_ms),
                project_match=1.0 if is_home else 0.5,
            )
            score = fit(signals) * signals.type_weight * staleness_factor(item.validity)
            score *= EXPIRED if has_expired(item, self._now_ms) else 1
            self._hits[item.id] = Hit(item=item, score=score, signals=signals)
        return [self._hits[item] for item in ids if item in self._hits]


def with_newer(loader: HitLoader, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with what took the place of some, or amended them, at their old place."""
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
    """A query as it was understood, what items must be for it, what was found, and the newest work.

    `wanted` has no words where whatever fits the filters is meant.
    """

    wanted: QueryPlan
    filters: Filters
    found: Candidates
    newest: list[Item]


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
        is_task = among.project_id is not None and meant.words and not meant.expression
        newest = _newest(sources, among) if is_task else []

        def only(by_chance: float) -> list[int] | None:
            if newest and by_chance > max(MANY, SHARE * sources.view.size):
                words = " ".join(map(quoted, meant.words))
                chosen = replace(among, kinds=searched(among))
                return sorted(sources.reader.match(words, chosen, limit=most))
            return None

        found = candidates(sources, meant, among, legs=legs, most=most, only=only)
        return Lookup(meant, among, found, newest)

    wanted = plan(text)
    is_timeless = filters.since_ms is None and filters.until_ms is None and not wanted.expression
    when = dated(text, now_ms=now_ms) if is_timeless else None
    if when is None:
        return search(wanted, filters)
    of_then = replace(filters, since_ms=when.since_ms, until_ms=when.until_ms)
    rest = plan(when.rest)
    is_any_work = ANY_WORK.issuperset(map(str.casefold, rest.words))
    then = search(QueryPlan() if is_any_work else rest, of_then)
    if not then.wanted.words or then.found.has_signal:
        return _noted(then, f"only of {when.days}")
    return _noted(search(wanted, filters), f"nothing of {when.days} fits; searched all times")


def _noted(lookup: Lookup, notice: str) -> Lookup:
    notices = filter(None, (lookup.wanted.notice, notice))
    return lookup._replace(wanted=replace(lookup.wanted, notice="; ".join(notices)))


FLOOR = 0.4
"""Share of the best hit's fit from which on a hit is worth its tokens.
Source: development sets; 13 % of the ten best hits are below, which costs 0.03 of nDCG@10."""

LOOKED_UP = 3
"""So few words are looked up: what holds all of them stands before the newest work. That finds as
much of what is edited next in one repository, and .01 more in another, which only scores."""
NEWEST, PLACE = 0.6, 3
"""What the newest work counts for beside what fits best, by shares of 1 / (`PLACE` + its place).
Source: questions and prompts of one repository; docs/benchmarks.md has those of another one."""
MANY, SHARE = 10, 0.05
"""Items, and share of them, that hold all words of a query by chance from which on its words choose
nothing: the newest work comes first, and then the newest that holds them."""
_TURN = "turn"
_WORK = (_TURN, "commit")
_RECENT, _AT_ONCE, _SHOWN = 40, 8, 5
"""Turns and commits, the newest, that are looked at, so many at once, and those that count."""
Key = Callable[[Hit], tuple[float, ...]]
_SPARE = 2
"""Items fetched beside those asked for, in case some say the same."""
_LOOKED_AT = 8
"""Items, at least, among which a note's newer neighbour is looked for."""
_ECHOES = 3
"""Times as many items are fetched as are shown, where newest are shown, in case some say the same.
"""

NEWEST_FIRST = "the newest first, since no word was given"

NOTHING_HELD = "nothing holds any of these words"
MERELY_NEAR = f"{NOTHING_HELD}; what was found is merely near in meaning"
NOTHING_NEAR = f"{NOTHING_HELD}, and nothing is near in meaning"
ONLY_RECORDS = "only records of type {types} hold any of these words: name the type to see them"
SOME_NEAR = "some hold none of these words, and are merely near in meaning"


class SearchHits(Value):
    """Hits, best first; `notice` says how the query was read, `degraded` why less was found."""

    hits: tuple[Hit, ...] = ()
    notice: str = ""
    degraded: str = ""

    def above_floor(self) -> SearchHits:
        """Return the hits, but for weak ones, which are counted; what is listed by age is none.

        Weak is what holds fewer words than another hit, and fits far less well than the best.
        """
        bare = [fit(hit.signals) for hit in self.hits]
        if not any(bare):
            return self
        # A newer one has but its score.
        fits = [max(one, hit.score) for one, hit in zip(bare, self.hits, strict=True)]
        terms = [len(hit.signals.terms) for hit in self.hits]
        least, most = FLOOR * max(fits, default=0), max(terms, default=0)
        strong = tuple(
            hit
            for hit, fit, held in zip(self.hits, fits, terms, strict=True)
            if fit >= least or held == most > 0 or hit.signals.is_newest
        )
        if len(strong) == len(self.hits):
            return self
        left_out = f"{counted(len(self.hits) - len(strong), 'weak hit')} left out"
        has_near = any(is_merely_near(hit.signals) for hit in strong)
        said = self.notice if has_near else self.notice.removesuffix(SOME_NEAR).rstrip("; ")
        notice = "; ".join(filter(None, (said, left_out)))
        return replace(self, hits=strong, notice=notice)


def search(
    sources: Sources,
    text: str,
    filters: Filters,
    *,
    limit: int,
    now_ms: int,
    legs: Sequence[Leg] = LEGS,
) -> SearchHits:
    """Find items by words and by meaning; an empty text asks for the newest, and none is an error.

    At most `limit` hits are no summary, and as many are one. Inferences are found only where
    `filters` name their kind.
    """
    most = max(BY_WORDS, limit)
    wanted, filters, found, newest = look_up(
        sources, text, filters, now_ms=now_ms, legs=legs, most=most
    )
    if not wanted.words and wanted.notice != NO_WORD:
        return browse(sources, filters, wanted.notice, limit=limit, now_ms=now_ms)
    is_open = found.is_narrowed
    key: Key = (lambda hit: (-hit.item.created_ms, -hit.item.id)) if is_open else order
    loader = HitLoader(sources, found, filters, now_ms=now_ms)
    lists = [sorted(ids, reverse=True) if is_open else ids for ids in found.lists()]
    step = limit + _SPARE
    loader.hits([item for ids in lists for item in ids[:step]])  # all in one question
    hits = [hit for ids in lists for hit in _best(loader, ids, limit, key)]
    # What an expression asks for need not be words: what it must not be, or not hold.
    if not wanted.expression:
        # Made-up words are near to short texts by chance, as near as what says the same otherwise.
        words = [piece for word in wanted.words for piece in pieces(word)]
        means = any(not word.isascii() or word.casefold() in known_words() for word in words)
        hits = answering(hits, means=means)
    ordered = sorted(outranked(with_newer(loader, hits)), key=key)
    ordered = ordered if filters.types else _once(ordered)
    if any(hit.item.kind == "note" for hit in ordered):
        others = [hit for ids in lists for hit in loader.hits(ids[: max(step, _LOOKED_AT)])]
        ordered = together(ordered, others, _nearness(sources.reader, others))
    ordered = ordered[: len(hits)]
    # What no item holds is no question of what is new.
    if newest and any(hit.signals.terms for hit in ordered):
        fused = _once(_fused(ordered, newest, PLACE if is_open else NEWEST, now_ms=now_ms))
        if len(wanted.words) <= LOOKED_UP and not is_open:
            fused.sort(key=lambda hit: len(hit.signals.terms) < len(wanted.words))
        ordered = fused[: max(limit, len(ordered))]
    notices = [wanted.notice, *([] if ordered else _unknown(sources, filters))]
    if ordered or not (any(notices) or wanted.expression):
        notices.append(
            _held(sources, wanted, filters, ordered, has_meaning=NO_MEANING not in found.degraded)
        )
    return SearchHits(
        hits=tuple(ordered), notice="; ".join(filter(None, notices)), degraded=found.degraded
    )


def answering(hits: Sequence[Hit], *, means: bool) -> list[Hit]:
    """Return hits that hold a word of the query, or are near to what it `means`.

    Of the latter one at least has to be so near that it is no chance.
    """

    def is_near(hit: Hit) -> bool:
        return hit.item.kind != "summary" and is_merely_near(hit.signals)

    has_near = means and any(
        is_near(hit) and (hit.signals.semantic >= FOUND or fit(hit.signals) >= STANDS_OUT)
        for hit in hits
    )
    return [
        hit
        for hit in hits
        if hit.signals.fts5 > 0 or hit.signals.semantic >= NEAR or (has_near and is_near(hit))
    ]


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with a turn in the place of its session's summary, where both have one title."""
    turns = (hit for hit in reversed(hits) if hit.item.type == _TURN)
    found = {(hit.item.session_id, hit.item.title): hit for hit in turns}
    shown = (
        found.get((hit.item.session_id, hit.item.title), hit) if hit.item.kind == "summary" else hit
        for hit in hits
    )
    return list({hit.item.id: hit for hit in shown}.values())


def _held(
    sources: Sources, wanted: QueryPlan, filters: Filters, hits: Sequence[Hit], *, has_meaning: bool
) -> str:
    """Return what is said where some of the hits, or all, hold no word of the query."""
    near = sum(is_merely_near(hit.signals) for hit in hits)
    if near < len(hits):
        return SOME_NEAR if near else ""
    said = MERELY_NEAR if hits else NOTHING_NEAR if has_meaning else NOTHING_HELD
    if filters.kinds or "record" in searched(filters) or wanted.expression:
        return said
    # Records hold a word of the plan, which finds none of them.
    words = " OR ".join(map(quoted, wanted.words))
    ids = sources.reader.match(words, replace(filters, kinds=("record",)), limit=BY_WORDS)
    types = listed(sorted({item.type for item in sources.reader.items(ids)}))
    return said.replace(NOTHING_HELD, ONLY_RECORDS.format(types=types)) if types else said


def _newest(sources: Sources, filters: Filters) -> list[Item]:
    """Return the newest turns and commits that changed files; of the newest session but one."""
    if filters.types or filters.kinds:
        return []
    newest: list[Item] = []
    running: int | None = None
    reader = sources.reader
    work = replace(filters, types=_WORK, kinds=("observation",))
    is_known = is_indexed(work)
    ids = sources.view.newest(work, _RECENT) if is_known else reader.ids(work, limit=_RECENT)
    batches = (reader.items(ids[start:][:_AT_ONCE]) for start in range(0, len(ids), _AT_ONCE))
    for item in chain.from_iterable(batches):
        is_work = item.files_modified and filters.admits(item)
        if is_work and (item.session_id is None or item.session_id != running):
            newest.append(item)
            running = running or item.session_id
        if len(newest) == _SHOWN:
            break
    return newest


def _fused(ordered: list[Hit], newest: list[Item], weight: float, *, now_ms: int) -> list[Hit]:
    """Return hits by the reciprocal ranks of what fits and what is newest, which is marked."""
    hits = {hit.item.id: hit for hit in ordered}
    worth = {item_id: 1 / (PLACE + place) for place, item_id in enumerate(hits)}
    for place, item in enumerate(newest):
        is_new, fits = weight / (PLACE + place), worth.get(item.id, 0.0)
        worth[item.id] = is_new + fits
        if is_new > fits:
            age = HitSignals(recency=recency(item.created_ms, now_ms=now_ms))
            hit = hits.get(item.id) or Hit(item=item, score=0.0, signals=age)
            hits[item.id] = replace(hit, signals=replace(hit.signals, is_newest=True))
    return sorted(hits.values(), key=lambda hit: -worth[hit.item.id])


def _nearness(reader: StoreReader, hits: Sequence[Hit]) -> Nearness:
    """Return the function that says how near two of the notes among hits are."""
    notes = [hit.item.id for hit in hits if hit.item.kind == "note"]
    packed = reader.vectors_of(notes) if len(notes) > 1 else {}
    values = {
        number: np.frombuffer(one, np.int8).astype(np.float32) for number, one in packed.items()
    }
    units = {number: one / max(float(np.linalg.norm(one)), 1.0) for number, one in values.items()}

    def nearness(one: int, other: int) -> float:
        first, second = units.get(one), units.get(other)
        if first is None or second is None or len(first) != len(second):
            return 0.0
        return float(first @ second)

    return nearness


def browse(
    sources: Sources, filters: Filters, notice: str = "", *, limit: int, now_ms: int
) -> SearchHits:
    """Return what fits some filters, the newest first; a score is nothing but recency."""
    chosen = replace(filters, kinds=searched(filters))
    hits = Deduplicator()
    for item in filter(filters.admits, sources.reader.recent(chosen, limit=_ECHOES * limit)):
        age = recency(item.created_ms, now_ms=now_ms)
        hits.take(Hit(item=item, score=age, signals=HitSignals(recency=age)))
    unknown = [] if len(hits) else _unknown(sources, filters)
    notices = (notice, NEWEST_FIRST if len(hits) else "", *unknown)
    return SearchHits(hits=tuple(hits)[:limit], notice="; ".join(filter(None, notices)))


def _unknown(sources: Sources, filters: Filters) -> Iterator[str]:
    """Yield which names in the filters no item has, and what was left out of the search."""
    if filters.without:
        yield 'projects with sharing = "none" were left out; name one to search it'
    seen = Filters(owner=filters.owner)
    named = [("type", name, replace(seen, types=(name,))) for name in filters.types]
    if filters.branch:
        named.append(("branch", filters.branch, replace(seen, branch=filters.branch)))
    for what, name, alone in named:
        if not sources.view.mask(alone).any():
            types = sources.reader.counts("type", seen) if what == "type" else {}
            near = get_close_matches(name, [one for one in types if one not in filters.types], n=2)
            said = f"no item is of {what} {name[:80]!r}"
            yield ": ".join(filter(None, (said, did_you_mean(near))))


def _best(loader: HitLoader, ids: Sequence[int], limit: int, key: Key) -> list[Hit]:
    """Return the best of a list, each thing once."""
    best = Deduplicator()
    step = limit + _SPARE
    for start in range(0, len(ids), step):
        for hit in sorted(loader.hits(ids[start : start + step]), key=key):
            best.take(hit)
        if len(best) >= limit:
            break
    return list(best)[:limit]
