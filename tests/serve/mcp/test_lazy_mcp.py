"""A daemon imports MCP when somebody connects, or once what waited in the spool had its time."""

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
from observer.serve import servers
from observer.serve.kept_openings import KeptOpenings
from observer.serve.servers import LazyMcp, listen
from observer.serve.worker import Health


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with listen(tmp_path / "mcp.sock") as made:
        yield made


async def _serve(memory: Memory, home: Home, listener: socket.socket, *, connects: bool) -> None:
    mcp = LazyMcp(memory, KeptOpenings(home, Health()), 1_000)
    ready = asyncio.Event()
    ready.set()
    serving = asyncio.create_task(mcp.serve(listener, after=ready))
    for _ in range(10):
        await asyncio.sleep(0)
    if connects:
        assert not mcp._asked.is_set()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(listener.getsockname())
            await mcp._http
    else:
        await mcp._http
    serving.cancel()
    await asyncio.wait([serving])


@pytest.mark.parametrize(
    ("within_s", "connects"),
    [pytest.param(3600.0, True, id="connection"), pytest.param(0.0, False, id="time")],
)
def test_mcp_is_served_from_the_first_connection_or_the_time_on(
    memory: Memory,
    home: Home,
    listener: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
    within_s: float,
    connects: bool,
) -> None:
    monkeypatch.setattr(servers, "IMPORT_WITHIN_S", within_s)
    asyncio.run(_serve(memory, home, listener, connects=connects))


def _said(code: str) -> str:
    return subprocess.check_output([sys.executable, "-c", code], text=True).strip()


def test_of_the_sdk_no_client_is_imported() -> None:
    code = "import observer.serve.mcp.server, sys; print('mcp.client.session' in sys.modules)"
    assert _said(code) == "False"


def test_all_of_the_sdk_is_there_for_who_imports_it_later() -> None:
    code = "import observer.serve.mcp.server, mcp; print(mcp.ClientSession.__name__)"
    assert _said(code) == "ClientSession"
