"""The life of real daemon processes: born in races, replaced, stopped, killed, never two."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import apsw
import pytest

from observer import __version__
from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.store.pages import VFS
from observer.tools.status import current
from tests.serve.services import status
from tests.support import Observer, Until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def _answers(home: Home) -> bool:
    try:
        return bool(status(home))
    except DaemonUnavailable:
        return False


def _lives(pid: int | None) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def _spool(home: Home, folder: Path, count: int = 1) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    for number in range(count):
        report = {"kind": "command", "command": f"make part-{number}", "cwd": str(folder)}
        spool.append({"client": "generic", "event": "command"}, json.dumps(report).encode())


def test_up_returns_when_the_daemon_answers_and_down_when_it_is_gone(
    home: Home, observer: Observer
) -> None:
    done = observer("up", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    pid = client.daemon_pid(home)
    assert (shown["pid"], shown["version"]) == (pid, __version__)
    assert (home.hooks / "post").stat().st_mode & 0o100, "hooks are there for plugins"
    second = observer("daemon")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert observer("down").returncode == 0
    assert not _lives(pid)
    assert not home.socket.exists()


RACE = """
import os, sys
from pathlib import Path
from observer.local import client
from observer.core.paths import Home

home = Home(Path(os.environ["OBSERVER_HOME"]))
for number in range(20):
    if not os.fork():
        client.ensure_daemon(home, wait_s=60)
        os.write(1, b"%d\\n" % client.call(home, "GET", "/status")["pid"])
        os._exit(0)
