"""The result of scoring: named figures, and cases that can be listed."""

from __future__ import annotations

from collections.abc import Sequence

from observer.core.value import Value


class Measure(Value):
    """One figure. A share has `n`, the count of what it is a share of; a count has none."""

    group: str
    name: str
    value: float
    n: int | None = None


class Scored(Value):
    """What a scorer found: figures, and what it found wrong, a line a case."""

    measures: tuple[Measure, ...]
    wrong: tuple[str, ...] = ()


def share(group: str, name: str, good: int, of: int) -> Measure:
    """Return the share of good ones; of none it is 1."""
    return Measure(group=group, name=name, value=round(good / of, 4) if of else 1.0, n=of)


def mean(group: str, name: str, values: Sequence[float]) -> Measure:
    """Return the mean of values; of none it is 0."""
    average = sum(values) / len(values) if values else 0.0
    return Measure(group=group, name=name, value=round(average, 4), n=len(values))


def count(group: str, name: str, number: float) -> Measure:
    """Return a count."""
    return Measure(group=group, name=name, value=number)


def line(text: str, at_most: int = 160) -> str:
    """Return a text in one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= at_most else f"{flat[: at_most - 1]}…"
