"""`observer doctor speed`, with few rounds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

ROOT = Path(__file__).parents[3]
FEWER = (
    "from observer.cli import main; import observer.cli.doctor.speed as s; s.QUICK = .01; main()"
)


Bench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bench() -> Bench:
    """Run the real command, with the time that it needs."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", FEWER, "doctor", "speed", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

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
