"""Figures of ranked answers, their intervals, and whether one system is ahead of another. Pure.

A figure of one query lies between 0 and 1. Intervals and p-values come from a bootstrap over the
queries: what the means would have been, had other queries of the same kind been asked. All
systems see the same redrawn queries, so comparisons are paired. Equal figures give equal results.

Findings: what the figures of several systems say, as values to print. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.value import Value

Numbers = NDArray[np.float64]

FIGURES = ("R@3", "R@5", "R@10", "MRR@10", "nDCG@10")
"""What `measure` returns, in order."""

DEPTH = 10
"""Places of an answer that are looked at."""

REDRAWS = 10_000
"""Redrawings of the queries: the smallest p-value is about one in five thousand."""

_AT_ONCE = 200_000
_EVEN = 1e-12
"""Means that differ by less are equal but for rounding."""


class Interval(Value):
    """A mean, and the range that holds it in 95 of 100 redrawings."""

    mean: float
    low: float
    high: float


class Gap(Value):
    """By how much one mean exceeds another, and the two-sided p-value of that.

    `p` is how often chance alone would give a gap this large in either direction.
    """

    mean: float
    low: float
    high: float
    p: float


class Sample(NamedTuple):
    """Means over queries by system and figure, and the same of each redrawing (first axis)."""

    means: Numbers
    redrawn: Numbers


def measure(answer: Sequence[int], relevant: Collection[int]) -> tuple[float, ...]:
    """Compare one answer, best first, with what it should have found.

    Args:
        answer: ids; a repeated one keeps its places and counts once.
        relevant: ids of what is right, at least one.

    Returns:
        Recall@3, recall@5, recall@10, the reciprocal rank of the first right one, and nDCG, both
        at 10.
    """
    first = {found: rank for rank, found in reversed(list(enumerate(answer[:DEPTH], start=1)))}
    ranks = sorted(rank for found, rank in first.items() if found in relevant)
    ideal = sum(_discount(rank) for rank in range(1, min(DEPTH, len(relevant)) + 1))
    return (
        sum(rank <= 3 for rank in ranks) / len(relevant),
        sum(rank <= 5 for rank in ranks) / len(relevant),
        len(ranks) / len(relevant),
        1 / ranks[0] if ranks else 0.0,
        sum(map(_discount, ranks)) / ideal,
    )


def redraw(figures: Numbers, *, seed: int = 0, redraws: int = REDRAWS) -> Sample:
    """Draw as many queries again as there are, with replacement, many times.

    Args:
        figures: by query, system and figure; at least one query.
        seed: sets of queries that are averaged need different ones.
        redraws: how many times.
    """
    count = len(figures)
    rows = figures.reshape(count, -1)
    chance = np.random.default_rng((7, seed))
    means, drawn = [], 0
    while drawn < redraws:
        part = min(redraws - drawn, max(1, _AT_ONCE // count))
        means.append(_weights(chance, count, part) @ rows / count)
        drawn += part
    shape = (redraws, *figures.shape[1:])
    return Sample(figures.mean(axis=0), np.concatenate(means).reshape(shape))


def average(samples: Sequence[Sample]) -> Sample:
    """Return the macro average: every set counts the same, however many queries it has."""
    return Sample(
        np.mean([sample.means for sample in samples], axis=0),
        np.mean([sample.redrawn for sample in samples], axis=0),
    )


def interval(sample: Sample, system: int, figure: int) -> Interval:
    """Return the mean of one figure of one system with its 95 % interval."""
    low, high = _range(sample.redrawn[:, system, figure])
    return Interval(mean=float(sample.means[system, figure]), low=low, high=high)


def gap(sample: Sample, one: int, other: int, *, figure: int) -> Gap:
    """Return by how much a figure of the system `one` exceeds that of the system `other`."""
    gaps = sample.redrawn[:, one, figure] - sample.redrawn[:, other, figure]
    low, high = _range(gaps)
    not_ahead, not_behind = int((gaps <= _EVEN).sum()), int((gaps >= -_EVEN).sum())
    # One more than counted: what never happened in so many redrawings may happen in the next.
    p = 2 * (min(not_ahead, not_behind) + 1) / (len(gaps) + 1)
    mean = float(sample.means[one, figure] - sample.means[other, figure])
    return Gap(mean=mean, low=low, high=high, p=min(1.0, p))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _weights(chance: np.random.Generator, count: int, redraws: int) -> Numbers:
    """Return how often each query is drawn in each redrawing."""
    drawn = chance.integers(count, size=(redraws, count)) + count * np.arange(redraws)[:, None]
    times = np.bincount(drawn.ravel(), minlength=redraws * count)
    return times.reshape(redraws, count).astype(np.float64)


def _range(values: Numbers) -> tuple[float, float]:
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)


SURE = 0.05
"""A gap whose p-value is below this is called one."""

_RANKED = FIGURES.index("nDCG@10")


class SystemFigures(Value):
    """The figures of one system, 0 to 1, by name (`R@3`, `R@5`, `R@10`, `MRR@10`, `nDCG@10`)."""

    system: str
    figures: dict[str, Interval]


class Against(Value):
    """By how much nDCG@10 of the first system exceeds that of this one, of the same queries."""

    system: str
    gap: Gap

    @property
    def is_better(self) -> bool:
        """Whether the first system is ahead beyond chance."""
        return self.gap.mean > 0 and self.gap.p < SURE

    @property
    def is_worse(self) -> bool:
        """Whether the first system is behind beyond chance."""
        return self.gap.mean < 0 and self.gap.p < SURE


class Finding(Value):
    """How the systems did on one set, or on the average of several; the product stands first."""

    name: str
    rows: tuple[SystemFigures, ...]
    against: tuple[Against, ...]

    def behind(self, systems: Collection[str]) -> list[str]:
        """Return those of some systems that are ahead of the first one beyond chance."""
        return [e.system for e in self.against if e.system in systems and e.is_worse]


def finding(name: str, sample: Sample, systems: Sequence[str]) -> Finding:
    """Compare the systems of a sample, whose axes are systems and figures, with the first one."""
    rows = [
        SystemFigures(
            system=system,
            figures={label: interval(sample, at, which) for which, label in enumerate(FIGURES)},
        )
        for at, system in enumerate(systems)
    ]
    against = [
        Against(system=system, gap=gap(sample, 0, at, figure=_RANKED))
        for at, system in enumerate(systems)
        if at
    ]
    return Finding(name=name, rows=tuple(rows), against=tuple(against))
