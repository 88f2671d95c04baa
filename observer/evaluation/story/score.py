"""What was told of labelled cases beside what is so, and both summed up.

Pure: the modules beside this one read the cases and ask interpretation.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from observer.core.value import Value


class Case(Value):
    """One labelled case: the claims that were told, and those that are true.

    A claim is any text that says what it claims, as ``added Cart.total``; both sides are compared
    as sets.
    """

    name: str
    told: frozenset[str]
    wanted: frozenset[str]

    @property
    def wrong(self) -> tuple[str, ...]:
        """What was told and is not so, sorted."""
        return tuple(sorted(self.told - self.wanted))

    @property
    def missed(self) -> tuple[str, ...]:
        """What is so and was not told, sorted."""
        return tuple(sorted(self.wanted - self.told))


class Score(Value):
    """Precision and recall of the claims of several cases, each from 0 to 1."""

    name: str
    cases: int
    precision: float
    recall: float


def score(name: str, cases: Iterable[Case]) -> Score:
    """Sum several cases up; every claim counts the same, and nothing told of nothing is right."""
    every = list(cases)
    right = sum(len(case.told & case.wanted) for case in every)
    told = sum(len(case.told) for case in every)
    wanted = sum(len(case.wanted) for case in every)
    return Score(
        name=name,
        cases=len(every),
        precision=_share(right, told),
        recall=_share(right, wanted),
    )


def _share(right: int, every: int) -> float:
    return float(Fraction(right, every)) if every else 1.0
