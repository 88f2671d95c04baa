"""What the daemon listens on, HTTP under uvicorn, and the port of the pages."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import shutil
import socket
import stat
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import orjson

from observer.core.disk import replace
from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home, read_plain
from observer.local.client import PROTOCOL, peer_uid
from observer.memory.api import Memory
from observer.tools.status import Status

if TYPE_CHECKING:
    from observer.serve.http import Uvicorn

log = logging.getLogger(__name__)

BACKLOG = 512  # connections that wait while the daemon is busy; twenty editors start at once
MOST_CONNECTIONS = 64
"""Most connections of the loopback port; up to twice as many until old ones are closed."""
MOST_WAITING = 32  # most of them that one peer has without having shown the token
RETRY_AFTER_S = 1
_FULL = orjson.dumps(
    {
        "error": {
            "code": "daemon-unavailable",
            "message": f"there are {MOST_CONNECTIONS} connections, or {MOST_WAITING} of this peer"
            " that have shown no token",
            "hint": f"try again in {RETRY_AFTER_S} s, with the token",
        }
    }
)
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Content-Type: application/json\r\nConnection: close\r\n"
    b"Observer-Protocol: %d\r\nRetry-After: %d\r\nContent-Length: %d\r\n\r\n%b"
) % (PROTOCOL, RETRY_AFTER_S, len(_FULL), _FULL)
"""What a connection is answered that there is no room for."""


class GuardedSocket(socket.socket):
    """A listening socket that closes the connections which `lets_in` returns False for, unread."""

    lets_in: Callable[[socket.socket, Any], bool]

    def accept(self) -> tuple[socket.socket, Any]:  # address types vary, as in the base class
        """Return the next connection that is let in."""
        while True:
            connection, address = super().accept()
            if self.lets_in(connection, address):
                return connection, address
            connection.close()


def _is_ours(connection: socket.socket, _address: object) -> bool:
    is_ours = False
    with suppress(OSError):  # the kernel does not say
        is_ours = peer_uid(connection) == os.getuid()
    return is_ours


@dataclass(slots=True)
class _Guest:
    """A connection from an address; `peer` is its host, and its user where the kernel says it."""

    connection: socket.socket
    address: tuple[str, int]
    peer: tuple[str, int | None]
    state: Literal["waiting", "known", "leaving"] = "waiting"

    @property
    def is_there(self) -> bool:
        return self.connection.fileno() >= 0


class LoopbackPort:
    """A TCP port of 127.0.0.1 and ::1 that lets go of who only stays when there are too many.

    Any user and any page of a browser may connect, and nobody has shown a token before the request
    is read: idle connections must not use up the daemon's descriptors. One that has shown it stays.
    Without room for a newcomer the oldest that waits goes, of the same peer if it has too many;
    both are answered by `REFUSAL`. Where the kernel says whose a connection is, `only` is the user
    who may have any; None for all.
    """

    def __init__(self, only: int | None = None) -> None:
        self._only = only
        self.listeners: list[GuardedSocket] = []
        self._guests: list[_Guest] = []

    @property
    def number(self) -> int:
        """The port."""
        return int(self.listeners[0].getsockname()[1])

    def close(self) -> None:
        """Listen no more."""
        for each in self.listeners:
            each.close()

    def admit(self, address: tuple[str, int]) -> None:
        """Note that the connection from an address has shown the token."""
        for each in self._guests:
            if each.is_there and each.address == address and each.state == "waiting":
                each.state = "known"

    def is_of_others(self, address: tuple[str, int]) -> bool:
        """Return True unless the connection from an address is ours, or nobody knows whose."""
        users = {each.peer[1] for each in self._guests if each.address == address}
        return users.isdisjoint({None, os.getuid()})

    def lets_in(self, connection: socket.socket, address: tuple[str, int]) -> bool:
        """Return True if there is room for a connection; else it is answered."""
        user = user_at(address, connection.getsockname())
        guest = _Guest(connection, address[:2], (address[0], user))
        self._guests = [each for each in self._guests if each.is_there]
        if self._has_room(guest):
            self._guests.append(guest)
            return True
        _refuse(connection)
        return False

    def _has_room(self, newcomer: _Guest) -> bool:
        """Return True if there is room for one more, after letting go of another if need be."""
        if self._only is not None and newcomer.peer[1] not in {None, self._only}:
            return False
        waiting = [each for each in self._guests if each.state == "waiting"]
        inside = sum(each.state != "leaving" for each in self._guests)
        if len(self._guests) >= 2 * MOST_CONNECTIONS:
            return False
        counts = Counter(each.peer for each in waiting)
        crowd = newcomer.peer
        if counts[crowd] < MOST_WAITING:
            if inside < MOST_CONNECTIONS:
                return True
            if not counts:
                return False
            crowd = max(counts, key=counts.__getitem__)
        oldest = next(each for each in waiting if each.peer == crowd)
        oldest.state = "leaving"  # whoever serves it closes it, perhaps after many have come
        _refuse(oldest.connection)
        return True


def _refuse(connection: socket.socket) -> None:
    """Answer a connection without serving it, as far as that needs no waiting."""
    with suppress(OSError):  # it has hung up itself
        connection.settimeout(0)
        with suppress(BlockingIOError):  # it does not read
            connection.send(REFUSAL)
        connection.shutdown(socket.SHUT_WR)
        with suppress(BlockingIOError):  # what is not read would reset it, the answer unread
            connection.recv(1 << 16)
        connection.shutdown(socket.SHUT_RD)


def user_at(theirs: tuple[str, int], ours: tuple[str, int]) -> int | None:
    """Return whose the other end of a loopback connection is; None where the kernel does not say.

    Source: sock_diag(7), one socket by its addresses: /proc/net/tcp takes 20 ms where it is long.
    """
    if not hasattr(socket, "AF_NETLINK"):  # not Linux
        return None
    family = socket.AF_INET6 if ":" in ours[0] else socket.AF_INET
    hosts = (socket.inet_pton(family, end[0]) for end in (theirs, ours))
    ends = struct.pack(">HH16s16s", theirs[1], ours[1], *hosts)
    asked = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, _EVERY_STATE)
    asked += ends + struct.pack("=III", 0, _EVERY_STATE, _EVERY_STATE)
    header = struct.pack("=IHHII", 16 + len(asked), _SOCK_DIAG_BY_FAMILY, 1, 0, 0)
    with (
        suppress(OSError),
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel,
    ):
        kernel.settimeout(0)
        kernel.send(header + asked)
        said = kernel.recv(4096)
        if len(said) >= _UID.size and struct.unpack_from("=4xH", said)[0] == _SOCK_DIAG_BY_FAMILY:
            return int(_UID.unpack_from(said)[0])
    return None


_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _EVERY_STATE = 4, 20, 0xFFFFFFFF
_UID = struct.Struct("=16x4x48x12xI")
"""Of struct nlmsghdr and struct inet_diag_msg: header, state, addresses, queues, the user's id."""


