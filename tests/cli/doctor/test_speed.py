"""`observer doctor speed`: what it prints follows from its samples."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.cli.doctor.lab import Aim, Figure, Options, percentile, shown
from observer.cli.doctor.speed import bundled, order
from observer.core.paths import Home
from tests.support import ended


def test_a_percentile_an_aim_and_a_single_value_are_said(tmp_path: Path) -> None:
    assert [percentile([4.0, 1.0, 3.0, 2.0], each) for each in (50, 95, 1)] == [2.0, 4.0, 1.0]
    assert math.isnan(percentile([], 50))
    assert Figure("x", [], " ms").values()["p50"] is None
    figure = Figure("storing", [10.0, 20.0, 30.0], " ms", (Aim(percent=95, most=25.0),))
    assert "aim p95 <= 25.0 ms: MISSED" in figure.line()
    assert figure.values()["aims"] == ["aim p95 <= 25.0: MISSED"]
    assert "aim p50 >= 5.00 ms: met" in Figure("s", [6.0], " ms", (Aim(least=5.0),)).line()
    assert "p95" not in Figure("disk", [4.0], " KB").line()
    assert [shown(number) for number in (0.123, 12.34, 1234.5)] == ["0.12", "12.3", "1,234"]
    rounds = [Options(share=share, work=tmp_path).rounds(300) for share in (0.1, 0.001)]
    assert rounds == [30, 1]


def test_every_query_of_the_set_is_about_one_of_its_notes_ranked_by_place() -> None:
    assert order("2. the cart\n1. the shop", ["the shop", "the lake", "the cart"]) == [2, 0]
    titles, asked = bundled()
    assert (len(titles), len(asked)) == (560, 60)
    assert len(set(titles)) == len(titles)
    assert all(0 <= place < len(titles) for each in asked for place in each.relevant)


ROOT = Path(__file__).parents[3]
FEWER = (
    "from observer.cli import main; import observer.cli.doctor.speed as s; s.QUICK = .01; main()"
)


Bench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bench() -> Bench:
    """Run the real command, with the time that it needs."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-c", FEWER, "doctor", "speed", *words]
        return ended(argv, timeout=600, env=environment)

    return run


def measured(bench: Bench, *words: str) -> dict[str, Any]:
    done = bench(*words, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["figures"]}


@pytest.mark.slow
def test_every_note_is_found_in_its_own_words(bench: Bench) -> None:
    found = measured(bench, "found")
    assert found["found in their own words, R@3, observer"]["p50"] == 100
    assert found["found in other words, R@5, observer"]["p50"] > 50
    assert found["memory meanwhile, observer"]["p50"] > 1


@pytest.mark.slow
def test_kills_lose_nothing_and_the_users_home_stays_untouched(bench: Bench, home: Home) -> None:
    found = measured(bench, "kills")
    assert found["kills: events lost"]["p50"] == found["kills: events doubled"]["p50"] == 0
    assert not home.root.exists()


@pytest.mark.slow
def test_hooks_and_sizes_are_measured_as_text(bench: Bench) -> None:
    done = bench("hooks", "sizes", "--quick")
    assert done.returncode == 0, done.stderr
    for name in ("hooks/post, daemon down", "events stored and searchable", "disk, an event"):
        assert f"\n{name} " in done.stdout


def test_what_cannot_be_measured_is_refused(bench: Bench) -> None:
    done = bench("weather")
    assert done.returncode == 2
    assert "one of: hooks, found, kills, sizes" in done.stderr
