"""No test is skipped unseen, and in CI none that a package would have let run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import skips

Run = Callable[..., tuple[int, str]]
SCRIPTS = Path(skips.__file__).parent
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_skipped(number: int) -> None:
    pytest.skip({reason!r})

@pytest.mark.skipif(True, reason="root reads everything")
def test_marked() -> None: ...
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run tests that are skipped for a reason; return the exit status and what is said."""
    monkeypatch.setenv("PYTHONPATH", str(SCRIPTS))

    def run(reason: str, *options: str) -> tuple[int, str]:
        (tmp_path / "test_some.py").write_text(TESTS.format(reason=reason))
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "skips", *options]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def test_reasons_are_listed_with_how_often(run: Run) -> None:
    status, said = run("fish is not installed")
    assert status == 0
    assert "    3 fish is not installed\n    1 root reads everything\n" in said


def test_where_all_is_installed_a_missing_package_fails_the_run(run: Run) -> None:
    status, said = run("fish is not installed", "--all-installed", "-n2")
    assert status == 1
    assert "should have avoided: fish is not installed" in said
    assert "should have avoided: root" not in said


def test_what_no_package_avoids_fails_nothing(run: Run) -> None:
    assert run("the client codex is not installed", "--all-installed")[0] == 0


@pytest.mark.parametrize("pattern", skips.UNAVOIDABLE)
def test_a_reason_that_is_let_pass_is_one_of_a_test(pattern: str) -> None:
    begins = re.split(r"[.|\\]", pattern)[0]
    here = Path(__file__)
    texts = (path.read_text() for path in here.parent.rglob("test_*.py") if path != here)
    assert any(f'"{begins}' in text for text in texts)