def make_run_folder(home: Home) -> Path:
    """Create and return the sockets' folder, 0700; raise DaemonUnavailable if it is not ours."""
    folder, inside = home.run, home.root / "run"
    if inside.is_symlink() or folder != inside:
        # The home was moved, and its path became shorter or longer.
        if inside.is_symlink():
            inside.unlink()
        elif inside.exists():
            shutil.rmtree(inside)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise DaemonUnavailable(
            f"{folder} is not a folder of yours", hint="remove it, or choose another OBSERVER_HOME"
        )
    folder.chmod(0o700)
    if folder != inside:
        inside.symlink_to(folder)  # how the pump finds the sockets of a long home
    return folder


@contextmanager
def listen(path: Path) -> Iterator[GuardedSocket]:
    """Open a Unix socket for this user in place of any; its file goes at the end, if it is ours."""
    path.unlink(missing_ok=True)
    with GuardedSocket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.lets_in = _is_ours
        listener.bind(str(path))
        ours = path.lstat().st_ino
        path.chmod(0o600)
        listener.listen(BACKLOG)
        try:
            yield listener
        finally:
            with suppress(OSError):
                if path.lstat().st_ino == ours:
                    path.unlink()


def listen_tcp(port: int, *, only: int | None = None) -> LoopbackPort:
    """Open a port of both loopback addresses, 0 for a free one; raise OSError if it is in use."""
    made = LoopbackPort(only)
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with ExitStack() as opening:
            try:
                listener = opening.enter_context(GuardedSocket(family, socket.SOCK_STREAM))
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((host, made.number if made.listeners else port))
                listener.listen(BACKLOG)
            except OSError as error:
                has_no_ipv6 = error.errno in {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}
                if made.listeners and has_no_ipv6:
                    break
                made.close()
                raise
            listener.lets_in = made.lets_in
            made.listeners.append(listener)
            opening.pop_all()
    return made


def ensure_secret(file: Path) -> str:
    """Return the secret in a file, made once, mode 0600; raise OSError if it is no ASCII text."""
    with suppress(FileNotFoundError):
        secret = read_plain(file).decode("ascii", "replace").strip()
        if "\ufffd" in secret:
            raise OSError(errno.EILSEQ, "it is not ASCII text", str(file))
        if secret:
            return secret
    secret = secrets.token_urlsafe(32)
    replace(file, f"{secret}\n".encode())
    return secret


class HttpServer:
    """uvicorn on listeners; it, and what `app` makes, is imported once somebody connects."""

    def __init__(
        self, app: Callable[[], Any], listeners: Sequence[socket.socket], *, name: str
    ) -> None:
        # ASGI is starlette's, whose home is `serve.http`.
        self.name = name
        self._app = app
        self._listeners = listeners
        self._woken, self._leaving = asyncio.Event(), asyncio.Event()

    async def serve(self) -> None:
        """Serve on the listeners until `leave`."""
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            for each in self._listeners:
                stack.enter_context(each)
                loop.add_reader(each, self._woken.set)
            try:
                await self._woken.wait()
            finally:
                for each in self._listeners:
                    loop.remove_reader(each)
            if not self._leaving.is_set():

                def made() -> Uvicorn:
                    from observer.serve.http import Uvicorn  # noqa: PLC0415 - 60 ms with the app

                    return Uvicorn(self._app(), self._leaving)

                # Threads of chores have a low priority, and somebody waits for the import.
                with ThreadPoolExecutor(1) as thread:
                    server = await loop.run_in_executor(thread, made)
                await server.serve(list(self._listeners))

    def leave(self) -> None:
        """Accept no more requests, finish those in progress, and end."""
        self._leaving.set()
        self._woken.set()


