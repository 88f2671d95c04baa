"""`observer doctor` shows each check, does what is safe when asked, and says what it did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from observer.core.paths import Home
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def damaged(run: Run, home: Home) -> Path:
    """Claude Code with a script that is out of date, and a home that others can enter."""
    run("install", "claude-code")
    (home.hooks / "recall").write_text("#!/bin/sh\n")
    home.root.chmod(0o755)
    return home.hooks / "recall"


def test_what_is_wrong_is_shown_with_the_offer_to_fix_it(run: Run, damaged: Path) -> None:
    shown = run("doctor", "--quick")
    assert shown.code == 1
    assert re.search("WRONG +hooks +out of date: recall; refresh them with: observer", shown.out)
    assert "observer doctor --fix does what is safe" in shown.out
    assert damaged.read_text() == "#!/bin/sh\n"


def test_fixes_are_done_said_and_checked(run: Run, home: Home, damaged: Path) -> None:
    done = run("doctor", "--quick", "--fix")
    assert done.code == 0
    assert f"fixed: took the rights of others from {home.root}\n" in done.out
    assert "fixed: refreshed 1 hook script\n" in done.out
    assert "WRONG" not in done.out
    assert home.root.stat().st_mode & 0o077 == 0
    assert "fixed" not in run("doctor", "--quick", "--fix").out


def test_scripts_see_what_was_fixed(run: Run) -> None:
    found = run("doctor", "--quick", "--fix", "--json").json
    assert found["is_well"]
    assert len(found["fixed"]) == 2


@pytest.mark.slow
def test_each_installed_hook_is_tried(run: Run) -> None:
    found = run("doctor", "--fix", "--json").json
    checks = {check["name"]: check for check in found["checks"]}
    assert checks["claude-code probe"]["found"].startswith("stored after ")
    assert checks["secrets"]["is_well"]
