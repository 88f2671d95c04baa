"""The real home of whoever runs the tests is guarded, and that of no test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.core.paths import home as home_of_observer

ROOT = Path(__file__).parents[1]
PROBES = ROOT / "tests/data/real_home/probes.py"
FEED = """while sleep 0.1; do
    echo '{"prompt": "which port", "session_id": "one"}' |
        "$OBSERVER_HOME/hooks/post" claude-code UserPromptSubmit
done"""


@pytest.fixture
def fed(home: Home, observer: Callable[..., object]) -> Iterator[None]:
    """A daemon in the home of this test, which is the real one of the tests within, and hooks."""
    observer("up")
    feeding = subprocess.Popen(["sh", "-c", FEED])
    yield
    feeding.kill()
    feeding.wait()


@pytest.mark.slow
def test_what_reaches_for_a_home_fails_and_what_lives_there_does_not(
    fed: None, home: Home, tmp_path: Path
) -> None:
    argv = [sys.executable, "-m", "pytest", "-qrA", "-p", "no:cacheprovider", "--basetemp"]
    environ = {**os.environ, "REAL": str(home.root)}
    del environ["OBSERVER_HOME"]  # as where observer has its usual home
    done = subprocess.run(
        [*argv, tmp_path / "base", PROBES], cwd=ROOT, env=environ, capture_output=True, check=False
    )
    ends = [line.split() for line in done.stdout.decode().splitlines() if "::test_" in line]
    failed = {test for end, test, *_ in ends if end in {"FAILED", "ERROR"}}
    assert {test for _, test, *_ in ends if test not in failed} == {
        f"{PROBES.relative_to(ROOT)}::test_only_the_daemon_and_its_hooks_write"
    }, done.stdout.decode()
    assert len(failed) == 9


@pytest.fixture(scope="module")
def seen() -> tuple[Path, Path]:
    """The homes of the user and of observer as fixtures see them that outlive a test."""
    return Path.home(), home_of_observer().root


def test_a_test_and_the_fixtures_before_it_have_homes_of_their_own_that_are_thrown_away(
    seen: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert all(path.is_relative_to(tmp_path_factory.getbasetemp()) for path in seen)
    assert Path.home() not in seen
    assert home_of_observer().root == Path.home() / ".observer"
    assert "GIT_DIR" not in os.environ
