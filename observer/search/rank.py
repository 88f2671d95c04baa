"""How much an item is worth by its signals, 0 to 1 each, and what staleness costs.

Source: the half-life, the factor of knowledge, and what counts without a query are the Kiro seed's.
Its weights with a query, 0.45 for meaning, 0.35 for words and 0.10 each for recency and project,
find 68.2 (nDCG@10) on the development sets where those of `relevance` find 74.7.

Text that could instruct a model is withheld from models that did not ask for it. Nothing is hidden
for being stale: its validity is shown beside it, and its score is lower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from numpy.typing import NDArray

from observer.core.model import KNOWLEDGE_TYPES, Item, Reason, Validity
from observer.core.value import Value
from observer.observations.drafts import DECISION
from observer.observations.prompt_injection import suspicion

HALF_LIFE_MS = 168 * 3_600_000
"""After a week an item's recency is worth half."""

KNOWLEDGE_FACTOR = 3.0

NEWER: frozenset[Reason] = frozenset({"supersedes", "amends"})
"""What is said of an item that took the place of another one."""


class HitSignals(Value):
    """Why an item was found.

    `fts5` is BM25 divided by the best of the answer, or by a good one where that is more,
    `semantic` the cosine of the meanings (0 for an item without a vector), `close` the share of the
    query's words that stand together, `phrase` 1 where all of a short query stands as it was
    written, `exact` the share of its names and quoted phrases that are there word for word, `terms`
    the words that the item holds at all. A rank is the place in the answer of one leg, from 1.
    Factors are `type_weight`, less than 1 for a prompt that only asks (`ASKING`), and
    `meaning_weight` (`candidates.trust`). `is_newest`: shown for being the newest, whatever fits.
    """

    semantic: float = 0.0
    fts5: float = 0.0
    close: float = 0.0
    phrase: float = 0.0
    exact: float = 0.0
    recency: float = 0.0
    project_match: float = 0.0
    terms: tuple[str, ...] = ()
    words_rank: int | None = None
    meaning_rank: int | None = None
    type_weight: float = 1.0
    meaning_weight: float = 1.0
    is_newest: bool = False


class Hit(Value):
    """A found item; `score` is between 0 and 1 and comparable within one answer."""

    item: Item
    score: float
    signals: HitSignals
    alike: tuple[int, ...] = ()
    """Ids of items that say the same and were left out for it."""

    @property
    def lasting(self) -> float:
        """The factor by which staleness lowers the score (see `staleness_factor`)."""
        worth = fit(self.signals) * self.signals.type_weight
        return self.score / worth if worth else 1.0


WORDS = 0.5
MEANING = 1.0
CLOSE = 0.2
PHRASE = 0.3
EXACT = 0.2
"""What each signal counts for in a search. Source: development sets, all together."""


ASKING = 0.3
"""What is left of the score of a prompt that only asks: it is made of a query's words, and is no
answer."""

COMPARED = ("fts5", "semantic", "close", "phrase", "exact", "meaning_weight")
"""The signals that a query is compared by, and what one of them counts for."""

Figure = TypeVar("Figure", float, NDArray[Any])


def relevance(
    *,
    fts5: Figure,
    semantic: Figure,
    close: Figure,
    phrase: Figure,
    exact: Figure,
    meaning_weight: Figure,
) -> Figure:
    """Return how well items fit a query, 0 to 1; above 1 what means it in wholly other words.

    A cosine and a share of the best BM25 keep what ranks throw away: by how much one is better.
    Closeness and exactness keep names and error texts ahead of what is merely similar.
    """
    meaning = MEANING * meaning_weight * semantic
    score: Figure = WORDS * fts5 + meaning + CLOSE * close + PHRASE * phrase + EXACT * exact
    return score / (WORDS + MEANING + CLOSE + PHRASE + EXACT)


KNEE = 0.5
"""Worth from which on a fit grows less and less, so that it stays below 1."""


def fit(signals: HitSignals) -> float:
    """Return how well an item with these signals fits a query, 0 to 1."""
    worth: float = relevance(
        fts5=signals.fts5,
        semantic=signals.semantic,
        close=signals.close,
        phrase=signals.phrase,
        exact=signals.exact,
        meaning_weight=signals.meaning_weight,
    )
    # What means the query in wholly other words is worth more than 1; it keeps its order.
    return worth if worth <= KNEE else 1 - KNEE**2 / worth


