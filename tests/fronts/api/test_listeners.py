"""The HTTP face under a real server: the SDK's client over TCP, bare requests over Unix."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from observer.memory.api import Memory
from observer.serve.http import Guard, Handlers, ImportReceipt, app
from observer.serve.mcp.server import McpFront, McpHttp
from observer.tools.registry import tools_of, toolsets

TOKEN = "not-a-" + "real-token"


class Listener:
    """uvicorn in a thread, on a socket that is open already."""

    def __init__(self, served: Any, door: socket.socket) -> None:
        config = uvicorn.Config(served, log_config=None, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [door]})
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def listen(memory: Memory) -> Callable[..., Listener]:
    def open_one(door: socket.socket, guard: Guard | None = None) -> Listener:
        doings = Handlers(
            memory=memory,
            status=dict,
            post=lambda _: (),
            take_past=lambda _: ImportReceipt(),
            end_import=lambda: None,
            schema=dict,
            openapi=dict,
            ask=lambda _: {},
            recall=lambda _: b"",
            stop=lambda: None,
        )
        served = app(doings, McpHttp(McpFront(memory)), guard=guard)
        door.listen()
        return Listener(served, door)

    return open_one


def names_at(port: int, path: str) -> list[str]:
    async def ask() -> Any:
        headers = {"authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{port}{path}"
        async with (
            asyncio.timeout(30),
            httpx2.AsyncClient(headers=headers) as web,
            Client(streamable_http_client(url, http_client=web)) as client,
        ):
            return await client.list_tools()

    return [tool.name for tool in asyncio.run(ask()).tools]


@pytest.mark.parametrize("toolset", toolsets())
def test_every_toolset_has_an_address(
    listen: Callable[..., Listener], memory: Memory, toolset: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        with closing(listen(door, Guard(token=TOKEN, port=port))):
            assert names_at(port, f"/mcp/{toolset}") == list(tools_of((toolset,), memory, str))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
def test_a_client_with_the_token_calls_tools_over_tcp(
    listen: Callable[..., Listener], mode: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        headers = {"authorization": f"Bearer {TOKEN}", "observer-cwd": str(tmp_path / "my-api")}

        async def ask() -> Any:
            url = f"http://127.0.0.1:{port}/mcp"
            async with (
                asyncio.timeout(30),
                httpx2.AsyncClient(headers=headers) as web,
                Client(streamable_http_client(url, http_client=web), mode=mode) as client,
            ):
                return await client.call_tool("get_context", {})

        with closing(listen(door, Guard(token=TOKEN, port=port))):
            assert asyncio.run(ask()).structured_content["project"] == "my-api"


def test_a_bare_request_is_answered_over_the_unix_socket(
    listen: Callable[..., Listener], tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as door, socket.socket(socket.AF_UNIX) as caller:
        door.bind(str(tmp_path / "http.sock"))
        with closing(listen(door)):
            caller.connect(str(tmp_path / "http.sock"))
            connection = http.client.HTTPConnection("observer", timeout=20)
            connection.sock = caller
            connection.request("POST", "/remember", json.dumps({"content": "tabs"}))
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Observer-Protocol"]) == (201, "1")
            assert json.loads(answer.read())["updated"] is False
