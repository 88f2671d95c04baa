"""The systems that answer: the product's recall, its legs, and plain ways to join the legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.measures import DEPTH
from observer.core.filters import Filters
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.model import EVEN
from observer.search.candidates import LEGS, Leg, Sources, Vector, candidates
from observer.search.find import search
from observer.search.query import plan, quoted

System = Callable[[Sources, str, int], Sequence[int]]
"""Answers a query at a time (ms) with the ids of items, best first."""

WITHOUT_MEANING = "recall by words"

_K = 60
"""What a rank is damped by. Source: Cormack and others, Reciprocal Rank Fusion, SIGIR 2009."""

_EVERYTHING = 1_000_000


def recall(
    sources: Sources,
    text: str,
    now_ms: int,
    *,
    limit: int = DEPTH,
    legs: Sequence[Leg] = LEGS,
) -> list[int]:
    """Answer as the product does."""
    found = search(sources, text, Filters(), limit=limit, now_ms=now_ms, legs=legs).above_floor()
    return [hit.item.id for hit in found.hits]


def without_meaning(sources: Sources, text: str, now_ms: int) -> list[int]:
    """Answer as the product does where there is no model."""
    return recall(sources, text, now_ms, legs=("words",))


def words_only(sources: Sources, text: str, now_ms: int) -> list[int]:
    """Answer with the words leg: BM25 over any of the words."""
    del now_ms
    return _by_ranks(sources, text, lambda words, _: words)


def vectors_only(sources: Sources, text: str, now_ms: int) -> list[int]:
    """Answer with the meaning leg: cosines."""
    del now_ms
    return _by_ranks(sources, text, lambda _, meaning: meaning)


def plain_rrf(sources: Sources, text: str, now_ms: int) -> list[int]:
    """Answer with both legs, joined by their ranks."""
    del now_ms
    return _by_ranks(sources, text, lambda words, meaning: words + meaning)


SYSTEMS: dict[str, System] = {
    "recall": recall,
    "words only": words_only,
    "vectors only": vectors_only,
    "plain RRF": plain_rrf,
    WITHOUT_MEANING: without_meaning,
}
"""The product first; every other one is what it is held against."""

SINGLE_LEGS = ("words only", "vectors only")

_NEED_A_MODEL = {"vectors only", "plain RRF", WITHOUT_MEANING}


def systems_of(model: LazyModel) -> dict[str, System]:
    """Return the systems that differ from one another with a model: few if it cannot be used."""
    if model.problem:
        return {name: system for name, system in SYSTEMS.items() if name not in _NEED_A_MODEL}
    return SYSTEMS


def legs_of(model: LazyModel) -> dict[str, System]:
    """Return, for a joined model, what each model that it is made of finds alone, and with words.

    The names are ``NAME alone`` and ``words + NAME``; there are none for any other model.
    """
    made: dict[str, System] = {}
    start = 0
    for part in model.info.parts:
        half = slice(start, start + part.dimensions)
        made[f"{part.name} alone"] = _of_part(vectors_only, half)
        made[f"words + {part.name}"] = _of_part(plain_rrf, half)
        start = half.stop
    return made


def _of_part(system: System, half: slice) -> System:
    """Return a system that is asked with a part of a query's vector alone."""

    def ask(sources: Sources, text: str, now_ms: int) -> Sequence[int]:
        def encode(text: str, _doubt: float = EVEN, /) -> Vector | None:
            whole = sources.encode(text, EVEN)  # with less doubt a part may be left out
            if whole is None:
                return None
            part = np.zeros_like(whole)
            part[half] = whole[half]
            return part

        return system(sources._replace(encode=encode), text, now_ms)

    return ask


def mentions(sources: Sources, text: str) -> frozenset[int]:
    """Return the items that hold any word of a query."""
    expression = " OR ".join(map(quoted, plan(text).words))
    if not expression:
        return frozenset()
    return frozenset(sources.reader.match(expression, Filters(), limit=_EVERYTHING))


def _by_ranks(sources: Sources, text: str, score: Callable[[float, float], float]) -> list[int]:
    """Return the items with the highest scores above 0, made of the shares of their two ranks."""
    found = candidates(sources, plan(text), Filters())
    scored = []
    for item in found.ids:
        signals = found.signals(item, recency=0.0)
        scored.append((score(_share(signals.words_rank), _share(signals.meaning_rank)), item))
    return [item for worth, item in sorted(scored, reverse=True)[:DEPTH] if worth]


def _share(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / (_K + rank)