# --- the pages: until a link is asked for nothing listens, and nothing of them is imported -------

LINK_S = 60
SECRET_CHARS = 32  # fewest characters of the secret that a reverse proxy shows


class Proxy(NamedTuple):
    """A reverse proxy: the public name of its host, and the secret that its requests show."""

    host: str
    secret: str


def proxy_of(host: str, file: Path) -> Proxy | None:
    """Return the proxy of a public host, None without one; make its secret if there is none.

    Raises OSError if the file cannot be used, ValueError if others can read it or it is too short.
    """
    if not host:
        return None
    secret = ensure_secret(file)
    if file.stat().st_mode & 0o077:
        raise ValueError(f"{file} is open to others, run: chmod 600 {file}")
    if len(secret) < SECRET_CHARS:
        raise ValueError(f"{file} holds fewer than {SECRET_CHARS} characters")
    return Proxy(host, secret)


class Doorkeeper(Protocol):
    """Who may look at the pages; `keep_port` has the next daemon open the same port, 0 for any."""

    @property
    def port(self) -> int: ...  # noqa: D102 - as above

    def keep_port(self, port: int) -> None: ...  # noqa: D102 - as above

    def link(self, seconds: int) -> str: ...  # noqa: D102 - a word that logs in once

    def logout(self) -> None: ...  # noqa: D102 - lets nothing hold any more that was given


class Pages(Protocol):
    """The pages, of which the daemon knows no more than this; `is_open` if somebody may look."""

    @property
    def is_open(self) -> bool: ...  # noqa: D102 - as above

    @property
    def access(self) -> Doorkeeper: ...  # noqa: D102 - as above

    def view(self, name: str) -> str: ...  # noqa: D102 - the HTML of a tool's view

    def app(self, **parts: Any) -> Any: ...  # noqa: ANN401, D102 - an ASGI application


class WebDoor:
    """Serves the pages of one daemon; all but `run` return at once."""

    def __init__(
        self,
        pages: Pages,
        memory: Memory,
        status: Callable[[], Status],
        restart: Callable[[], object] = lambda: None,
        proxy: Proxy | None = None,
    ) -> None:
        self._pages = pages
        self._proxy = proxy
        self._restart = restart
        self._memory = memory
        self._status = status
        self._wanted = asyncio.Event()
        self._leaving = asyncio.Event()
        self._port: LoopbackPort | None = None
        if pages.is_open:
            try:
                self._listen()
            except DaemonUnavailable as error:
                log.warning("%s", error)  # the next link tries again

    def link(self) -> dict[str, object]:
        """Return the address that opens the pages once; raise DaemonUnavailable without a port."""
        port = self._listen()
        path = f"/login?link={self._pages.access.link(LINK_S)}"
        made: dict[str, object] = {"url": f"http://127.0.0.1:{port}{path}", "seconds": LINK_S}
        return made | ({"proxied": f"https://{self._proxy.host}{path}"} if self._proxy else {})

    def logout(self) -> dict[str, object]:
        """Let no browser look any more that may until now; return whether one might."""
        was_open = self._pages.is_open
        if was_open:
            self._pages.access.logout()
        return {"logged_out": was_open}

    def leave(self) -> None:
        """Serve no more."""
        self._leaving.set()
        self._wanted.set()

    async def run(self) -> None:
        """Serve from the first link on, until `leave`."""
        await self._wanted.wait()
        if self._port is None:
            return
        pages = self._pages.app(
            memory=self._memory,
            status=self._status,
            port=self._port.number,
            admit=self._port.admit,
            is_of_others=self._port.is_of_others,
            proxy=self._proxy,
            leaving=self._leaving,
            restart=self._restart,
        )
        server = HttpServer(lambda: pages, self._port.listeners, name="pages")
        served = asyncio.create_task(server.serve())
        await self._leaving.wait()
        server.leave()
        await served

    def _listen(self) -> int:
        """Open the port unless it is open, the one of before if it is free; return its number."""
        if self._port is None:
            only = None if self._proxy else os.getuid()
            try:
                with suppress(OSError):
                    self._port = listen_tcp(self._pages.access.port, only=only)
                self._port = self._port or listen_tcp(0, only=only)
            except OSError as error:
                raise DaemonUnavailable(f"no port can be opened: {error.strerror}") from error
            self._pages.access.keep_port(self._port.number)
            self._wanted.set()
        return self._port.number
