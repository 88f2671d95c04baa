"""`observer purge` as a person types it, and as an agent may not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]


def test_a_dry_run_shows_what_goes_and_changes_nothing(run: Run, filled: Home, home: Home) -> None:
    before = home.database.read_bytes()
    ran = run("purge", "--text", "login", "--dry-run")
    assert "2 events: 1 prompt, 1 file-write" in ran.out
    assert "make the login page faster" in ran.out
    assert "observer.db" in ran.out
    assert home.database.read_bytes() == before
    assert not home.tombstones.exists()


def test_each_match_says_why_it_goes(run: Run, filled: Home) -> None:
    ran = run("purge", "--text", "login", "--dry-run")
    assert "why: holds it in text (1), holds it in path (1)\n" in ran.out
    assert "make the login page faster (holds it in text)" in ran.out


def test_a_script_must_say_yes(run: Run, filled: Home) -> None:
    ran = run("purge", "--text", "login", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "--yes" in ran.err


def test_a_no_says_that_nothing_was_purged(run: Run, filled: Home) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"n\n")
    command = [sys.executable, "-P", "-m", "observer", "purge", "--text", "login"]
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, stdin=theirs, capture_output=True, check=False, env=environ)
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (130, b"nothing was purged\n")
    assert "faster" in run("search", "login").out


def test_a_text_may_come_on_stdin_so_that_no_history_has_it(run: Run, filled: Home) -> None:
    ran = run("purge", "--text", "-", "--yes", stdin="login\n")
    assert "purged 2 events" in ran.out
    assert "faster" not in run("search", "login").out


def test_what_is_not_there_is_not_purged(run: Run, filled: Home) -> None:
    assert (
        run("purge", "--text", "zebra", "--yes").out
        == "nothing is stored of it; look what is: observer search --all\n"
    )


def test_an_agent_purges_nothing(run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ran = run("purge", "--text", "login", "--yes", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "captured-user-only" in ran.err


def test_a_project_goes_as_a_whole(run: Run, filled: Home) -> None:
    assert run("purge", "-p", "app", "--yes", "--json").json["events"] == 3
    assert run("status", "--projects", "--json").json == []
