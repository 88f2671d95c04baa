"""What happened today, in a week or in a session, for people and for scripts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import NotFound
from observer.core.paths import Home

Run = Callable[..., Any]
Fill = Callable[..., None]

DAY_MS = 86_400_000


@pytest.fixture
def earlier(fill: Fill, tmp_path: Path) -> None:
    """A session of three days ago, in another project."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    at = time.time_ns() // 1_000_000 - 3 * DAY_MS
    here = {"cwd": str(folder), "session": "s0", "client": "testbed", "at": at}
    fill([{"kind": "prompt", "text": "count the parcels", **here}])


@pytest.mark.usefixtures("earlier", "filled")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("today",), ["app"], id="today"),
        pytest.param(("today", "--days", "7", "--all"), ["app", "shop"], id="a-week-of-all"),
        pytest.param(("today", "--days", "7"), ["app"], id="a-week-here"),
        pytest.param(("today", "--days", "7", "--project", "shop"), ["shop"], id="of-a-project"),
        pytest.param(("today", "--project", "."), ["app"], id="here"),
    ],
)
def test_what_happened_is_shown_by_project(run: Run, words: tuple[str, ...], expected: Any) -> None:
    shown = run(*words, "--json").json
    assert [share["project"] for share in shown["projects"]] == expected


def test_what_passed_in_a_later_session_is_no_next_step(run: Run, fill: Fill, app: Path) -> None:
    red = "FAILED test_a.py::test_total - assert 0 == 5\n1 failed, 3 passed in 0.10s"
    for session, code, output in (("s1", 1, red), ("s2", 0, "4 passed in 0.10s")):
        here = {"cwd": str(app), "session": session, "client": "testbed"}
        command = {"kind": "command", "command": "pytest -q", "exit_code": code, "output": output}
        fill([{"kind": "prompt", "text": f"total, {session}", **here}, {**command, **here}])
        assert ("next_steps: pytest -q failed" in run("today").out) is (code == 1)


def test_a_session_is_shown_by_the_id_that_the_list_has(run: Run, filled: Home) -> None:
    *_, row = run("sessions").out.splitlines()
    assert row.startswith("s")
    assert run("show", row.split()[0]).out == run("show").out != ""


def test_a_day_says_what_was_asked_changed_and_failed(run: Run, filled: Home) -> None:
    scope, _, _, title, files, session = run("today").out.splitlines()[:6]
    assert scope == "in app (--all: in all projects)"
    assert title == "app · sessions: 1, changed files: 1, failures: 1"
    assert files == "  changed login.py"
    assert session.startswith("  s")
    assert "testbed · make the login page faster · " in session


def test_a_day_without_anything_says_so(run: Run, earlier: None) -> None:
    assert run("today").out.splitlines()[1].startswith("nothing is recorded since ")


@pytest.mark.parametrize("handle", [(), ("s1",)], ids=["the-last-here", "by-name"])
def test_a_session_is_shown_in_order(run: Run, filled: Home, handle: tuple[str, ...]) -> None:
    (shown,) = run("show", *handle, "--json").json["sessions"]
    assert shown["session"] == "s1"
    assert [item["type"] for item in shown["items"]] == ["turn", "command", "file-write"]


def test_a_session_for_people_leaves_the_earliest_out(run: Run, filled: Home) -> None:
    about, when, *_, rest, first, _ = run("show", "--limit", "1").out.splitlines()
    assert "testbed s1 · app" in about
    assert when.endswith("prompts: 1, events: 3")
    assert rest == "(2 earlier left out)"
    assert " file-write · " in first


@pytest.mark.parametrize("words", [("nosuch",), ()], ids=["unknown", "none-here"])
def test_a_session_that_is_not_there_is_named(
    run: Run, earlier: None, app: Path, words: tuple[str, ...]
) -> None:
    ran = run("show", *words, "--json")
    assert ran.code == NotFound.exit_code
    assert "observer sessions" in json.loads(ran.err)["error"]["hint"]
