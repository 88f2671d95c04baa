"""Reads answer with the daemon down, for people and for scripts."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from observer.cli.session import open_memory
from observer.clients.config_files.context import shipped
from observer.core.config import Settings
from observer.core.errors import NotFound
from observer.core.paths import Home
from observer.tools import hook_output

Run = Callable[..., Any]
Fill = Callable[..., None]


def test_search_finds_what_was_stored(run: Run, filled: Home) -> None:
    found = run("search", "login", "--json").json
    assert [hit["type"] for hit in found["observations"]] == ["turn"]


def test_search_for_people_begins_with_the_id(run: Run, filled: Home) -> None:
    hit = run("search", "login", "--json").json["observations"][0]
    scope, notice, first = run("search", "login").out.splitlines()[:3]
    assert scope == "in app (--all: in all projects)"
    assert (
        notice == "(100% of the items are found by words alone until the daemon has embedded them)"
    )
    assert first.startswith(f"#{hit['id']} turn")


def test_show_takes_any_handle(run: Run, filled: Home) -> None:
    hit = run("search", "login", "--json").json["observations"][0]
    record = next(
        line
        for line in map(json.loads, run("export").out.splitlines())
        if line["record"] == "item" and line["id"] == hit["id"]
    )
    for handle in (str(hit["id"]), record["uuid"], record["uuid"][:18]):
        assert run("show", handle, "--json").json["observations"][0]["id"] == hit["id"]


def test_show_shows_what_there_is_and_names_what_there_is_not(run: Run, filled: Home) -> None:
    hit = run("search", "login", "--json").json["observations"][0]
    shown = run("show", "nosuch", str(hit["id"]), "999999", "--json")
    assert shown.code == NotFound.exit_code
    assert [each["id"] for each in shown.json["observations"]] == [hit["id"]]
    assert (
        json.loads(shown.err)["error"]["message"] == "no item or session 'nosuch'; no item '999999'"
    )
    nothing = run("show", "nosuch")
    assert (nothing.out, nothing.err.splitlines()[0]) == ("", "error: no item or session 'nosuch'")


def test_timeline_is_relative_to_its_anchor(run: Run, filled: Home) -> None:
    hit = run("search", "bench", "--type", "command", "--json").json["observations"][0]
    moments = run("timeline", str(hit["id"]), "--before", "1", "--json").json["timeline"]
    assert min(moment["position"] for moment in moments) == -1
    assert [m["id"] for m in moments if m["position"] == 0] == [hit["id"]]


def test_context_is_what_the_hook_prints(run: Run, filled: Home, home: Home) -> None:
    with open_memory() as memory:
        hook_output.write(memory, memory.project("app"), home, Settings())
    hook = [str(shipped() / "context"), "codex"]
    printed = subprocess.run(["sh", *hook], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "make the login page faster" in printed
    assert run("context", "--client", "codex").out == printed
    assert run("context", "--project", "app", "--json").json["context"] == printed


def test_recall_finds_notes_only(run: Run, filled: Home) -> None:
    assert run("search", "--notes", "bench", "--json").json["observations"] == []


def test_sessions_and_projects_are_listed(run: Run, filled: Home) -> None:
    assert [row["session"] for row in run("sessions", "--json").json] == ["s1"]
    assert run("sessions").out.startswith("in app (--all: in all projects)\n")
    assert "app" in [row["name"] for row in run("status", "--projects", "--json").json]


def test_a_listed_time_is_local_or_says_that_it_is_not(
    run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC-3")
    time.tzset()
    at = datetime.fromisoformat(run("sessions", "--json").json[0]["last_at"])
    assert f"  {at.astimezone():%Y-%m-%d %H:%M}  " in run("sessions").out
    assert f"  {at:%Y-%m-%d %H:%M}Z  " in run("sessions", "--utc").out
    monkeypatch.undo()
    time.tzset()


def test_the_status_says_when_something_was_stored(run: Run, filled: Home) -> None:
    line = next(each for each in run("status").out.splitlines() if "last stored" in each)
    assert re.fullmatch(r"last stored +\d{4}-\d\d-\d\d \d\d:\d\d \(.+ ago\)", line)


@pytest.mark.parametrize(
    ("words", "column"),
    [(("sessions",), "request"), (("status", "--projects"), "uuid")],
    ids=["sessions", "projects"],
)
def test_a_listing_into_a_pipe_is_aligned(
    run: Run, filled: Home, words: tuple[str, ...], column: str
) -> None:
    lines = run(*words).out.splitlines()
    header, row = (next(line for line in lines if word in line) for word in (column, "app  "))
    at = header.index(column)
    assert (row[at - 2 : at], row[at].isspace()) == ("  ", False)


def test_export_prints_projects_then_the_log_then_items(run: Run, filled: Home) -> None:
    records = [json.loads(line)["record"] for line in run("export", "--json").out.splitlines()]
    assert records.count("event") == 3
    assert records == sorted(records, key=("project", "event", "log-end", "item").index)
    assert {"project", "log-end", "item"} <= set(records)


def test_reads_say_that_events_wait(run: Run, filled: Home) -> None:
    run("post", "custom", "name=deploy")
    assert "1 event waits to be stored" in run("search", "bench").err


def test_what_was_recorded_cannot_steer_the_terminal(run: Run, fill: Fill, app: Path) -> None:
    hostile = "echo \x1b[2Jgone \u202ereversed"
    fill([{"kind": "command", "command": hostile, "exit_code": 1, "cwd": str(app)}])
    said = run("search", "echo", "--type", "command").out
    assert "reversed" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("context",), 0, id="context"),
        pytest.param(("search", "cart"), 0, id="search"),
        pytest.param(("search", "--notes", "cart"), 0, id="notes"),
        pytest.param(("post", "command", "command=make"), 0, id="post"),
        pytest.param(("install", "bash", "--dry-run"), 0, id="install"),
        pytest.param(("why", "cart.py"), 3, id="why"),
        pytest.param(("import", "git"), 3, id="import"),
    ],
)
def test_a_folder_that_was_deleted_meanwhile_is_still_one_to_ask_from(
    run: Run, filled: Home, words: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = filled.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    assert run(*words).code == code


def test_search_without_words_lists_the_newest_and_failed_only_what_failed(
    run: Run, fill: Fill, app: Path
) -> None:
    at = "2026-11-21T10:0{}:00Z"
    commands = (("make", 0), ("make bench", 2), ("make docs", 0))
    fill(
        [
            {
                "kind": "command", "command": command, "exit_code": code, "output": "said",
                "cwd": str(app), "at": at.format(minute), "session": "s",
            }
            for minute, (command, code) in enumerate(commands)
        ]
    )  # fmt: skip

    def titles(*words: str) -> list[str]:
        return [row["title"] for row in run("search", *words, "--json").json["observations"]]

    assert titles("--type", "command")[:2] == ["make docs", "make bench: said"]
    assert titles("--failed") == titles("make", "--failed") == ["make bench: said"]
    assert titles("--failed", "--until", "2026-11-21") == []


def test_a_type_that_no_item_has_brings_the_nearest_one(run: Run, filled: Home) -> None:
    ran = run("search", "bench", "--type", "comand")
    said = "error: nothing is of type 'comand'\nhint: did you mean command?\n"
    assert (ran.code, ran.err) == (3, said)


def test_weak_hits_are_shown_on_demand(run: Run, fill: Fill, app: Path) -> None:
    commands = ("deploy the blue shop", "deploy it", *(f"make {n}" for n in range(20)))
    fill(
        [
            {"kind": "command", "command": command, "exit_code": 1, "cwd": str(app), "session": "s"}
            for command in commands
        ]
    )
    asked = ("search", "deploy the blue shop", "--type", "command")
    said = run(*asked).out
    assert "1 weak hit left out" in said
    assert "deploy it" not in said
    assert "deploy it" in run(*asked, "--weak").out


def test_a_project_is_named_by_its_folder_as_windows_spells_it(run: Run, fill: Fill) -> None:
    fill([{"kind": "command", "command": "make mill", "cwd": "/mnt/c/src/mill", "client": "c"}])
    asked = ("search", "mill", "--type", "command", "--project", r"C:\src\mill")
    assert "make mill" in run(*asked).out
