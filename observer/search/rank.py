"""How much an item is worth: the weights, as pure functions of an item's signals.

Second step of a search or a context pack, pure. Every signal is between 0 and 1.

Source: the half-life, the factor of knowledge, and what counts without a query are the Kiro seed's.
Its weights with a query, 0.45 for meaning, 0.35 for words and 0.10 each for recency and project,
find 68.2 (nDCG@10) on the development sets where those of `relevance` find 74.7.
"""

from __future__ import annotations

from typing import Any, TypeVar

from numpy.typing import NDArray

from observer.core.model import KNOWLEDGE_TYPES, Item, Reason
from observer.core.value import Value
from observer.observations.drafts import DECISION

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
    the words that the item holds at all. A rank is the item's place in the answer of one leg alone,
    from 1.
    `type_weight` is no signal but a factor: less than 1 for a prompt that only asks (see `ASKING`).
    So is `meaning_weight`: what meaning counts for, more where the words of the query find little
    (see `signals.trust`). `is_newest` marks work that is shown because it is the newest, whatever
    fits.
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
    def fit(self) -> float:
        """How well the item fits the query, whatever it is and whether it still holds."""
        return fit(self.signals)

    @property
    def lasting(self) -> float:
        """The factor by which staleness lowers the score (see `eligible.staleness_factor`)."""
        worth = self.fit * self.signals.type_weight
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
    """Return how well items fit a query: the sum of the legs' figures, not of their ranks.

    It is between 0 and 1, and above 1 only for what means the query in wholly other words.

    An absolute cosine and a share of the best BM25 keep what ranks throw away: by how much
    something is better. Closeness and exactness keep names and error texts ahead of what is
    merely similar.
    """
    meaning = MEANING * meaning_weight * semantic
    score: Figure = WORDS * fts5 + meaning + CLOSE * close + PHRASE * phrase + EXACT * exact
    return score / (WORDS + MEANING + CLOSE + PHRASE + EXACT)


KNEE = 0.5
"""Worth from which on a fit grows less and less, so that it stays below 1."""


def fit(signals: HitSignals) -> float:
    """Return how well an item with these signals fits a query, 0 to 1."""
    worth: float = relevance(**{name: getattr(signals, name) for name in COMPARED})
    # What means the query in wholly other words is worth more than 1; it keeps its order.
    return worth if worth <= KNEE else 1 - KNEE**2 / worth


NEAR = 0.375
"""The least cosine at which an item that holds no word of a query is about it.

Source: development sets; of pairs by chance, 1 to 2 % are as near, with any model that ships.
"""
FOUND, STANDS_OUT = 0.2, 0.25
"""The least cosine, or fit, of one item at least, if items are found for what they mean alone.

Source: hits without a word for 40 questions that nothing in a corpus of sessions answers, and 50
made-up queries. Five questions have a hit as near, three one that fits as well, no made-up query
has either; in another corpus one made-up query has. Of 60 facts that are asked for in other words
48 are among five so, 44 where each item has to be as near; by the cosine alone 20 would be lost,
for a fit says whether nothing else is as near. A lone note has its cosine only.
"""

TIE = 3
"""Digits of a score that count; hits that differ by less are ordered by kind and age."""


def order(hit: Hit) -> tuple[float, bool, int, int]:
    """Return what the hits of a query are ordered by: of what fits alike, knowledge comes first."""
    item = hit.item
    return (-round(hit.score, TIE), not is_knowledge(item), -item.created_ms, -item.id)


def has_signal(signals: HitSignals) -> bool:
    """Return True if an item holds a word of the query, or is near to what it means."""
    return signals.fts5 > 0 or signals.semantic >= NEAR


def is_merely_near(signals: HitSignals) -> bool:
    """Return True if an item was found by what it means alone: it holds no word of the query."""
    return signals.semantic > 0 and not (signals.fts5 or signals.is_newest)


def stands_out(signals: HitSignals) -> bool:
    """Return True if an item is so near to what a query means that it is not so by chance."""
    return signals.semantic >= FOUND or fit(signals) >= STANDS_OUT


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
    """Return the worth of an item where nothing is asked; it may exceed 1, so clamp to show it.

    An item of one of the knowledge types is worth more by `KNOWLEDGE_FACTOR`. With a query items
    are worth what they fit (see `relevance`), and knowledge only comes first of what fits alike.
    """
    factor = KNOWLEDGE_FACTOR if type_ in KNOWLEDGE_TYPES else 1.0
    worth = RECENCY * signals.recency + PROJECT * signals.project_match
    return worth * factor


def clamped(score: float) -> float:
    """Return a score as it is shown."""
    return min(1.0, score)