NEAR = 0.375
"""The least cosine at which an item that holds no word of a query is about it. Source: development
sets; of pairs by chance, 1 to 2 % are as near, with any model that ships."""
FOUND, STANDS_OUT = 0.2, 0.25
"""The least cosine, or fit, of one item at least, if items are found for what they mean alone.

Source: of 40 questions that nothing in a corpus of sessions answers five have a hit as near, three
one that fits as well; of 50 made-up queries none has. Of 60 facts that are asked for in other words
48 are among five so; by the cosine alone 20 would be lost. A lone note has its cosine only.
"""

TIE = 3
"""Digits of a score that count; hits that differ by less are ordered by kind and age."""


def order(hit: Hit) -> tuple[float, bool, int, int]:
    """Return what the hits of a query are ordered by: of what fits alike, knowledge comes first."""
    item = hit.item
    return (-round(hit.score, TIE), not is_knowledge(item), -item.created_ms, -item.id)


def is_merely_near(signals: HitSignals) -> bool:
    """Return True if an item was found by what it means alone: it holds no word of the query."""
    return signals.semantic > 0 and not (signals.fts5 or signals.is_newest)


RECENCY, PROJECT = 0.70, 0.30
"""What the two signals count for where nothing is asked."""


def is_knowledge(item: Item) -> bool:
    """Return True if an item holds until somebody says otherwise; an answer does not."""
    is_answer = item.type == DECISION and item.kind == "observation"
    return item.type in KNOWLEDGE_TYPES and not is_answer


def recency(created_ms: int, *, now_ms: int) -> float:
    """Return 1 for now or later, halved by every `HALF_LIFE_MS` of age."""
    return float(0.5 ** (max(0, now_ms - created_ms) / HALF_LIFE_MS))


def composite(signals: HitSignals, *, type_: str) -> float:
    """Return the worth of an item where nothing is asked, 0 to `KNOWLEDGE_FACTOR`."""
    factor = KNOWLEDGE_FACTOR if type_ in KNOWLEDGE_TYPES else 1.0
    worth = RECENCY * signals.recency + PROJECT * signals.project_match
    return worth * factor


def clamped(score: float) -> float:
    """Return a score as it is shown."""
    return min(1.0, score)


Nearness = Callable[[int, int], float]

WITHHELD = "left out, since it imitates the markup of a client or model"
"""What is said in its place, where silence would mislead."""


def is_harmless(*texts: str) -> bool:
    """Return True if texts, read as one, do not imitate what a model takes for more than text."""
    return not suspicion(": ".join(texts))


def clean(text: str) -> str:
    """Return a text, or nothing where it is not harmless."""
    return text if is_harmless(text) else ""


def is_of_here(note: Item) -> bool:
    """Return True if a note is of this project, the person's, or approved by the person."""
    return note.project_id is not None or note.author == "person" or note.approval == "approved"


FACTORS: dict[Reason, float] = {"elsewhere": 0.8, "reverted": 0.7, "superseded": 0.5}
"""What is left of the score of an item of which all holds elsewhere, or was taken back or replaced.

Source: such that it decides between items that fit alike, and does not bury the only one that fits.
That the code has moved on is shown and lowers no score: on two corpora of sessions it helped none.
"""
EXPIRED = 0.5
"""As much is left of a note whose author said until when it would hold."""
ENDS: frozenset[Reason] = frozenset({"changed", "deleted", "reverted", "superseded"})
"""What makes an item stale, if it is so of at least half of it."""
HALF = 0.5


def staleness_factor(validity: Iterable[Validity]) -> float:
    """Return by what to multiply the score of an item that stands so, 0 to 1."""
    factor = 1.0
    for each in validity:
        factor *= 1 - (1 - FACTORS.get(each.reason, 1.0)) * each.share
    return factor


def has_expired(item: Item, now_ms: int) -> bool:
    """Return True if a note has expired."""
    return item.expires_ms is not None and item.expires_ms <= now_ms


