"""Server-sent events, the older transport of MCP, through the daemon's port and a real client."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client

from observer.core.paths import Home
from tests.support import Observer

pytestmark = pytest.mark.slow


@pytest.fixture
def base(within: Observer) -> str:
    """Where a daemon serves its loopback port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    assert within("up", OBSERVER_HTTP_PORT=str(port)).returncode == 0
    return f"http://127.0.0.1:{port}"


async def asked(url: str, home: Home, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], str]:
    """Return the tools that are offered there, and the text of the last call."""
    headers = {"Authorization": f"Bearer {home.token.read_text().strip()}"}
    said = ""
    async with (
        asyncio.timeout(30),
        sse_client(url, headers=headers) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        listed = [tool.name for tool in (await session.list_tools()).tools]
        for name, arguments in calls:
            said = str((await session.call_tool(name, arguments)).content[0].text)
    return listed, said


def test_a_client_of_mem0_is_served_over_events(base: str, home: Home) -> None:
    tea = {"messages": [{"role": "user", "content": "I like tea"}], "user_id": "bob"}
    calls = (("add_memory", tea), ("get_all_memories", {"user_id": "bob"}))
    listed, said = asyncio.run(asked(f"{base}/sse", home, *calls))
    assert listed[0] == "add_memory"
    assert "1. I like tea" in said


def test_another_toolset_is_named_in_the_path(base: str, home: Home) -> None:
    listed, _ = asyncio.run(asked(f"{base}/sse/core", home))
    assert listed[0] == "search"


REFUSED: tuple[tuple[str, str, dict[str, str], int], ...] = (
    ("GET", "/sse", {}, 401),
    ("POST", "/messages", {}, 401),
    ("GET", "/sse", {"Origin": "http://evil.example"}, 403),
    ("GET", "/sse", {"Host": "evil.example"}, 421),
    ("GET", "/sse/none", {"Authorization": "Bearer {token}"}, 404),
    ("POST", "/messages", {"Authorization": "Bearer {token}"}, 400),
    ("POST", f"/messages?session_id={'0' * 32}", {"Authorization": "Bearer {token}"}, 404),
)


def test_what_is_no_client_of_ours_is_refused(base: str, home: Home) -> None:
    token = home.token.read_text().strip()
    for method, path, headers, status in REFUSED:
        data = b"{}" if method == "POST" else None
        given = {name: text.format(token=token) for name, text in headers.items()}
        given["Content-Type"] = "application/json"
        request = urllib.request.Request(base + path, data, given, method=method)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=20)
        refused.value.close()
        assert refused.value.code == status, (path, headers)


def test_an_open_connection_does_not_hold_up_the_daemons_end(
    base: str, home: Home, within: Observer
) -> None:
    token = home.token.read_text().strip()
    request = urllib.request.Request(f"{base}/sse", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=20) as stream:
        assert stream.readline().startswith(b"event: endpoint")
        assert within("down").returncode == 0
        while stream.readline():
            pass
    assert " ERROR " not in (home.logs / "daemon.log").read_text()
