"""The daemon's two servers: HTTP under uvicorn, and MCP lines on a socket of their own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import uvicorn

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
