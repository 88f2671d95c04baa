"""MCP, imported behind the daemon's back: it takes over a second, and nothing else waits for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from observer.daemon.serving import serve_lines
from observer.memory import Memory

if TYPE_CHECKING:
    from observer.front.mcp import McpFront, McpHttp


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
    from observer.front import mcp  # noqa: PLC0415 - over a second

    front = mcp.McpFront(memory, rules_chars=rules_chars)
    return front, mcp.McpHttp(front)
