"""Reads answer with the daemon down, for people and for scripts, also where nothing is found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from observer.cli.session import open_memory
from observer.clients.config_files.context import shipped
from observer.core.clock import iso_ms
from observer.core.config import Settings
from observer.core.errors import NotFound
from observer.core.paths import Home
from observer.notes.folders.folders import NoteFolder
from observer.notes.folders.note_files import NoteVersions
from observer.tools import hook_output
from tests.cli.conftest import Fill, Run
from tests.importers.played import fixed_bug
from tests.support import put_file


def test_search_sessions_and_projects_are_for_people_and_scripts(run: Run, filled: Home) -> None:
    hit = run("search", "login", "--json").json["observations"][0]
    scope, notice, first = run("search", "login").out.splitlines()[:3]
    assert scope == "in app (--all: in all projects)"
    assert (
        notice == "(100% of the items are found by words alone until the daemon has embedded them)"
    )
    assert first.startswith(f"#{hit['id']} turn")

    hit = run("search", "bench", "--type", "command", "--json").json["observations"][0]
    moments = run("timeline", str(hit["id"]), "--before", "1", "--json").json["timeline"]
    assert min(moment["position"] for moment in moments) == -1
    assert [m["id"] for m in moments if m["position"] == 0] == [hit["id"]]
    assert run("search", "--notes", "bench", "--json").json["observations"] == []
    assert [row["session"] for row in run("sessions", "--json").json] == ["s1"]
    assert run("sessions").out.startswith("in app (--all: in all projects)\n")
    assert "app" in [row["name"] for row in run("status", "--projects", "--json").json]
    line = next(each for each in run("status").out.splitlines() if "last stored" in each)
    assert re.fullmatch(r"last stored +\d{4}-\d\d-\d\d \d\d:\d\d \(.+ ago\)", line)
    records = [json.loads(line)["record"] for line in run("export", "--json").out.splitlines()]
    assert records.count("event") == 3
    assert records == sorted(records, key=("project", "event", "log-end", "item").index)
    assert {"project", "log-end", "item"} <= set(records)


def test_show_takes_any_handle_and_names_what_there_is_not(run: Run, filled: Home) -> None:
    hit = run("search", "login", "--json").json["observations"][0]
    lines = map(json.loads, run("export").out.splitlines())
    record = next(one for one in lines if (one["record"], one.get("id")) == ("item", hit["id"]))
    for handle in (str(hit["id"]), record["uuid"], record["uuid"][:18]):
        assert run("show", handle, "--json").json["observations"][0]["id"] == hit["id"]
    shown = run("show", "nosuch", str(hit["id"]), "999999", "--json")
    assert shown.code == NotFound.exit_code
    assert [each["id"] for each in shown.json["observations"]] == [hit["id"]]
    assert (
        json.loads(shown.err)["error"]["message"] == "no item or session 'nosuch'; no item '999999'"
    )
    nothing = run("show", "nosuch")
    assert (nothing.out, nothing.err.splitlines()[0]) == ("", "error: no item or session 'nosuch'")


def test_context_is_what_the_hook_prints(run: Run, filled: Home, home: Home) -> None:
    with open_memory() as memory:
        hook_output.write(memory, memory.project("app"), home, Settings())
    hook = [str(shipped() / "context"), "codex"]
    printed = subprocess.run(["sh", *hook], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "make the login page faster" in printed
    assert run("context", "--client", "codex").out == printed
    assert run("context", "--project", "app", "--json").json["context"] == printed


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


def test_a_listing_into_a_pipe_is_aligned(run: Run, filled: Home) -> None:
    for words, column in ((("sessions",), "request"), (("status", "--projects"), "uuid")):
        lines = run(*words).out.splitlines()
        header, row = (next(line for line in lines if word in line) for word in (column, "app  "))
        at = header.index(column)
        assert (row[at - 2 : at], row[at].isspace()) == ("  ", False)


def test_reads_say_that_events_wait(run: Run, filled: Home) -> None:
    run("post", "custom", "name=deploy")
    assert "1 event waits to be stored" in run("search", "bench").err


def test_a_deleted_folder_asks_too(run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = filled.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    asked = ("context", "search cart", "search --notes cart", "post command command=make")
    for line in (*asked, "install bash --dry-run"):
        assert run(*line.split()).code == 0, line
    for line in ("why cart.py", "import git"):
        assert run(*line.split()).code == 3, line


def test_a_search_without_words_lists_the_newest_or_failed(run: Run, fill: Fill, app: Path) -> None:
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


DAY_MS = 86_400_000


@pytest.fixture
def earlier(fill: Fill, tmp_path: Path) -> None:
    """A session of three days ago, in another project."""
    folder = tmp_path / "shop"
    put_file(folder / "pyproject.toml")
    at = time.time_ns() // 1_000_000 - 3 * DAY_MS
    here = {"cwd": str(folder), "session": "s0", "client": "testbed", "at": at}
    fill([{"kind": "prompt", "text": "count the parcels", **here}])


@pytest.mark.usefixtures("earlier", "filled")
def test_what_happened_is_shown_by_project(run: Run) -> None:
    for line, expected in (
        ("today", ["app"]),
        ("today --days 7 --all", ["app", "shop"]),
        ("today --days 7", ["app"]),
        ("today --days 7 --project shop", ["shop"]),
        ("today --project .", ["app"]),
    ):
        shown = run(*line.split(), "--json").json
        assert [share["project"] for share in shown["projects"]] == expected, line


def test_what_passed_in_a_later_session_is_no_next_step(run: Run, fill: Fill, app: Path) -> None:
    red = "FAILED test_a.py::test_total - assert 0 == 5\n1 failed, 3 passed in 0.10s"
    for session, code, output in (("s1", 1, red), ("s2", 0, "4 passed in 0.10s")):
        here = {"cwd": str(app), "session": session, "client": "testbed"}
        command = {"kind": "command", "command": "pytest -q", "exit_code": code, "output": output}
        fill([{"kind": "prompt", "text": f"total, {session}", **here}, {**command, **here}])
        assert ("next_steps: pytest -q failed" in run("today").out) is (code == 1)


def test_a_day_and_a_session_are_shown_to_people(run: Run, filled: Home) -> None:
    scope, _, _, title, files, session = run("today").out.splitlines()[:6]
    assert scope == "in app (--all: in all projects)"
    assert title == "app · sessions: 1, changed files: 1, failures: 1"
    assert files == "  changed login.py"
    assert session.startswith("  s")
    assert "testbed · make the login page faster · " in session

    *_, row = run("sessions").out.splitlines()
    assert row.startswith("s")
    assert run("show", row.split()[0]).out == run("show").out != ""

    about, when, *_, rest, first, _ = run("show", "--limit", "1").out.splitlines()
    assert "testbed s1 · app" in about
    assert when.endswith("prompts: 1, events: 3")
    assert rest == "(2 earlier left out)"
    assert " file-write · " in first

    for handle in ((), ("s1",)):
        (shown,) = run("show", *handle, "--json").json["sessions"]
        assert shown["session"] == "s1"
        assert [item["type"] for item in shown["items"]] == ["turn", "command", "file-write"]


def test_an_empty_day_and_a_missing_session_say_so(run: Run, earlier: None, app: Path) -> None:
    assert run("today").out.splitlines()[1].startswith("nothing is recorded since ")
    for words in (("nosuch",), ()):
        ran = run("show", *words, "--json")
        assert ran.code == NotFound.exit_code
        assert "observer sessions" in json.loads(ran.err)["error"]["hint"]


EMPTY = [
    ("search zebra", "nothing found: try other words, or ask in all"),
    ("search --file a.py", "nothing found: leave out an option, or ask"),
    ("search --explain zebra", "nothing found: try other words"),
    ("search --all --failed zebra", "words, or leave out an option\n"),
    ("sessions", "no session yet: one begins with the next prompt of"),
    ("sessions --active", "no session goes on: leave out --active"),
    ("today", "look back with: --days 7, or ask in all projects"),
    ("note", "no notes yet: keep one with: observer remember TEXT"),
    ("note --tag x", "no notes like that: leave out an option, or"),
    ("note --waiting --all", "no notes like that: leave out an option\n"),
    ("note deleted", "comes back with: observer undo ID"),
    ("note folder", "add one with: observer note folder add PATH"),
    ("show", "one begins with the next prompt of"),
    ("context", "none has worked here; what is known: observer search"),
    ("context --explain", "none has worked here; what is known"),
    ("import --dry-run", "name where: observer import SOURCE PATH"),
    ("import --yes", "name where: observer import SOURCE PATH"),
    ("purge --text zebra --yes", "stored of it; look what is: observer search --all"),
    ("status --space", "observer config set retention_days DAYS"),
    ("log --daemon", "observer config set log_level debug"),
    ("note draft zebra", "use other words"),
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


@pytest.mark.parametrize(("line", "said"), EMPTY, ids=[line for line, _ in EMPTY])
def test_what_is_empty_says_next(run: Run, bare: Home, home: Home, line: str, said: str) -> None:
    home.logs.mkdir(exist_ok=True)
    (home.logs / "daemon.log").touch()
    ran = run(*line.split())
    assert said in " ".join(f"{ran.out}{ran.err}".split(" "))
    assert ran.code == (3 if line in {"show", "note draft zebra"} else 0)
    if line in {"sessions", "note", "note deleted"}:
        assert json.loads(run(*line.split(), "--json").out) == []


def test_words_that_an_option_leaves_out_are_not_called_unknown(run: Run, filled: Home) -> None:
    word = run("search", "--json").json["observations"][0]["title"].split()[-1]
    said = run("search", word, "--branch", "no-such-branch").out
    assert "\nthe options leave out what holds these words: leave one out, or ask" in said
    assert "nothing holds" not in said


DURATIONS = {"uptime_ms", "duration_ms"}


def named(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each field of JSON with its value."""
    for each in value if isinstance(value, list) else []:
        yield from named(each)
    for name, each in value.items() if isinstance(value, dict) else []:
        yield name, each
        yield from named(each)


