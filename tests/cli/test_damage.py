"""What remains of a memory in which somebody, or a disk, has changed bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import apsw
import pytest

from observer.core.paths import Home
from observer.store.pages import VFS

Run = Callable[..., Any]

DAMAGES = ["'{'", "'{}'", "x'ff'", "CAST(x'7bff' AS TEXT)", "substr(data, 2)"]


def change(home: Home, statement: str) -> None:
    database = apsw.Connection(str(home.database), vfs=VFS)
    database.create_scalar_function("title_key", str, 1, deterministic=True)  # of an index
    database.execute(statement)
    database.close()


broken = pytest.mark.usefixtures("damaged")


@pytest.fixture(params=DAMAGES)
def damaged(request: pytest.FixtureRequest, filled: Home, home: Home) -> None:
    change(home, f"UPDATE event SET data = {request.param} WHERE seq = 2")


@broken
def test_a_damaged_event_leaves_the_rest_readable(run: Run) -> None:
    for words in (("search", "login"), ("context",), ("timeline", "4"), ("status",)):
        assert run(*words).code == 0, words


@broken
def test_a_rebuild_keeps_the_rest_and_says_what_it_left_out(run: Run) -> None:
    rebuilt = run("doctor", "--rebuild")
    assert (rebuilt.code, rebuilt.out) == (0, "rebuilt from 2 events\n")
    assert "1 event left out, damaged" in rebuilt.err
    assert "login.py" in run("search", "login").out


@broken
def test_an_export_has_the_rest_and_says_what_it_left_out(run: Run) -> None:
    exported = run("export", "--json")
    records = [json.loads(line) for line in exported.out.splitlines()]
    assert [one["seq"] for one in records if one["record"] == "event"] == [1, 3]
    assert "1 event left out, damaged" in exported.err


@broken
def test_doctor_names_the_damaged_event(run: Run) -> None:
    checks = json.loads(run("doctor", "--json").out)["checks"]
    database = next(check for check in checks if check["name"] == "database")
    assert not database["is_well"]
    assert database["found"].startswith("what is stored of event 2 is damaged: ")
    assert "copy of the database" in database["hint"]


def test_doctor_counts_damaged_events(run: Run, filled: Home, home: Home) -> None:
    change(home, "UPDATE event SET data = ''")
    assert ", and 2 more" in run("doctor").out


@pytest.mark.measured
@pytest.mark.parametrize("column", ["facts", "files_modified", "summary", "links"])
def test_a_damaged_item_is_shown_and_made_anew(
    run: Run, filled: Home, home: Home, column: str
) -> None:
    change(home, f"UPDATE item SET {column} = '{{'")
    refused = run("search", "login")
    assert (refused.code, "is damaged" in refused.err) == (5, True)
    assert "observer doctor --rebuild" in refused.err
    assert run("doctor", "--rebuild").code == 0
    assert run("search", "login").code == 0