def is_stale(item: Item) -> bool:
    """Return True if an item does not hold any more, or less than half of it does."""
    ended = (each.reason in ENDS and each.share >= HALF for each in item.validity)
    return item.stale_ms is not None or any(ended)


OUTRANKED: frozenset[Reason] = frozenset({"superseded", "amended"})
"""What gives an item less than the score of the one that did so."""


def successors(items: Iterable[Item]) -> list[int]:
    """Return the ids of the items that superseded or amended these."""
    said = (each for item in items for each in item.validity if each.reason in OUTRANKED)
    return list(dict.fromkeys(each.target for each in said))


def outranked(hits: Iterable[Hit]) -> list[Hit]:
    """Give what was superseded or amended less than the score of what did so, if both are there.

    So does the summary of a session in which the old was said.
    """
    offered = list(hits)
    if not successors(hit.item for hit in offered):
        return offered
    scores = capped({hit.item.id: (hit.score, hit.item) for hit in offered})
    ends: dict[int, float] = {}
    for hit in offered:
        newer = [scores[each] for each in successors([hit.item]) if each in scores]
        if newer and hit.item.session_id:
            ends[hit.item.session_id] = min(ends.get(hit.item.session_id, 1.0), max(newer) - STEP)
    for hit in offered:
        if hit.item.kind == "summary":
            score = scores[hit.item.id]
            scores[hit.item.id] = max(0.0, min(score, ends.get(hit.item.session_id or 0, score)))
    return [msgspec.structs.replace(hit, score=scores[hit.item.id]) for hit in offered]


def capped(offered: Mapping[int, tuple[float, Item]]) -> dict[int, float]:
    """Return the scores of items, of those superseded or amended less than of what did so."""
    return {
        item_id: min(
            [score]
            + [max(0.0, offered[each][0] - STEP) for each in successors([item]) if each in offered]
        )
        for item_id, (score, item) in offered.items()
    }


def together(hits: Sequence[Hit], others: Iterable[Hit], nearness: Nearness) -> list[Hit]:
    """Return hits, best first, with notes that are near each other side by side, the newer first.

    Nobody has said which of them holds, so none is left out. The newer neighbour may be among the
    others; `nearness` returns the cosine of two items.
    """
    left = {hit.item.id: hit for hit in hits}
    # Others hold hits again, with the score that they had before a newer one was set above them.
    notes = {hit.item.id: hit for hit in (*others, *hits) if _is_open(hit.item)}.values()
    found: list[Hit] = []
    for hit in hits:
        if left.pop(hit.item.id, None) is None:
            continue
        newer = _newer_neighbour(hit, notes, nearness) if _is_open(hit.item) else None
        is_new = newer is not None and all(newer.item.id != each.item.id for each in found)
        if newer is None or not is_new:
            found.append(hit)
            continue
        left.pop(newer.item.id, None)
        beside = msgspec.structs.replace(newer, score=max(newer.score, hit.score))
        found += [beside, hit] if newer.score >= AS_WELL * hit.score else [hit, beside]
    return found


def _newer_neighbour(hit: Hit, notes: Iterable[Hit], nearness: Nearness) -> Hit | None:
    """Return the nearest newer note of the same project, None if none is near."""
    newer = [
        (nearness(hit.item.id, each.item.id), each.item.id, each)
        for each in notes
        if each.item.project_id == hit.item.project_id
        and (each.item.updated_ms, each.item.id) > (hit.item.updated_ms, hit.item.id)
    ]
    near = [each for each in newer if each[0] >= SAME_SUBJECT]
    return max(near)[2] if near else None


def _is_open(item: Item) -> bool:
    """Return True if an item is a note of which no act says that another one stands above it."""
    return item.kind == "note" and not any(each.reason in OUTRANKED for each in item.validity)


SAME_SUBJECT = 0.6
"""Cosine from which two notes stand side by side. Source: of 383 statements with a later one that
changes them .81 are as near to it."""
AS_WELL = 0.5
"""Share of the older note's score from which the newer one stands before it, else behind it. Of
sixteen pairs none parts what was replaced (.09 to .99) from members of a series (.27 to .98)."""
STEP = 0.01
"""The least difference of scores that decides an order."""
