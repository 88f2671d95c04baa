"""The MCP socket is served at once; the SDK is imported for who asks over HTTP."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.memory.api import Memory
from observer.serve.kept_openings import KeptOpenings
from observer.serve.servers import LazyMcp, listen
from observer.serve.worker import Health


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with listen(tmp_path / "mcp.sock") as made:
        yield made


def test_the_first_request_over_http_starts_its_server(
    memory: Memory, home: Home, listener: socket.socket
) -> None:
    async def asked() -> int:
        mcp = LazyMcp(memory, KeptOpenings(home, Health()), 1_000)
        serving = asyncio.create_task(mcp.serve(listener))
        said = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"no json", "more_body": False}

        async def send(message: dict[str, object]) -> None:
            said.append(message.get("status"))

        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
        await mcp(scope, receive, send)
        serving.cancel()
        await asyncio.wait([serving])
        return int(str(said[0]))

    assert 400 <= asyncio.run(asked()) < 500


def test_the_socket_needs_no_sdk() -> None:
    code = """if True:
        import sys
        import observer.serve.daemon
        print(sorted({"mcp", "mcp_types", "pydantic"} & sys.modules.keys()))
    """
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
