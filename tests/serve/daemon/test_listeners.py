"""Who gets through the daemon's doors."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.serve.servers import (
    MOST_CONNECTIONS,
    MOST_WAITING,
    REFUSAL,
    GuardedSocket,
    ensure_secret,
    listen,
    listen_tcp,
    make_run_folder,
    user_at,
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

CROWD = """
import encodings.idna, os, socket, sys
os.setuid(12345)
address, number, count = sys.argv[1:]
held = [socket.create_connection((address, int(number))) for _ in range(int(count))]
sys.stdin.read()
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


@pytest.mark.parametrize("is_open", [False, True])
def test_the_run_folder_is_private(root: Home, *, is_open: bool) -> None:
    if is_open:
        root.run.mkdir()
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
    with listen(root.socket):
        root.socket.unlink()
        root.socket.touch()
    assert root.socket.exists(), "that of a successor"


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


def test_a_port_listens_on_both_addresses_of_the_loopback_only() -> None:
    with closing(listen_tcp(0)) as port:
        bound = [each.getsockname()[:2] for each in port.listeners]
        assert bound == [("127.0.0.1", port.number), ("::1", port.number)]


@pytest.mark.parametrize("number", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
def test_without_ipv6_a_port_listens_on_the_other_address(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind = GuardedSocket.bind

    def without(self: GuardedSocket, address: tuple[str, int]) -> None:
        if address[0] == "::1":
            raise OSError(number, os.strerror(number))
        bind(self, address)

    monkeypatch.setattr(GuardedSocket, "bind", without)
    with closing(listen_tcp(0)) as port:
        assert [each.getsockname()[0] for each in port.listeners] == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_a_taken_port_is_an_error(family: socket.AddressFamily, host: str) -> None:
    with (
        socket.create_server((host, 0), family=family) as taken,
        pytest.raises(OSError, match="in use"),
    ):
        listen_tcp(taken.getsockname()[1])


def test_the_token_is_made_once_and_private(root: Home) -> None:
    root.token.touch()  # an empty file is no token
    token = ensure_secret(root.token)
    assert len(token) >= 32
    assert ensure_secret(root.token) == token
    assert stat.S_IMODE(root.token.stat().st_mode) == 0o600
    root.token.write_text("schlüssel", encoding="utf-8")  # which no header can hold
    with pytest.raises(OSError, match="it is not ASCII text"):
        ensure_secret(root.token)


class Port:
    """A port, and both ends of the connections to it, in their order."""

    def __init__(self, stack: ExitStack, host: str) -> None:
        self._stack = stack
        self.all = stack.enter_context(closing(listen_tcp(0)))
        self.door = self.all.listeners[host == "::1"]
        self.door.settimeout(0.2)

    def knock(self) -> socket.socket:
        """Return the client's end of a connection; not yet accepted."""
        return self._stack.enter_context(
            socket.create_connection(self.door.getsockname()[:2], timeout=10)
        )

    def enter(self) -> tuple[socket.socket, socket.socket]:
        """Return both ends of a connection; the server's is accepted."""
        client = self.knock()
        served, _ = self.door.accept()
        return client, self._stack.enter_context(served)

    def admitted(self) -> tuple[socket.socket, socket.socket]:
        """Return both ends of a connection that has shown the token."""
        client, served = self.enter()
        self.all.admit(client.getsockname()[:2])
        return client, served


@pytest.fixture(params=["127.0.0.1", "::1"])
def port(request: pytest.FixtureRequest) -> Iterator[Port]:
    with ExitStack() as stack:
        yield Port(stack, request.param)


def said(client: socket.socket) -> bytes:
    """Return all that is said to a client until its connection ends."""
    return b"".join(iter(lambda: client.recv(4096), b""))


def test_who_only_stays_at_the_port_is_told_and_let_go_for_newcomers(port: Port) -> None:
    (first, _), (second, served), *_ = [port.enter() for _ in range(MOST_WAITING + 1)]
    assert said(first) == REFUSAL
    assert b"503 Service Unavailable" in REFUSAL
    assert b"Retry-After: 1\r\n" in REFUSAL
    served.sendall(b"x")
    assert second.recv(1) == b"x"


def test_two_hundred_strangers_push_out_nobody_who_has_the_token(port: Port) -> None:
    friends = [port.admitted() for _ in range(3)]
    for _ in range(200):
        port.enter()[1].close()
    strangers = [port.enter() for _ in range(MOST_WAITING + 9)]
    for client, served in friends:
        served.sendall(b"x")
        assert client.recv(1) == b"x"
    assert [said(client) for client, _ in strangers[:9]] == [REFUSAL] * 9
    strangers[9][1].sendall(b"x")
    assert strangers[9][0].recv(1) == b"x"


def test_a_port_full_of_those_who_have_the_token_turns_the_next_one_away(port: Port) -> None:
    for _ in range(MOST_CONNECTIONS):
        port.admitted()
    late = port.knock()
    late.sendall(b"GET /status HTTP/1.1\r\n\r\n")
    with pytest.raises(TimeoutError):
        port.door.accept()
    assert said(late) == REFUSAL


def test_with_little_room_left_a_newcomer_takes_that_of_who_waits(port: Port) -> None:
    waits, _ = port.enter()
    for _ in range(MOST_CONNECTIONS - 1):
        port.admitted()
    port.enter()
    assert said(waits) == REFUSAL


def test_a_rush_at_the_port_is_turned_away_at_twice_its_connections(port: Port) -> None:
    for _ in range(2 * MOST_CONNECTIONS):
        port.enter()
    late = port.knock()
    with pytest.raises(TimeoutError):
        port.door.accept()
    assert said(late) == REFUSAL


@as_root
def test_another_user_takes_none_of_our_room(port: Port) -> None:
    """With all the connections that they may have, they push out only their own."""
    ours, served = port.enter()
    port.door.settimeout(20)
    at, number, *_ = map(str, port.door.getsockname())
    words = [sys.executable, "-c", CROWD, at, number, str(MOST_WAITING + 2)]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as crowd:
        theirs = [port.door.accept()[0] for _ in range(MOST_WAITING + 2)]
        served.sendall(b"x")
        assert ours.recv(1) == b"x"
        for each in theirs[:2]:  # let go for their own
            each.settimeout(20)
            assert each.recv(1) == b""
        crowd.communicate()
    for each in theirs:
        each.close()


def test_who_has_left_the_port_counts_no_more(port: Port) -> None:
    stays, served = port.enter()
    for _ in range(MOST_WAITING + 2):
        client, gone = port.enter()
        gone.close()
        client.close()
    served.sendall(b"x")
    assert stays.recv(1) == b"x"


def test_a_connection_that_is_not_there_is_nobodys() -> None:
    assert user_at(("127.0.0.1", 1), ("127.0.0.1", 2)) is None


def test_where_the_kernel_names_no_users_a_peer_is_an_address(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_NETLINK")
    (first, _), *_ = [port.enter() for _ in range(MOST_WAITING + 1)]
    assert said(first) == REFUSAL
