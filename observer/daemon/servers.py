"""The daemon's servers: HTTP under uvicorn, MCP lines on their own socket, and their listeners.

Listeners are private Unix sockets, and a loopback TCP port if one is configured. Promises: only
processes of this user can use a Unix socket, whatever the folder's mode; a socket file left by a
crash is replaced, but only by the holder of the home's lock. MCP is imported when a client first
connects, in a thread, since that takes over a second and nothing else waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import shutil
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from observer.client import peer_uid
from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home, read_plain
from observer.daemon.kept_openings import KeptOpenings
from observer.memory.api import Memory

BACKLOG = 512
"""Connections that wait while the daemon is busy; twenty editors start at once."""
MOST_CONNECTIONS = 64
"""Most connections of the loopback port; up to twice as many until old ones are closed."""


class PrivateSocket(socket.socket):
    """A listening Unix socket that closes connections of other users."""

    def accept(self) -> tuple[socket.socket, Any]:  # address types vary, as in the base class
        """Return the next connection of this user; others are closed unread."""
        while True:
            connection, address = super().accept()
            with suppress(OSError):
                if peer_uid(connection) == os.getuid():
                    return connection, address
            connection.close()


class LoopbackSocket(socket.socket):
    """A listening TCP socket that closes the oldest connection when there are too many.

    Any user and any page of a browser may connect, and nobody has shown a token before the request
    is read: idle connections must not use up the daemon's descriptors.
    """

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._open: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, Any]:  # address types vary, as in the base class
        """Return the next connection."""
        while True:
            connection, address = super().accept()
            self._open = [each for each in self._open if each.fileno() >= 0]
            if len(self._open) >= MOST_CONNECTIONS:
                with suppress(OSError):  # it has hung up itself
                    # Whoever serves it closes it, but perhaps not before many more have come.
                    self._open[-MOST_CONNECTIONS].shutdown(socket.SHUT_RDWR)
            if len(self._open) < 2 * MOST_CONNECTIONS:
                self._open.append(connection)
                return connection, address
            connection.close()


def make_run_folder(home: Home) -> Path:
    """Create the sockets' folder, 0700 and ours, and return it.

    Raises:
        DaemonUnavailable: it is a link, not a folder, or another user's, so perhaps an attack.
    """
    folder, inside = home.run, home.root / "run"
    if inside.is_symlink() or folder != inside:
        _clear(inside)  # the home was moved, and its path became shorter or longer
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
def listen(path: Path) -> Iterator[PrivateSocket]:
    """Open a Unix socket, mode 0600, in place of whatever an earlier daemon left there.

    Enter the block only while holding the home's lock. The file is removed at the end, unless it
    belongs to another daemon by then.
    """
    path.unlink(missing_ok=True)
    with PrivateSocket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
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


def listen_tcp(port: int) -> socket.socket:
    """Open a loopback port.

    Raises:
        OSError: the port is in use.
    """
    listener = LoopbackSocket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def ensure_token(home: Home) -> str:
    """Return the bearer token of the TCP port; created once, mode 0600, and kept.

    Raises:
        OSError: the file cannot be read or written, or is not ASCII.
    """
    with suppress(FileNotFoundError):
        token = read_plain(home.token).decode("ascii", "replace").strip()
        if "\ufffd" in token:
            raise OSError(errno.EILSEQ, "it is not ASCII text", str(home.token))
        if token:
            return token
    token = secrets.token_urlsafe(32)
    fresh = home.token.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    fresh.replace(home.token)
    return token


def _clear(inside: Path) -> None:
    """Remove the link at `<home>/run`, or the folder with what a dead daemon left in it."""
    if inside.is_symlink():
        inside.unlink()
    elif inside.exists():
        shutil.rmtree(inside)


FAREWELL_S = 3
"""How long a request in progress may take once the daemon stops."""
Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class HttpServer(uvicorn.Server):
    """uvicorn without its signal handlers and its ten ticks a second.

    Args:
        app: the ASGI application.
        listener: a listening socket; closed at the end.
        name: for the log.
    """

    def __init__(self, app: Any, listener: socket.socket, *, name: str) -> None:  # noqa: ANN401 - ASGI is starlette's, whose home is api.http
        super().__init__(
            uvicorn.Config(
                app,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=FAREWELL_S,
            )
        )
        self.name = name
        self._listener = listener
        self._leaving = asyncio.Event()
        self.answers = asyncio.Event()
        """Set once requests are answered."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on the listener until `leave`."""
        await super().serve([*(sockets or []), self._listener])

    async def main_loop(self) -> None:
        """Set `answers`, and wait for `leave`."""
        self.answers.set()
        await self._leaving.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the daemon."""
        yield

    def leave(self) -> None:
        """Accept no more requests, finish those in progress, and end."""
        self._leaving.set()


async def serve_lines(listener: socket.socket, converse: Converse) -> None:
    """Run `converse` on each connection of a listening socket until cancelled; then close all."""
    conversations: set[asyncio.Task[None]] = set()

    def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(converse(reader, writer))
        conversations.add(task)  # asyncio itself keeps only weak references
        task.add_done_callback(conversations.discard)

    server = await asyncio.start_unix_server(greet, sock=listener)
    try:
        await asyncio.Event().wait()
    finally:
        server.close()
        for task in conversations:
            task.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


if TYPE_CHECKING:
    from observer.api.mcp.server import Hello, McpFront, McpHttp


GIVE_WAY_SHARE = 1.0
"""How long a thread waits for calls at most, as a share of its work: a backlog goes on at half its
speed while somebody asks without a pause."""
GIVE_WAY_S, GIVE_WAY_STEP_S = 0.050, 0.001
"""How long it waits at most at a time: several searches."""


IMPORT_WITHIN_S = 10.0
"""When MCP is imported if nobody connects: what waits in the spool goes first."""


class LazyMcp:
    """The MCP servers of one daemon; early requests wait for the import."""

    def __init__(self, memory: Memory, openings: KeptOpenings, rules_chars: int) -> None:
        self._memory = memory
        self.openings = openings
        self._rules_chars = rules_chars
        self._front: McpFront | None = None
        self._asked = asyncio.Event()
        self._http: asyncio.Future[McpHttp] = asyncio.get_running_loop().create_future()
        self._may_wait_s, self._resumed_s = 0.0, time.monotonic()

    async def serve(self, listener: socket.socket, *, after: asyncio.Event) -> None:
        """Import at the first connection, and serve the socket and HTTP, until cancelled.

        Args:
            listener: the listening MCP socket.
            after: set once the import may take the processor's time.
        """
        await after.wait()
        await self._connection(listener)
        front, http = await asyncio.to_thread(
            _import, self._memory, self._rules_chars, self.openings.greeted
        )
        self._front = front
        async with http.running(), asyncio.TaskGroup() as tasks:
            self._http.set_result(http)
            tasks.create_task(serve_lines(listener, front.serve_stream))
            tasks.create_task(self.openings.run(front))

    async def _connection(self, listener: socket.socket) -> None:
        """Wait for the first connection, at most `IMPORT_WITHIN_S`."""
        loop = asyncio.get_running_loop()
        loop.add_reader(listener, self._asked.set)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), IMPORT_WITHIN_S)
        finally:
            loop.remove_reader(listener)

    def leave(self) -> None:
        """End the connections that would last as long as their clients."""
        if self._http.done() and not self._http.cancelled():
            self._http.result().leave()

    def calls(self) -> int:
        """Return the number of calls that are being answered; safe from any thread."""
        return self._front.calls() if self._front else 0

    def give_way(self, is_awaited: Callable[[], bool] = lambda: False) -> None:
        """Let calls that are being answered go first; for one thread that has much to do.

        `is_awaited` returns True while somebody waits for that thread itself, which then hurries.
        """
        began_s = time.monotonic()
        worked_s = began_s - self._resumed_s
        may_wait_s = min(GIVE_WAY_S, self._may_wait_s + GIVE_WAY_SHARE * worked_s)
        until_s = began_s + may_wait_s
        while self.calls() and not is_awaited() and time.monotonic() < until_s:
            time.sleep(GIVE_WAY_STEP_S)
        self._resumed_s = time.monotonic()
        self._may_wait_s = may_wait_s - (self._resumed_s - began_s)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Do nothing: `serve` runs the endpoint, for every listener."""
        yield

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI is starlette's, whose home is api.http
        """Answer one request to the HTTP endpoint."""
        self._asked.set()
        endpoint = await asyncio.shield(self._http)
        await endpoint(scope, receive, send)


def _import(
    memory: Memory, rules_chars: int, greeted: Callable[[Hello], None]
) -> tuple[McpFront, McpHttp]:
    from observer.api.mcp import server  # noqa: PLC0415 - over a second

    front = server.McpFront(memory, rules_chars=rules_chars, greeted=greeted)
    return front, server.McpHttp(front)
