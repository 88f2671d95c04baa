"""A command that finds nothing says why, and what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]

EMPTY = [
    pytest.param("search zebra", "nothing found: try other words, or ask in all", id="words"),
    pytest.param("search --file a.py", "nothing found: leave out an option, or ask", id="options"),
    pytest.param("search --explain zebra", "nothing found: try other words", id="explained"),
    pytest.param("search --all --failed zebra", "words, or leave out an option\n", id="all"),
    pytest.param(
        "sessions",
        "no session yet: one begins with the next prompt of",
        id="sessions",
    ),
    pytest.param("sessions --active", "no session goes on: leave out --active", id="active"),
    pytest.param("today", "look back with: --days 7, or ask in all projects", id="today"),
    pytest.param("note", "no notes yet: keep one with: observer remember TEXT", id="notes"),
    pytest.param("note --tag x", "no notes like that: leave out an option, or", id="tagged"),
    pytest.param("note --waiting --all", "no notes like that: leave out an option\n", id="waiting"),
    pytest.param("note deleted", "comes back with: observer undo ID", id="deleted"),
    pytest.param("note folder", "add one with: observer note folder add PATH", id="folders"),
    pytest.param("show", "one begins with the next prompt of", id="show"),
    pytest.param("context", "none has worked here; what is known: observer search", id="context"),
    pytest.param(
        "context --explain", "none has worked here; what is known", id="explained context"
    ),
    pytest.param("import --dry-run", "name where: observer import SOURCE PATH", id="dry import"),
    pytest.param("import --yes", "name where: observer import SOURCE PATH", id="import"),
    pytest.param("purge --text zebra --yes", "look what is: observer search --all", id="purge"),
    pytest.param("status --space", "observer config set retention_days DAYS", id="space"),
    pytest.param("log", "observer config set log_level debug", id="log"),
    pytest.param("note draft zebra", "use other words", id="draft"),
]


@pytest.fixture
def bare(tmp_path: Path, fill: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Home:
    """A project without anything, beside one that has a command."""
    for name in ("app", "shop"):
        (tmp_path / name / ".git").mkdir(parents=True)
    old = {"kind": "command", "command": "make", "at": 1_700_000_000_000}
    fill([{**old, "cwd": str(tmp_path / name)} for name in ("app", "shop")])
    monkeypatch.chdir(tmp_path / "app")
    return Home(tmp_path)


@pytest.mark.parametrize(("line", "said"), EMPTY)
def test_an_empty_answer_says_what_next(
    run: Run, bare: Home, home: Home, line: str, said: str
) -> None:
    home.logs.mkdir(exist_ok=True)
    (home.logs / "daemon.log").touch()
    ran = run(*line.split())
    assert said in " ".join(f"{ran.out}{ran.err}".split(" "))
    assert ran.code == (3 if line in {"show", "note draft zebra"} else 0)


def test_words_that_only_an_option_leaves_out_are_not_called_unknown(
    run: Run, filled: Home
) -> None:
    word = run("search", "--json").json["observations"][0]["title"].split()[-1]
    said = run("search", word, "--branch", "no-such-branch").out
    assert "\nthe options leave out what holds these words: leave one out, or ask" in said
    assert "nothing holds" not in said


@pytest.mark.parametrize("line", ["sessions", "note", "note deleted"])
def test_empty_json_is_an_empty_list(run: Run, bare: Home, line: str) -> None:
    assert json.loads(run(*line.split(), "--json").out) == []
