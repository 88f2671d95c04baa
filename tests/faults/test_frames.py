"""Whatever is written to a daemon's sockets or its HTTP API, it answers the next one."""

from __future__ import annotations

import json
import random
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from typing import Any

import pytest
from faults.mutation import ODD, mutated
from http_document import document
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from observer.clients import generic
from observer.core.paths import Home
from observer.local import client
from observer.local.pump import hello
from observer.tools.registry import toolsets
from observer.tools.status import Status
from tests.support import Observer

pytestmark = pytest.mark.slow

WAIT_S = 20.0
TOGETHER = ("core,story,browse,memex,mem0", "chatgpt", "basic-memory", "kiro,memory")
PROTOCOL = {"protocolVersion": "2025-06-18", "capabilities": {}}
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=40),
    st.sampled_from([10**400, -1, "\ud800", "x" * 5000, [[[]]], {"a": {}}, "../" * 30, "\0"]),
)
JSON = st.recursive(
    STRANGE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@pytest.fixture
def daemon(home: Home) -> Iterator[Home]:
    """A daemon that has to be the same one at the end, without a traceback in its log."""
    client.ensure_daemon(home, wait_s=30)
    pid = client.daemon_pid(home)
    yield home
    assert client.call(home, "GET", "/status")["pid"] == pid
    said = (home.logs / "daemon.log").read_text()
    assert "Traceback" not in said, said[said.index("Traceback") :][:3000]


def shown(path: Any, data: bytes) -> bytes:
    """Write bytes to a socket, close that end, and return all that came back."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(WAIT_S)
        connection.connect(str(path))
        parts = []
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                parts.append(part)
    return b"".join(parts)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages)


def opening() -> bytes:
    info = {**PROTOCOL, "clientInfo": {"name": "x", "version": "1"}}
    first = {"id": 0, "method": "initialize", "params": info}
    return lines(first, {"method": "notifications/initialized"})


def call(number: Any, tool: str, given: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}


FRAMES = (
    lines(call(1, "search", {"query": "harbour"})),
    lines({"id": "a", "method": "tools/list"}, {"id": None, "method": "ping"}),
    lines({"id": 2, "method": "resources/read", "params": {"uri": "observer://item/1"}}),
    lines(
        {"method": "notifications/cancelled", "params": {"requestId": 1}}, {"id": 3, "result": 1}
    ),
    lines({"id": 4, "method": "prompts/get", "params": {"name": "resume_work", "arguments": {}}}),
)
REQUESTS = (
    b"GET /status HTTP/1.1\r\nHost: observer\r\nConnection: close\r\n\r\n",
    b"POST /events HTTP/1.1\r\nHost: o\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b'POST /remember HTTP/1.1\r\nHost: o\r\nContent-Length: 19\r\n\r\n{"content": "abcde"}',
    b'POST /ask HTTP/1.1\r\nHost: o\r\nContent-Length: 22\r\n\r\n{"question": "search"}',
    b"POST /mcp/core HTTP/1.1\r\nHost: o\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /recall HTTP/1.1\r\nHost: o\r\nContent-Length: 18\r\n\r\nOBS1\0client=git\0\0\0\0",
)


def changed(pieces: tuple[bytes, ...], number: int) -> bytes:
    chance = random.Random(number)
    return mutated(chance.choice(pieces), pieces, chance)


def test_any_line_of_an_editor_is_survived(daemon: Home) -> None:
    @settings(max_examples=40)
    @given(st.lists(st.integers(0, 1 << 30), max_size=4), st.booleans(), st.binary(max_size=60))
    def check(numbers: list[int], is_greeted: bool, rest: bytes) -> None:
        sent = b"".join(changed(FRAMES, number) for number in numbers)
        greeting = hello("core", "/") + opening() if is_greeted else b""
        shown(daemon.mcp_socket, greeting + sent + rest)

    check()
    answer = shown(daemon.mcp_socket, hello("core", "/") + opening() + FRAMES[0])
    assert json.loads(answer.splitlines()[-1])["id"] == 1


@pytest.mark.parametrize("toolset", TOGETHER)
def test_any_arguments_of_a_tool_are_answered(daemon: Home, toolset: str) -> None:
    """With a result or an error of that request; no toolset is left out."""
    assert {name for each in TOGETHER for name in each.split(",")} == set(toolsets())
    greeting = hello(toolset, "/") + opening()
    listed = shown(daemon.mcp_socket, greeting + lines({"id": 9, "method": "tools/list"}))
    tools = json.loads(listed.splitlines()[-1])["result"]["tools"]

    @st.composite
    def calls(draw: Callable[..., Any]) -> dict[str, Any]:
        tool = draw(st.sampled_from(tools))
        names = [*sorted(tool["inputSchema"].get("properties", {})), "other"]
        given = draw(st.dictionaries(st.sampled_from(names), JSON, max_size=4) | JSON)
        return call(draw(st.integers(1, 9)), tool["name"], given)

    @settings(max_examples=25)
    @given(st.lists(calls(), min_size=1, max_size=4, unique_by=lambda one: one["id"]))
    def check(asked: list[dict[str, Any]]) -> None:
        answers = shown(daemon.mcp_socket, greeting + lines(*asked)).splitlines()[1:]
        found = [json.loads(answer) for answer in answers]
        assert {one["id"] for one in found if "id" in one} >= {one["id"] for one in asked}

    check()


def test_a_body_that_is_not_utf_8_is_refused(daemon: Home) -> None:
    body = b'{"content": "\xed\xf4"}'
    for path in ("/remember", "/ask", "/events", "/import"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(str(daemon.socket))
            head = f"POST {path} HTTP/1.1\r\nHost: o\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400 "), path


def test_any_bytes_of_a_request_are_survived(daemon: Home) -> None:
    @settings(max_examples=60)
    @given(st.integers(0, 1 << 30))
    def check(number: int) -> None:
        shown(daemon.socket, changed(REQUESTS, number))

    check()
    for odd in ODD:
        head = b"GET /status HTTP/1.1\r\nHost: " + odd + b"\r\n" + odd + b": x\r\n\r\n"
        shown(daemon.socket, head)
    assert client.call(daemon, "GET", "/status")["events"] >= 0


CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
)
EXAMPLES = 20


@pytest.fixture
def api(home: Home, observer: Observer) -> tuple[str, str]:
    """The address and the token of a daemon."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.root.mkdir()
    home.config.write_text(f"http_port = {port}\n")
    client.ensure_daemon(home, wait_s=30)
    return f"http://127.0.0.1:{port}", home.token.read_text().strip()


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_the_api_is_what_its_document_says(api: tuple[str, str], home: Home, mode: str) -> None:
    import schemathesis  # noqa: PLC0415 - a second, which every worker would pay as it collects

    address, token = api
    schema = schemathesis.openapi.from_dict(document(generic.schema(), Status))
    schema.config.update(base_url=address)
    headers = {"Authorization": f"Bearer {token}"}
    chosen = schemathesis.checks.CHECKS.get_by_names(CHECKS)
    generation = schemathesis.GenerationMode[mode]
    for operation in [found.ok() for found in schema.get_all_operations()]:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=generation))
        def ask(case: Any) -> None:
            case.call_and_validate(headers=headers, checks=chosen)

        ask()
    assert client.is_running(home)


def test_two_hundred_idle_strangers_cost_nobody_a_request_who_has_the_token(
    api: tuple[str, str], home: Home
) -> None:
    address, token = api
    port = int(address.rpartition(":")[2])
    headers = {"Authorization": f"Bearer {token}"}
    with ExitStack() as stack:
        stays = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=30)))
        strangers = []
        for count in (0, 200):
            for _ in range(count):
                stranger = socket.create_connection(("127.0.0.1", port))
                strangers.append(stack.enter_context(stranger))
            stays.request("GET", "/status", headers=headers)
            answer = stays.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
        turned_away = [each for each in strangers if select.select([each], [], [], 0)[0]]
        assert len(turned_away) >= 200 - 2 * 64
