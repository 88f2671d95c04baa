"""Who gets through the daemon's doors."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.daemon.servers import (
    MOST_CONNECTIONS,
    ensure_token,
    listen,
    listen_tcp,
    make_run_folder,
)

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

KNOCK = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
door = socket.socket(socket.AF_UNIX)
door.settimeout(10)
door.connect(sys.argv[1])
try:
    print("heard" if door.recv(1) else "hung up")
except ConnectionResetError:
    print("hung up")
"""


@pytest.fixture
def root(home: Home) -> Home:
    home.root.mkdir()
    return home


@pytest.fixture
def long_home(tmp_path: Path) -> Home:
    root = tmp_path / ("a" * 120) / ("b" * 120)
    root.mkdir(parents=True)
    return Home(root)


def _knock(path: Path, uid: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", KNOCK, str(path), str(uid)], stdout=subprocess.PIPE, text=True
    )


def test_the_run_folder_is_private(root: Home) -> None:
    assert stat.S_IMODE(make_run_folder(root).stat().st_mode) == 0o700


def test_a_run_folder_open_to_others_is_closed(root: Home) -> None:
    root.run.mkdir(mode=0o777)
    root.run.chmod(0o777)
    assert stat.S_IMODE(make_run_folder(root).stat().st_mode) == 0o700


def test_a_long_home_keeps_its_sockets_elsewhere_and_links_them(long_home: Home) -> None:
    folder = make_run_folder(long_home)
    try:
        assert (long_home.root / "run").readlink() == folder
        with listen(long_home.socket):
            assert long_home.socket.is_socket()
    finally:
        folder.rmdir()


def test_a_link_where_a_long_home_wants_its_sockets_is_a_trap(
    long_home: Home, tmp_path: Path
) -> None:
    long_home.run.symlink_to(tmp_path)
    try:
        with pytest.raises(DaemonUnavailable, match="not a folder of yours"):
            make_run_folder(long_home)
    finally:
        long_home.run.unlink()


@as_root
def test_a_run_folder_of_somebody_else_is_refused(long_home: Home) -> None:
    long_home.run.mkdir()
    try:
        os.chown(long_home.run, 12345, 12345)
        with pytest.raises(DaemonUnavailable, match="not a folder of yours"):
            make_run_folder(long_home)
    finally:
        long_home.run.rmdir()


@pytest.mark.parametrize("left", ["link", "folder"])
def test_a_home_that_was_moved_gets_its_run_folder_anew(
    long_home: Home, root: Home, left: str
) -> None:
    """A link left from a long path, or the folder of a dead daemon left from a short one."""
    moved = root if left == "link" else long_home
    inside = moved.root / "run"
    if left == "link":
        inside.symlink_to(long_home.root)
    else:
        inside.mkdir()
        (inside / "daemon.sock").touch()
        (inside / "python3").symlink_to(sys.executable)
    folder = make_run_folder(moved)
    assert folder == moved.run
    if left == "folder":
        folder.rmdir()


def test_a_socket_is_private_and_replaces_a_dead_one(root: Home) -> None:
    make_run_folder(root)
    root.socket.touch()
    with listen(root.socket):
        assert root.socket.is_socket()
        assert stat.S_IMODE(root.socket.stat().st_mode) == 0o600
    assert not root.socket.exists()


def test_a_socket_of_a_successor_is_left_alone(root: Home) -> None:
    make_run_folder(root)
    with listen(root.socket):
        root.socket.unlink()
        root.socket.touch()
    assert root.socket.exists()


@as_root
def test_another_user_is_hung_up_on_and_we_are_heard(root: Home, tmp_path: Path) -> None:
    folder = Path(f"/tmp/observer-test-{os.getpid()}")  # a path that the stranger can walk
    folder.mkdir(mode=0o777)
    try:
        with listen(folder / "s") as door:
            (folder / "s").chmod(0o777)
            folder.chmod(0o777)
            stranger = _knock(folder / "s", 12345)
            friend = _knock(folder / "s", 0)
            door.settimeout(20)
            connection, _ = door.accept()
            with connection:
                connection.send(b"x")
                assert friend.communicate()[0] == "heard\n"
            # Whenever the stranger knocks, before the friend or later, nobody is accepted for it.
            door.settimeout(0.2)
            while stranger.poll() is None:
                with pytest.raises((TimeoutError, BlockingIOError)):
                    door.accept()
            assert stranger.communicate()[0] == "hung up\n"
    finally:
        folder.rmdir()


def test_a_port_listens_on_the_loopback_only() -> None:
    with listen_tcp(0) as door:
        assert door.getsockname()[0] == "127.0.0.1"


def test_a_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listen_tcp(taken.getsockname()[1])


def test_the_token_is_made_once_and_private(root: Home) -> None:
    token = ensure_token(root)
    assert len(token) >= 32
    assert ensure_token(root) == token
    assert stat.S_IMODE(root.token.stat().st_mode) == 0o600


def test_a_token_that_no_header_can_hold_is_refused(root: Home) -> None:
    root.token.write_text("schlüssel", encoding="utf-8")
    with pytest.raises(OSError, match="it is not ASCII text"):
        ensure_token(root)


def test_an_empty_token_file_is_no_token(root: Home) -> None:
    root.token.touch()
    assert ensure_token(root)


def test_who_only_stays_at_the_port_is_let_go_for_newcomers() -> None:
    with listen_tcp(0) as door, ExitStack() as stack:
        pairs = []
        for _ in range(MOST_CONNECTIONS + 2):
            client = stack.enter_context(socket.create_connection(door.getsockname(), timeout=10))
            pairs.append((client, stack.enter_context(door.accept()[0])))
        (first, _), (second, _), (third, served) = pairs[:3]
        assert first.recv(1) == second.recv(1) == b""
        served.sendall(b"x")
        assert third.recv(1) == b"x"


def test_a_rush_at_the_port_is_turned_away_at_twice_its_connections() -> None:
    with listen_tcp(0) as door, ExitStack() as stack:
        door.settimeout(0.2)
        clients = []
        for _ in range(2 * MOST_CONNECTIONS):
            clients.append(stack.enter_context(socket.create_connection(door.getsockname())))
            stack.enter_context(door.accept()[0])
        with socket.create_connection(door.getsockname(), timeout=10) as late:
            with pytest.raises(TimeoutError):
                door.accept()
            assert late.recv(1) == b""


def test_who_has_left_the_port_counts_no_more() -> None:
    with listen_tcp(0) as door:
        with socket.create_connection(door.getsockname(), timeout=10) as stays:
            connection, _ = door.accept()
            for _ in range(MOST_CONNECTIONS + 2):
                with socket.create_connection(door.getsockname(), timeout=10):
                    door.accept()[0].close()
            connection.sendall(b"x")
            assert stays.recv(1) == b"x"
        connection.close()