sys.exit(any(os.wait()[1] for _ in range(20)))
"""


def test_twenty_that_start_it_at_once_get_one_daemon(home: Home) -> None:
    """They are copies of one process, so none is late for what it had to import."""
    done = subprocess.run(
        [sys.executable, "-c", RACE],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [int(pid) for pid in done.stdout.split()] == [client.daemon_pid(home)] * 20


def test_it_stores_what_was_spooled_while_it_was_down_and_wakes_for_what_is_later(
    home: Home, tmp_path: Path, until: Until
) -> None:
    _spool(home, tmp_path, 3)
    client.ensure_daemon(home)
    until(lambda: status(home)["events"] == 3)
    until(lambda: status(home)["spool_depth"] == 0)
    _spool(home, tmp_path)
    until(lambda: status(home)["events"] == 4)
    assert "watch" not in (status(home)["degraded"] or ""), "it looked anyway, it was not woken"


def test_what_an_older_version_did_not_understand_is_stored_and_its_hooks_are_replaced(
    home: Home, tmp_path: Path, until: Until
) -> None:
    _spool(home, tmp_path)
    spool = Spool(home.spool)
    (entry,) = spool.claim(at_most=5)
    spool.quarantine(entry, reason="no such client", kept=entry.data)
    (home.spool / "bad" / ".reader").write_text("0.0.1")
    home.hooks.mkdir(parents=True)
    (home.hooks / "post").write_text("#!/bin/sh\n# of an older version\n")
    client.ensure_daemon(home)
    assert "older version" not in (home.hooks / "post").read_text()
    assert (home.hooks / "post").stat().st_mode & 0o100
    until(lambda: status(home)["events"] == 1)
    assert status(home)["bad_events"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_shown_to_leave_it_stores_what_is_there_and_killed_the_next_one_does(
    home: Home, tmp_path: Path, until: Until, number: signal.Signals
) -> None:
    client.ensure_daemon(home)
    _spool(home, tmp_path, 30)
    os.kill(client.daemon_pid(home) or 0, number)
    until(lambda: not client.is_running(home))
    if number == signal.SIGKILL:
        client.ensure_daemon(home)
        until(lambda: status(home)["events"] == 30)
    assert Spool(home.spool).depth() == 0


def test_an_older_daemon_is_replaced(home: Home, tmp_path: Path, until: Until) -> None:
    package = tmp_path / "old" / "observer"
    package.parent.mkdir()
    subprocess.run(["cp", "-r", ROOT / "observer", package], check=True)
    (package / "__init__.py").write_text('__version__ = "0.0.1"\n')
    with subprocess.Popen(
        [sys.executable, "-m", "observer", "daemon"],
        env=os.environ | {"PYTHONPATH": str(package.parent)},
        cwd=tmp_path,
    ) as older:
        try:
            until(lambda: _answers(home))
            assert status(home)["version"] == "0.0.1"
            client.ensure_daemon(home, wait_s=30)
            assert status(home)["version"] == __version__
            assert older.wait(10) == 0
        finally:
            older.kill()


def test_status_of_a_stopped_daemon_says_so_in_time(home: Home, within: Observer) -> None:
    client.ensure_daemon(home)
    pid = client.daemon_pid(home) or 0
    os.kill(pid, signal.SIGSTOP)
    shown = json.loads(within("status", "--json").stdout)
    assert shown["pid"] == pid
    assert "did not answer" in shown["degraded"]


def test_a_daemon_that_had_no_room_for_its_pid_tells_it_itself(
    home: Home, within: Observer
) -> None:
    within("up")
    pid = client.daemon_pid(home)
    os.truncate(home.lock, 0)
    assert current(home).pid == pid
    within("down")  # nobody else could find it


def test_a_home_with_a_very_long_path_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: Observer
) -> None:
    long = Home(tmp_path / ("a" * 120) / ("b" * 120))
    monkeypatch.setenv("OBSERVER_HOME", str(long.root))
    try:
        assert json.loads(within("up", "--json").stdout)["home"] == str(long.root)
        assert (long.root / "run" / "daemon.sock").is_socket()
    finally:
        client.stop(long)
        long.run.rmdir()


def test_two_homes_never_meet_and_are_private(home: Home, tmp_path: Path, until: Until) -> None:
    other = Home(tmp_path / "other")
    _spool(home, tmp_path)
    client.ensure_daemon(home)
    client.ensure_daemon(other)
    try:
        until(lambda: status(home)["events"] == 1)
        assert status(other)["events"] == 0
        assert client.daemon_pid(home) != client.daemon_pid(other)
    finally:
        client.stop(other)
    open_to_others = [path for path in home.root.rglob("*") if path.lstat().st_mode & 0o077]
    theirs = [path for path in open_to_others if not path.is_symlink()]
    assert not [path for path in theirs if not path.is_relative_to(home.hooks)]  # no secret


def test_a_database_of_a_newer_version_is_left_alone_and_shown(home: Home, tmp_path: Path) -> None:

    client.ensure_daemon(home)
    client.stop(home)
    database = apsw.Connection(str(home.database), vfs=VFS)
    database.execute("PRAGMA user_version = 9999").fetchall()
    database.close()
    before = home.database.read_bytes()
    _spool(home, tmp_path)
    client.ensure_daemon(home)
    shown = status(home)
    assert "schema version 9999" in shown["degraded"]
    assert shown["spool_depth"] == 1
    client.stop(home)
    assert home.database.read_bytes() == before


def test_a_port_asks_for_the_token(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("OBSERVER_HTTP_PORT", str(port))
    client.ensure_daemon(home)
    url = f"{status(home)['http']}/status"
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url)
    caught.value.close()
    assert caught.value.code == 401
    token = home.token.read_text().strip()
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as answer:
        assert json.load(answer)["pid"] == client.daemon_pid(home)


@pytest.mark.parametrize("trouble", ["port", "token"])
def test_a_port_that_cannot_be_opened_does_not_keep_the_daemon_down(
    home: Home, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    if trouble == "token":
        home.root.mkdir()
        home.token.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1] if trouble == "port" else 1
        monkeypatch.setenv("OBSERVER_HTTP_PORT", str(number))
        client.ensure_daemon(home)
        shown = status(home)
    assert shown["http"] is None
    said = "in use" if trouble == "port" else f"{home.token} cannot be used: Is a directory"
    assert said in shown["degraded"]


@pytest.mark.parametrize("name", ["lock", "socket", "database"])
def test_a_daemon_whose_home_was_taken_leaves(home: Home, until: Until, name: str) -> None:
    """Two daemons must not serve one home, and nothing may be stored where nobody finds it."""
    client.ensure_daemon(home)
    until(lambda: status(home)["db_bytes"])
    pid = client.daemon_pid(home) or 0
    getattr(home, name).unlink()
    until(lambda: not Path(f"/proc/{pid}").exists())
    assert f"{getattr(home, name)} was removed" in (home.logs / "daemon.log").read_text()


def test_in_quiet_the_database_file_alone_holds_everything(
    home: Home, tmp_path: Path, until: Until
) -> None:
    client.ensure_daemon(home)
    _spool(home, tmp_path, 5)
    until(lambda: status(home)["events"] == 5)

    def copied_events() -> int:
        copy = tmp_path / "copy.db"
        shutil.copy(home.database, copy)
        found = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return int(found.execute("SELECT count(*) FROM event").fetchall()[0][0])
        except (apsw.SQLError, apsw.CorruptError):  # not even its tables; copied amid a checkpoint
            return 0
        finally:
            found.close()

    until(lambda: copied_events() == 5, wait_s=60)  # chores are done every 30 s


def test_a_log_deleted_under_the_daemon_loses_nothing(
    home: Home, tmp_path: Path, until: Until
) -> None:
    client.ensure_daemon(home)
    _spool(home, tmp_path, 3)
    until(lambda: status(home)["events"] == 3)
    home.database.with_name("observer.db-wal").unlink()
    _spool(home, tmp_path, 4)
    until(lambda: status(home)["events"] == 7)
    client.stop(home)
    home.database.with_name("observer.db-wal").unlink(missing_ok=True)
    found = current(home)
    assert (found.events, found.degraded) == (7, None)


def test_events_that_were_lost_with_the_log_are_missed(
    home: Home, tmp_path: Path, until: Until
) -> None:
    """A file of earlier in place of the database; a copy of `observer backup` is no damage."""
    client.ensure_daemon(home)
    _spool(home, tmp_path, 3)
    until(lambda: status(home)["events"] == 3)
    client.stop(home)
    earlier = shutil.copy(home.database, tmp_path / "earlier.db")
    client.ensure_daemon(home)
    _spool(home, tmp_path, 2)
    until(lambda: status(home)["events"] == 5)
    client.stop(home)
    shutil.copy(earlier, home.database)
    client.ensure_daemon(home)
    until(lambda: "3 were whole, 0 came from backups, 2 lost" in str(status(home)["degraded"]))


def test_events_outlive_a_database_that_was_deleted_under_the_daemon(
    home: Home, tmp_path: Path, until: Until
) -> None:
    client.ensure_daemon(home)
    until(lambda: status(home)["db_bytes"])
    home.database.unlink()
    _spool(home, tmp_path, 3)
    until(lambda: not client.is_running(home))
    client.ensure_daemon(home)
    until(lambda: status(home)["events"] == 3)
