"""The daemon's two servers: HTTP under uvicorn, and MCP lines on a socket of their own.

MCP, imported behind the daemon's back: it takes over a second, and nothing else waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from observer.memory.api import Memory

FAREWELL_S = 3
"""How long a request in progress may take once the daemon leaves."""
Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class HttpServer(uvicorn.Server):
    """uvicorn without what only a foreground program needs: its signals, its ten ticks a second.

    Args:
        app: what to serve.
        door: a listening socket; closed at the end.
        name: for the log.
    """

    def __init__(self, app: Any, door: socket.socket, *, name: str) -> None:  # noqa: ANN401 - ASGI is starlette's, whose home is front.http
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
        self._door = door
        self._leaving = asyncio.Event()
        self.answers = asyncio.Event()
        """Set once requests are answered."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on the door until `leave`."""
        await super().serve([*(sockets or []), self._door])

    async def main_loop(self) -> None:
        """Say that requests are answered, and wait for `leave`."""
        self.answers.set()
        await self._leaving.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the daemon."""
        yield

    def leave(self) -> None:
        """Take no more requests, finish those in progress, and end."""
        self._leaving.set()


async def serve_lines(door: socket.socket, converse: Converse) -> None:
    """Hand each connection of a listening socket to `converse`, until cancelled; then hang up."""
    conversations: set[asyncio.Task[None]] = set()

    def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(converse(reader, writer))
        conversations.add(task)  # asyncio itself keeps no hold of a task
        task.add_done_callback(conversations.discard)

    server = await asyncio.start_unix_server(greet, sock=door)
    try:
        await asyncio.Event().wait()
    finally:
        server.close()
        for task in conversations:
            task.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


if TYPE_CHECKING:
    from observer.api.mcp.server import McpFront, McpHttp


class LateMcp:
    """The MCP fronts of one daemon; requests that come too early wait for the import."""

    def __init__(self, memory: Memory, *, rules_chars: int) -> None:
        self._memory = memory
        self._rules_chars = rules_chars
        self._http: asyncio.Future[McpHttp] = asyncio.get_running_loop().create_future()

    async def serve(self, door: socket.socket, *, after: asyncio.Event) -> None:
        """Import, and serve the MCP socket and the HTTP endpoint, until cancelled.

        Args:
            door: the listening MCP socket.
            after: what must have happened before the import may take the processor's time.
        """
        await after.wait()
        front, http = await asyncio.to_thread(_import, self._memory, self._rules_chars)
        async with http.running():
            self._http.set_result(http)
            await serve_lines(door, front.serve_stream)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Do nothing: `serve` runs the endpoint, for every listener."""
        yield

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI is starlette's, whose home is front.http
        """Answer one request to the HTTP endpoint."""
        endpoint = await asyncio.shield(self._http)
        await endpoint(scope, receive, send)


def _import(memory: Memory, rules_chars: int) -> tuple[McpFront, McpHttp]:
    from observer.api.mcp import server  # noqa: PLC0415 - over a second

    front = server.McpFront(memory, rules_chars=rules_chars)
    return front, server.McpHttp(front)
