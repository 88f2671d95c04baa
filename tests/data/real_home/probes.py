"""Tests that reach for the home whose path is in `REAL`, but for the first; see test_real_home."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

REAL = Path(os.environ.get("REAL", "/nonexistent"))
REMEMBER = [sys.executable, "-m", "observer", "remember", "x"]


def test_only_the_daemon_and_its_hooks_write(
    until: Callable[..., None], observer: Callable[..., object]
) -> None:
    log = REAL / "observer.db-wal"
    before = log.stat().st_mtime_ns
    until(lambda: log.stat().st_mtime_ns != before)
    observer("up")  # in the home of the test


def test_a_file_is_written() -> None:
    (REAL / "spool/new/x").touch()


def test_an_error_is_swallowed() -> None:
    with suppress(Exception):
        (REAL / "log").rename(REAL / "run/log")


def test_a_database_is_opened() -> None:
    apsw.Connection(str(REAL / "observer.db"))


def test_a_child_is_given_the_path() -> None:
    subprocess.run(["touch", REAL / "spool/new/x"], check=True)


def test_a_child_works_there() -> None:
    subprocess.run(["touch", "x"], cwd=REAL / "spool/new", check=True)


def test_a_child_has_the_home_of_the_user() -> None:
    subprocess.run(REMEMBER, env={**os.environ, "HOME": str(REAL.parent)}, check=True)


def test_a_child_has_the_home_of_observer() -> None:
    subprocess.run(REMEMBER, env={**os.environ, "OBSERVER_HOME": str(REAL)}, check=True)


def test_a_child_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("OBSERVER_HOME")
    subprocess.run(REMEMBER, check=True)


def test_a_child_of_a_child_leaves_something(tmp_path: Path) -> None:
    (tmp_path / "script").write_text('touch "$REAL/left"')
    subprocess.run(["sh", tmp_path / "script"], check=True)
