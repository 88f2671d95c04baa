"""What `doctor speed` prints follows from its samples."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from observer.cli.doctor.lab import Aim, Figure, Options, percentile, shown
from observer.cli.doctor.speed import bundled, order


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        pytest.param(50, 2.0, id="p50"),
        pytest.param(95, 4.0, id="p95"),
        pytest.param(1, 1.0, id="p1"),
    ],
)
def test_a_percentile_is_one_of_the_samples(percent: int, expected: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == expected


def test_without_samples_there_is_no_percentile() -> None:
    assert math.isnan(percentile([], 50))
    assert Figure("x", [], " ms").values()["p50"] is None


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0.123, "0.12"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_numbers_have_three_telling_digits(number: float, expected: str) -> None:
    assert shown(number) == expected


def test_an_aim_is_met_or_missed() -> None:
    figure = Figure("storing", [10.0, 20.0, 30.0], " ms", (Aim(percent=95, most=25.0),))
    assert "aim p95 <= 25.0 ms: MISSED" in figure.line()
    assert figure.values()["aims"] == ["aim p95 <= 25.0: MISSED"]
    assert "aim p50 >= 5.00 ms: met" in Figure("s", [6.0], " ms", (Aim(least=5.0),)).line()


def test_a_single_value_has_no_percentiles() -> None:
    assert "p95" not in Figure("disk", [4.0], " KB").line()


def test_a_share_of_the_rounds_is_one_at_least(tmp_path: Path) -> None:
    assert Options(share=0.1, work=tmp_path).rounds(300) == 30
    assert Options(share=0.01, work=tmp_path).rounds(3) == 1


def test_notes_are_ranked_by_where_an_answer_names_them() -> None:
    assert order("2. the cart\n1. the shop", ["the shop", "the lake", "the cart"]) == [2, 0]


def test_every_query_of_the_set_in_the_package_is_about_one_of_its_notes() -> None:
    titles, asked = bundled()
    assert (len(titles), len(asked)) == (560, 60)
    assert len(set(titles)) == len(titles)
    assert all(0 <= place < len(titles) for each in asked for place in each.relevant)