def test_a_change_of_a_note_folder_has_its_time_too(run: Run, filled: Home, home: Home) -> None:
    folder = NoteFolder(name="vault", path=str(home.root))
    NoteVersions(home, lambda: 0).keep(folder, "A.md", "replaced", data=b"x")
    shown = run("note", "folder", "history", "--json").json
    assert [each["created_at"] for each in shown] == ["1970-01-01T00:00:00.000Z"]
    assert "at_ms" not in shown[0]


def test_a_time_is_iso_8601_as_in_tools(run: Run, filled: Home, fill: Fill, app: Path) -> None:
    fixed_bug(app, "old").write(Path(os.environ["HOME"]) / ".claude/projects/-app")
    fill([{"kind": "command", "command": "make", "client": "codex", "cwd": str(app)}])
    times = {"status": "last_stored_at", "status --space": "newest_at", "sessions": "last_at"}
    times |= {"install --list": "last_at", "import claude-code --dry-run": "first_at"}
    times |= {"search": "created_at", "today": "since", "pause": "started_at"}
    for line, wanted in times.items():
        fields = list(named(run(*line.split(), "--json").json))
        assert [n for n, _ in fields if n.endswith("_ms") and n not in DURATIONS] == [], line
        assert [value for name, value in fields if name == wanted and iso_ms(str(value))], line


LINE = "2026-11-28T23:30:01.250Z INFO observer.serve.daemon: up"


@pytest.fixture
def logged(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    put_file(home.logs / "daemon.log", f"{LINE}\n  a line of a traceback\n")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("logged")
def test_times_are_those_of_the_reader_or_in_utc(run: Run) -> None:
    shown = run("log", "--daemon").out.splitlines()
    assert shown == [
        "2026-11-29 08:30:01 INFO observer.serve.daemon: up",
        "  a line of a traceback",
    ]

    assert run("log", "--daemon", "--utc").out.splitlines()[0] == LINE
    assert LINE in run("log", "--daemon", "--json").out


def test_a_team_search_without_a_server_is_of_this_home_alone(run: Run, filled: Home) -> None:
    ran = run("search", "cart", "--scope", "team")
    assert (ran.code, "searched here alone: no share is on a server" in ran.out) == (0, True)
    assert "--scope team finds all kinds" in run("search", "cart", "--scope", "team", "--notes").err
