"""Cases with found and expected claims, and their precision and recall. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from observer.core.value import Value


class Case(Value):
    """One labelled case: the claims that were found, and those that are true.

    A claim is a text such as ``added Cart.total``; both sides are compared as sets.
    """

    name: str
    found: frozenset[str]
    wanted: frozenset[str]

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return the claims that were found and are not true, sorted."""
        return tuple(sorted(self.found - self.wanted))

    @property
    def missed(self) -> tuple[str, ...]:
        """Return the claims that are true and were not found, sorted."""
        return tuple(sorted(self.wanted - self.found))


class Score(Value):
    """Precision and recall of the claims of several cases, each from 0 to 1."""

    name: str
    cases: int
    precision: float
    recall: float


def score(name: str, cases: Iterable[Case]) -> Score:
    """Return micro-averaged precision and recall; both are 1 without any claim."""
    every = list(cases)
    right = sum(len(case.found & case.wanted) for case in every)
    found = sum(len(case.found) for case in every)
    wanted = sum(len(case.wanted) for case in every)
    return Score(
        name=name,
        cases=len(every),
        precision=_share(right, found),
        recall=_share(right, wanted),
    )


def _share(right: int, every: int) -> float:
    return float(Fraction(right, every)) if every else 1.0
