"""For every home that is broken or has changed bytes: what is named, and what remains."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Callable
from contextlib import closing

import apsw
import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.pages import VFS
from observer.store.rows import event_json
from observer.store.tombstones import Tombstones
from observer.upkeep.home_guard import hold
from tests.cli.conftest import Run
from tests.support import Observer, Until, put_file


def checks(run: Run) -> dict[str, dict[str, str]]:
    found = json.loads(run("doctor", "--json").out)["checks"]
    return {check["name"]: check for check in found if not check["is_well"]}


def filled(home: Home) -> None:
    SqliteStore(home.database, backups=home.backups).close()


def newer_schema(home: Home) -> None:
    with closing(SqliteStore(home.database)) as store:
        assert store._writer
        store._writer.execute("PRAGMA user_version = 99").fetchall()


def damaged(home: Home) -> None:
    filled(home)
    with home.database.open("r+b") as file:
        file.seek(3 * 4096 + 99)
        file.write(b"damage")


def no_database(home: Home) -> None:
    put_file(home.database, b"something else" * 1000)


def unreadable_tombstones(home: Home) -> None:
    Tombstones(home.tombstones).add([("x", "", ())])
    for path in home.root.glob("tombstones*"):
        path.write_bytes(b"damage")


def open_to_others(home: Home) -> None:
    filled(home)
    home.root.chmod(0o777)


def a_folder(home: Home) -> None:
    home.database.mkdir(parents=True)


def file_as(name: str) -> Callable[[Home], None]:
    def make(home: Home) -> None:
        put_file(home.root / name)

    return make


def bad_config(home: Home) -> None:
    put_file(home.config, "http_port = 'x'\n")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(bad_config, "settings", id="settings"),
        pytest.param(newer_schema, "database", id="newer-schema"),
        pytest.param(damaged, "database", id="damaged-page"),
        pytest.param(no_database, "database", id="another-file"),
        pytest.param(a_folder, "database", id="database-is-a-folder"),
        pytest.param(file_as("spool"), "home", id="spool-is-a-file"),
        pytest.param(file_as("log"), "home", id="log-folder-is-a-file"),
        pytest.param(unreadable_tombstones, "purged", id="tombstones"),
        pytest.param(open_to_others, "private", id="open-to-others"),
    ],
)
def test_doctor_says_what_is_wrong_and_what_to_do(
    run: Run, home: Home, make: Callable[[Home], None], name: str
) -> None:
    make(home)
    wrong = checks(run)
    assert name in wrong
    assert wrong[name]["hint"]


def test_a_lock_of_another_and_a_file_in_the_sockets_place_are_shown(run: Run, home: Home) -> None:
    with hold(home) as is_ours:
        assert is_ours
        wrong = checks(run)
    assert "kill" in wrong["daemon"]["hint"] + wrong["degraded"]["found"]

    shutil.rmtree(home.run, ignore_errors=True)
    home.run.touch()
    assert "is not a folder" in checks(run)["home"]["found"]
    home.run.unlink()


def test_a_damaged_backup_is_named(run: Run, home: Home) -> None:
    filled(home)
    with closing(SqliteStore(home.database)) as store:
        store.backup(home.backups / "observer-copy.db")
    assert "backups" not in checks(run)
    with (home.backups / "observer-copy.db").open("r+b") as file:
        file.seek(2 * 4096 + 9)
        file.write(b"damage")
    assert "observer-copy.db" in checks(run)["backups"]["found"]


def test_what_was_lost_is_named(run: Run, home: Home) -> None:
    home.root.mkdir(parents=True)
    lost = {"at_ms": int(time.time() * 1000), "reason": "x", "lost": 3, "from_ms": 60_000}
    home.losses.write_text(json.dumps([lost]))
    assert "3 lost, of after 1970-01-01 00:01 UTC" in checks(run)["losses"]["found"]
    assert "3 lost" in json.loads(run("status", "--json").out)["degraded"]


@pytest.mark.slow
def test_stale_pid_and_socket_files_hinder_no_start(home: Home, observer: Observer) -> None:
    home.root.mkdir(parents=True)
    home.run.mkdir(parents=True, exist_ok=True)
    home.root.chmod(0o700)
    home.lock.write_text("1\n")
    for path in (home.socket, home.mcp_socket):
        with closing(socket.socket(socket.AF_UNIX)) as stale:
            stale.bind(str(path))
    assert observer("up").returncode == 0
    assert json.loads(observer("doctor", "--json").stdout)["is_well"]


@pytest.mark.slow
def test_a_umask_of_nothing_opens_no_file(home: Home, observer: Observer) -> None:
    before = os.umask(0)
    try:
        assert observer("up").returncode == 0
        assert observer("post", "command", "command=ls").returncode == 0
        assert observer("backup").returncode == 0
        assert observer("down").returncode == 0
    finally:
        os.umask(before)
    found = [home.root, *home.root.rglob("*")]
    assert [path for path in found if path.lstat().st_mode & 0o077 and not path.is_symlink()] == []


@pytest.mark.slow
def test_a_home_that_was_moved_goes_on(home: Home, observer: Observer, until: Until) -> None:
    assert observer("post", "command", "command=ls").returncode == 0
    assert observer("up").returncode == 0
    until(lambda: client.call(home, "GET", "/status")["events"] == 1)
    moved = home.root.with_name("moved")
    shutil.move(home.root, moved)
    there = {"OBSERVER_HOME": str(moved)}
    # The daemon of the old place still answers at its socket, until it looks round.
    assert str(moved) in observer("up", **there).stdout
    assert json.loads(observer("doctor", "--json", **there).stdout)["is_well"]
    assert json.loads(observer("status", "--json", **there).stdout)["events"] == 1
    assert observer("down", **there).returncode == 0


@pytest.mark.slow
def test_events_of_a_clock_that_was_a_year_ahead_are_kept(home: Home, run: Run) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    for command in ("make later", "make now"):
        body = {"kind": "command", "command": command, "cwd": "/"}
        spool.append({"client": "generic", "event": "command"}, json.dumps(body).encode())
    ahead = time.time() + 365 * 86_400
    os.utime(next((home.spool / "new").iterdir()), (ahead, ahead))
    run("up")
    assert run("down").code == 0
    assert json.loads(run("status", "--json").out)["events"] == 2


@pytest.mark.slow
def test_who_wakes_the_daemon_reads_what_up_prints(home: Home, observer: Observer) -> None:
    put_file(home.config, "log_level = 7\n")
    up, wake = observer("up"), observer("wake")
    assert up.returncode
    assert (wake.returncode, wake.stdout, wake.stderr) == (up.returncode, "", up.stderr)


DAMAGES = ["'{'", "'{}'", "x'ff'", "CAST(x'7bff' AS TEXT)", "substr(data, 2)"]


def change(home: Home, statement: str) -> None:
    database = apsw.Connection(str(home.database), vfs=VFS)
    database.create_scalar_function("title_key", str, 1, deterministic=True)  # of an index
    database.create_scalar_function("event_json", event_json, deterministic=True)  # of a trigger
    database.execute(statement)
    database.close()


broken = pytest.mark.usefixtures("flipped")


@pytest.fixture(params=DAMAGES)
def flipped(request: pytest.FixtureRequest, filled: Home, home: Home) -> None:
    change(home, f"UPDATE event SET data = {request.param} WHERE seq = 2")


@broken
def test_a_damaged_event_leaves_the_rest_readable_exported_and_named(run: Run) -> None:
    for words in (("search", "login"), ("context",), ("timeline", "4"), ("status",)):
        assert run(*words).code == 0, words
    database = run("doctor", "--json").check("database")
    assert not database["is_well"]
    assert database["found"].startswith("what is stored of event 2 is damaged: ")
    assert "copy of the database" in database["hint"]
    exported = run("export", "--json")
    records = [json.loads(line) for line in exported.out.splitlines()]
    assert [one["seq"] for one in records if one["record"] == "event"] == [1, 3]
    assert "1 event left out, damaged" in exported.err
    rebuilt = run("doctor", "--rebuild")
    assert (rebuilt.code, rebuilt.out) == (0, "rebuilt from 2 events\n")
    assert "1 event left out, damaged" in rebuilt.err
    assert "login.py" in run("search", "login").out


def test_doctor_counts_damaged_events(run: Run, filled: Home, home: Home) -> None:
    change(home, "UPDATE event SET data = ''")
    assert ", and 2 more" in run("doctor").out


@pytest.mark.measured
@pytest.mark.parametrize("column", ["facts", "files_modified", "summary", "links"])
def test_a_damaged_item_is_made_anew(run: Run, filled: Home, home: Home, column: str) -> None:
    change(home, f"UPDATE item SET {column} = '{{'")
    refused = run("search", "login")
    assert (refused.code, "is damaged" in refused.err) == (5, True)
    assert "observer doctor --rebuild" in refused.err
    assert run("doctor", "--rebuild").code == 0
    assert run("search", "login").code == 0
