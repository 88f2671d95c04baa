"""How much an item is worth: the weights, as pure functions of an item's signals.

Second step of a search or a context pack, pure. Every signal is between 0 and 1.

Source: the weights, the half-life and the factor of knowledge are the Kiro seed's.
"""

from __future__ import annotations

from observer.events import Value
from observer.model import KNOWLEDGE_TYPES, Item

HALF_LIFE_MS = 168 * 3_600_000
"""After a week an item's recency is worth half."""

KNOWLEDGE_FACTOR = 3.0


class Signals(Value):
    """Why an item was found.

    `fts5` is BM25 divided by the best of the answer; exact sequences and words that stand close
    together are part of it. `close` is the share of the query's words that do, `terms` are those
    that the item holds at all. `semantic` is 0 for an item without a vector.
    """

    semantic: float = 0.0
    fts5: float = 0.0
    close: float = 0.0
    recency: float = 0.0
    project_match: float = 0.0
    terms: tuple[str, ...] = ()


class Hit(Value):
    """A found item; `score` is between 0 and 1 and comparable within one answer."""

    item: Item
    score: float
    signals: Signals


class Weights(Value):
    """Shares of the signals in a score; they sum to 1."""

    semantic: float = 0.0
    fts5: float = 0.0
    recency: float = 0.0
    project_match: float = 0.0

    def without_semantic(self) -> Weights:
        """Return the weights where no vector exists: the others keep their ratio."""
        rest = 1.0 - self.semantic
        return Weights(
            fts5=self.fts5 / rest,
            recency=self.recency / rest,
            project_match=self.project_match / rest,
        )


WITH_QUERY = Weights(semantic=0.45, fts5=0.35, recency=0.10, project_match=0.10)
WITHOUT_QUERY = Weights(recency=0.70, project_match=0.30)


def recency(created_ms: int, *, now_ms: int) -> float:
    """Return 1 for now or later, halved by every `HALF_LIFE_MS` of age."""
    return float(0.5 ** (max(0, now_ms - created_ms) / HALF_LIFE_MS))


def composite(signals: Signals, weights: Weights, *, type_: str) -> float:
    """Return the worth of an item in a context pack; knowledge exceeds 1, so clamp to show it."""
    score = (
        weights.semantic * signals.semantic
        + weights.fts5 * signals.fts5
        + weights.recency * signals.recency
        + weights.project_match * signals.project_match
    )
    return score * (KNOWLEDGE_FACTOR if type_ in KNOWLEDGE_TYPES else 1.0)


def clamped(score: float) -> float:
    """Return a score as it is shown."""
    return min(1.0, score)
