"""What a person at a terminal removes, takes care of, and sees of the space that it takes."""

from __future__ import annotations

import json
import lzma
import os
import pty
import random
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from observer.core import config
from observer.core.errors import Undecodable
from observer.core.paths import Home
from observer.ingest.decode import decode
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from tests.cli.conftest import Fill, Run, answered
from tests.support import put_file


def test_a_dry_run_shows_what_goes_and_why(run: Run, filled: Home, home: Home) -> None:
    before = home.database.read_bytes()
    ran = run("purge", "--text", "login", "--dry-run")
    assert "2 events: 1 prompt, 1 file-write" in ran.out
    assert "observer.db" in ran.out
    assert home.database.read_bytes() == before
    assert not home.tombstones.exists()
    assert "why: holds it in text (1), holds it in path (1)\n" in ran.out
    assert "make the login page faster (holds it in text)" in ran.out
    ran = run("purge", "--text", "login", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "--yes" in ran.err
    done = answered(b"n\n", "purge", "--text", "login")
    assert (done.returncode, done.stderr) == (130, "nothing was purged\n")
    assert "faster" in run("search", "login").out
    ran = run("purge", "--text", "-", "--yes", stdin="login\n")
    assert "purged 2 events" in ran.out
    assert "faster" not in run("search", "login").out


def test_an_agent_purges_nothing(run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ran = run("purge", "--text", "login", "--yes", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "captured-user-only" in ran.err


def test_a_project_goes_as_a_whole(run: Run, filled: Home) -> None:
    assert run("purge", "-p", "app", "--yes", "--json").json["events"] == 3
    assert run("status", "--projects", "--json").json == []


def test_a_rebuild_shows_a_person_its_progress_and_a_script_nothing(filled: Home, run: Run) -> None:
    ours, theirs = pty.openpty()
    printed = subprocess.run(
        [sys.executable, "-m", "observer", "doctor", "--rebuild"],
        check=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
    )
    seen = os.read(ours, 100_000)
    os.close(ours)
    os.close(theirs)
    assert printed.stdout == b"rebuilt from 3 events\n"
    assert b"rebuilding" in seen
    assert b"3/3" in seen
    ran = run("doctor", "--rebuild")
    assert (ran.out, ran.err) == ("rebuilt from 3 events\n", "")


def test_what_was_not_understood_is_read_again(run: Run, home: Home) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    spool.append({"client": "testbed", "event": "none"})
    (entry,) = spool.claim(at_most=5)
    spool.quarantine(entry, reason="no such client", kept=entry.data)
    fixed = run("doctor", "--quick", "--fix", "--json").json["fixed"]
    assert "put 1 event back into the queue, to be read again" in fixed
    assert (spool.depth(), spool.bad()) == (1, 0)


@pytest.mark.measured
def test_events_of_an_unknown_client_are_kept_and_named(run: Run, home: Home) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    for client in ("gloop", "gloop"):
        spool.append({"client": client, "event": "none"})
    for entry in spool.claim(at_most=5):
        with pytest.raises(Undecodable) as raised:
            decode(entry.id, entry.data, entry.at_ms, cap_bytes=1000)
        spool.quarantine(entry, reason=str(raised.value), kept=entry.data)
    assert "kept unread  2 events of gloop, which observer does not know yet" in run("status").out
    assert json.loads(run("status", "--json").out)["unknown_clients"] == {"gloop": 2}
    (line,) = [row for row in run("doctor").out.splitlines() if row.split()[1:2] == ["spool"]]
    assert "gloop" in line
    assert "delete" not in run("doctor").out.partition(line)[2].partition("\n")[0]


def test_a_rebuild_loses_nothing_that_an_older_observer_stored(run: Run, home: Home) -> None:
    packed = Path(__file__).parents[1] / "data/homes/v08-c73f2e50.db.xz"
    put_file(home.database, lzma.decompress(packed.read_bytes()))
    assert "stored       5 events" in run("status").out
    ran = run("doctor", "--rebuild")
    assert (ran.code, ran.out) == (0, "rebuilt from 5 events\n")
    assert "rounded once" in run("search", "rounded").out


OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def spacious(filled: Home, fill: Fill, home: Home) -> Home:
    text = random.Random(1).randbytes(4000).hex()  # which takes half of it, packed
    fill([{"kind": "command", "command": f"make {text}", "at": OLD, "client": "testbed"}])
    put_file(home.backups / "a.db", b"x" * 5000)
    return home


def test_every_part_and_events_by_project_and_type_are_shown(run: Run, spacious: Home) -> None:
    found = run("status", "--space", "--json").json
    size = sum(path.stat().st_size for path in spacious.root.rglob("*") if path.is_file())
    assert found["total"] == sum(found["files"].values())
    assert abs(found["total"] - size) < 100_000  # files of this very look
    assert found["files"]["backups"] == 5000
    assert sum(found["database"].values()) == pytest.approx(found["files"]["database"], rel=0.1)
    assert found["database"]["events"] > 4000
    assert {"words", "items", "vectors", "free pages"} <= found["database"].keys()
    assert {name: part["events"] for name, part in found["types"].items()} == {
        "command": 2, "prompt": 1, "file-write": 1
    }  # fmt: skip
    assert next(iter(found["types"])) == "command"  # the largest first
    assert found["projects"]["app"]["events"] == 3
    assert found["events"]["events"] == 4
    assert found["events"]["oldest_at"] == found["projects"]["unassigned"]["newest_at"]


def test_retention_is_foreseen(run: Run, spacious: Home, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_size_that_is_exceeded_shows_copies_and_events(run: Run, spacious: Home) -> None:
    os.truncate(spacious.backups / "a.db", 3 << 20)
    os.utime(spacious.backups / "a.db", (1, 1))
    (spacious.backups / "b.db").touch()
    ran = run("config", "set", "max_home_mb", "1")
    assert "and 1 file: a.db" in ran.out
    assert ran.code == 2
    assert run("config", "set", "max_home_mb", "1", "--json").out == ""


def test_a_limit_shows_what_goes_and_waits_for_consent(run: Run, spacious: Home) -> None:
    assert run("config", "set", "retention_days", "36500").out.endswith("in force from now on\n")
    assert config.load(spacious).retention_days == 36_500

    ran = run("config", "set", "retention_days", "30")
    assert ran.out.startswith("1 event would go for good:\n")
    assert re.match(r"command +1 +4\.\d KiB +2020-01-01", ran.out.splitlines()[2])
    assert (ran.code, ran.err.splitlines()[1]) == (2, "hint: if that may go, add --yes")
    assert config.load(spacious).retention_days == 36_500
    assert run("config", "set", "retention_days", "30", "--yes").code == 0
    assert config.load(spacious).retention_days == 30

    spacious.config.write_text("retention_days = 0\n")
    assert run("status", "--json").json["unconfirmed"] == []


def test_a_limit_written_by_hand_waits_and_status_says_how(run: Run, spacious: Home) -> None:
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


def test_an_agent_sets_no_limit(run: Run, spacious: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    ran = run("config", "set", "retention_days", "30", "--yes")
    assert "an agent sets no limit" in ran.err
    assert "gives no memories away" in run("config", "set", "mem0_scope", "team").err
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
