"""Findings: what the figures of several systems say, as values to print. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from observer.evaluation.measures import FIGURES, Gap, Interval, Sample, gap, interval
from observer.events import Value

SURE = 0.05
"""A gap whose p-value is below this is called one."""

_RANKED = FIGURES.index("nDCG@10")


class Row(Value):
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
    rows: tuple[Row, ...]
    against: tuple[Against, ...]

    def best(self, systems: Sequence[str]) -> Against | None:
        """Return the comparison with the best of these systems; None if there is none."""
        found = [each for each in self.against if each.system in systems]
        return min(found, key=lambda each: each.gap.mean, default=None)


def finding(name: str, sample: Sample, systems: Sequence[str]) -> Finding:
    """Compare the systems of a sample, whose axes are systems and figures, with the first one."""
    rows = [
        Row(
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
