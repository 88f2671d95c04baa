"""The guard over the home of whoever runs the tests, where a daemon lives and is fed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home

pytestmark = pytest.mark.slow
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
