"""Precision and recall on sets that were labelled by hand are as promised."""

from __future__ import annotations

from pathlib import Path

import pytest
from labelled import SETS
from labelled.score import Case, score

LABELLED = Path(__file__).parents[1] / "data"

FLOORS = {
    "changes": (120, 0.95),
    "arcs": (60, 0.9),
    "outcomes": (210, 0.97),
    "signatures": (180, 0.97),
}
"""Name of a set -> how many cases it has at least, and the precision and recall it must reach."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
def test_a_set_reaches_its_precision_and_recall(name: str) -> None:
    found = score(name, SETS[name](LABELLED / name))
    cases, floor = FLOORS[name]
    assert found.cases >= cases
    assert found.precision >= floor
    assert found.recall >= floor


def case(found: str, wanted: str) -> Case:
    return Case(name="a", found=frozenset(found.split()), wanted=frozenset(wanted.split()))


def test_a_score_counts_claims_over_all_cases() -> None:
    found = score("a", [case("x y", "x z"), case("", "w"), case("", "")])
    assert (found.cases, found.precision, found.recall) == (3, 1 / 2, 1 / 3)


def test_a_case_names_its_differences() -> None:
    one = case("x y", "x z")
    assert (one.wrong, one.missed) == (("y",), ("z",))
