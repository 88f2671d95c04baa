"""`observer status --space`: what takes the space, and what would go."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.core import config
from observer.core.paths import Home
from observer.store.database import SqliteStore

Run = Callable[..., Any]
Fill = Callable[..., None]
OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def spacious(filled: Home, fill: Fill, home: Home) -> Home:
    text = random.Random(1).randbytes(4000).hex()  # which takes half of it, packed
    fill([{"kind": "command", "command": f"make {text}", "at": OLD, "client": "testbed"}])
    (home.backups).mkdir(exist_ok=True)
    (home.backups / "a.db").write_bytes(b"x" * 5000)
    return home


def test_every_part_is_shown_and_they_sum_up(run: Run, spacious: Home) -> None:
    found = run("status", "--space", "--json").json
    size = sum(path.stat().st_size for path in spacious.root.rglob("*") if path.is_file())
    assert found["total"] == sum(found["files"].values())
    assert abs(found["total"] - size) < 100_000  # files of this very look
    assert found["files"]["backups"] == 5000
    assert sum(found["database"].values()) == pytest.approx(found["files"]["database"], rel=0.1)
    assert found["database"]["events"] > 4000
    assert {"words", "items", "vectors", "free pages"} <= found["database"].keys()


def test_events_are_counted_by_project_and_type(run: Run, spacious: Home) -> None:
    found = run("status", "--space", "--json").json
    assert {name: part["events"] for name, part in found["types"].items()} == {
        "command": 2, "prompt": 1, "file-write": 1
    }  # fmt: skip
    assert next(iter(found["types"])) == "command"  # the largest first
    assert found["projects"]["app"]["events"] == 3
    assert found["events"]["events"] == 4
    assert found["events"]["oldest_at"] == found["projects"]["unassigned"]["newest_at"]


def test_what_retention_takes_out_next_is_shown(
    run: Run, spacious: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("status", "--space", "--json").json["expired"]["events"] == 0
    monkeypatch.setenv("OBSERVER_RETENTION_BY_TYPE", "prompt=1,command=90")
    monkeypatch.setenv("OBSERVER_MAX_HOME_MB", "500")
    assert run("status", "--space", "--json").json["expired"]["events"] == 0, "nobody has agreed"
    config.confirm(spacious, "retention_by_type", ["prompt=1", "command=90"])
    config.confirm(spacious, "max_home_mb", 500)
    ran = run("status", "--space")
    assert "retention takes out next: 1 event of 4." in ran.out
    assert "total of 500.0 MiB" in ran.out
    assert "2020-01-01" in ran.out
    assert run("status", "--space", "--json").json["expired"]["events"] == 1


@pytest.mark.parametrize("given", ["commit=3", "command", "command=-1", "command=100000"])
def test_a_retention_of_no_type_or_time_is_refused(run: Run, home: Home, given: str) -> None:
    ran = run("config", "set", "retention_by_type", given)
    assert ran.code == 2
    assert "retention_by_type" in ran.err
    assert run("config", "set", "retention_by_type", "command=90", "prompt=0").code == 0
    assert run("config", "get", "retention_by_type").out == "command=90 prompt=0\n"


def test_a_limit_shows_what_goes_and_changes_nothing_before_somebody_agrees(
    run: Run, spacious: Home
) -> None:
    ran = run("config", "set", "retention_days", "30")
    assert ran.out.startswith("1 event would go for good:\n")
    assert re.match(r"command +1 +4\.\d KiB +2020-01-01", ran.out.splitlines()[2])
    assert (ran.code, ran.err.splitlines()[1]) == (2, "hint: if that may go, add --yes")
    assert not spacious.config.exists()
    assert run("config", "set", "retention_days", "30", "--yes").code == 0
    assert config.load(spacious).retention_days == 30


def test_a_size_that_is_exceeded_shows_copies_and_events(run: Run, spacious: Home) -> None:
    os.truncate(spacious.backups / "a.db", 3 << 20)
    os.utime(spacious.backups / "a.db", (1, 1))
    (spacious.backups / "b.db").touch()
    ran = run("config", "set", "max_home_mb", "1")
    assert "and 1 file: a.db" in ran.out
    assert ran.code == 2
    assert run("config", "set", "max_home_mb", "1", "--json").out == ""


def test_a_limit_by_which_nothing_goes_needs_no_answer(run: Run, spacious: Home) -> None:
    assert run("config", "set", "retention_days", "36500").out.endswith("in force from now on\n")
    assert config.load(spacious).retention_days == 36_500


def test_a_limit_that_is_written_by_hand_waits_and_the_status_names_the_command(
    run: Run, spacious: Home
) -> None:
    spacious.config.write_text('retention_days = 30\nretention_by_type = ["command=9"]\n')
    shown = run("status").out
    assert "deletes nothing until you agree: observer config set retention_days 30\n" in shown
    assert "observer config set retention_by_type command=9\n" in shown
    assert run("config", "get", "retention_days").out == "30\n"
    first = run("config", "set", "retention_days", "30", "--yes").out
    assert first.endswith(
        "in force once you agree: observer config set retention_by_type command=9\n"
    )
    assert run("config", "set", "retention_by_type", "command=9", "--yes").code == 0
    assert run("status", "--json").json["unconfirmed"] == []


def test_what_is_kept_for_ever_again_waits_for_nobody(run: Run, spacious: Home) -> None:
    run("config", "set", "retention_days", "30", "--yes")
    spacious.config.write_text("retention_days = 0\n")
    assert run("status", "--json").json["unconfirmed"] == []


def test_an_agent_sets_no_limit(run: Run, spacious: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ran = run("config", "set", "retention_days", "30", "--yes")
    assert "an agent sets no limit" in ran.err
    assert not spacious.config.exists()


def test_a_policy_waits_and_the_status_names_the_command(run: Run, spacious: Home) -> None:
    with closing(SqliteStore(spacious.database, read_only=True)) as store, store.read() as reader:
        (root,) = next(one.roots for one in reader.projects() if one.roots)
    Path(root, ".observer.toml").write_text("retention_days = 90\n")
    asked = f"retention_by_folder {root}=90"
    assert run("status", "--json").json["unconfirmed"] == [asked]
    assert run("config", "set", *asked.split(), "--yes").code == 0
    assert run("status", "--json").json["unconfirmed"] == []
    assert config.load(spacious).retention_by_folder == (f"{root}=90",)
