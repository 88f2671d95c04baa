"""What a client may do to a connection without hurting anybody else, and what it is offered."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

from observer.core.errors import NotFound, ObserverError
from observer.core.paths import Home
from observer.local.journal import LINE_BYTES
from observer.memory.api import Memory
from observer.serve.mcp.handlers import McpHandlers, ResultPassthrough
from observer.tools.documents import Documents
from observer.tools.tool import JsonRpcError, ResultRow, Tool, ToolResult

HELLO = b'{"observer":1,"version":"0","cwd":"","tools":"core"}\n'


class Wire:
    """A bare connection to the MCP socket."""

    def __init__(self, home: Home, hello: bytes = HELLO) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(home.mcp_socket))
        self.lines = self.socket.makefile("rb")
        self.socket.sendall(hello)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, identifier: object, method: str = "initialize") -> None:
        self.send(request(identifier, method))

    def hear(self) -> Any:
        line = self.lines.readline()
        assert line, "the connection was closed"
        return json.loads(line)

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


def request(
    identifier: object, method: str, *, version: str = "2025-11-25", **params: Any
) -> bytes:
    if method == "initialize":
        client = {"name": "c", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(body).encode() + b"\n"


@pytest.fixture
def wire(home: Home, serve: Callable[[], Any]) -> Iterator[Callable[..., Wire]]:
    serve()
    opened = []

    def connect(hello: bytes = HELLO) -> Wire:
        opened.append(Wire(home, hello))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


def begun(wire: Wire) -> Wire:
    wire.ask(0)
    wire.hear()
    wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return wire


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_result_is_text_and_typed_in_every_version(
    wire: Callable[..., Wire], version: str
) -> None:
    one = wire()
    one.send(request(0, "initialize", version=version))
    assert one.hear()["result"]["protocolVersion"] == version
    one.send(request(1, "tools/call", name="search", arguments={"query": "jwt"}))
    result = one.hear()["result"]
    assert result["content"][0]["text"]
    assert result["structuredContent"]["observations"]


def test_a_number_of_any_size_comes_back_as_it_was_sent(wire: Callable[..., Wire]) -> None:
    one = begun(wire())
    one.send(request(1, "tools/call", name="get_observations", arguments={"ids": [2**53 - 1]}))
    assert one.hear()["result"]["structuredContent"]["missing_ids"] == [2**53 - 1]


def test_answers_to_calls_made_at_once_are_not_mixed_up(wire: Callable[..., Wire]) -> None:
    one = begun(wire())
    depths = range(1, 9)
    for depth in depths:
        arguments = {"project": "my-api", "token_budget": 1_000 + depth}
        one.send(request(depth, "tools/call", name="get_context", arguments=arguments))
    answers = [one.hear() for _ in depths]
    assert {each["id"]: each["result"]["structuredContent"]["tokenBudget"] for each in answers} == {
        depth: 1_000 + depth for depth in depths
    }


@pytest.mark.parametrize(
    ("hello", "reason", "exit_code"),
    [
        pytest.param(b'{"observer":2}\n', "speaks protocol 1, not 2", 4, id="newer protocol"),
        pytest.param(b'{"observer":1,"tools":"x"}\n', "no toolset 'x'", 2, id="unknown toolset"),
        pytest.param(b'{"observer":1,"tools":","}\n', "no toolset named", 2, id="no toolset"),
        pytest.param(b"GET / HTTP/1.1\n", "not a hello", 2, id="http"),
        pytest.param(b"[" * 100_000 + b"\n", "not a hello", 2, id="nesting"),
        pytest.param(b"\xff\x00\n", "not a hello", 2, id="bytes"),
    ],
)
def test_a_stranger_is_sent_away_with_a_reason(
    wire: Callable[..., Wire], hello: bytes, reason: str, exit_code: int
) -> None:
    stranger = wire(hello)
    shown = stranger.hear()
    assert reason in shown["error"]
    assert shown["exit_code"] == exit_code
    assert stranger.lines.readline() == b""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"no json", -32700, id="text"),
        pytest.param(b'{"jsonrpc":"2.0"}', -32600, id="no message"),
        pytest.param(b"[]", -32600, id="batch"),
        pytest.param(b'{"a":' * 50_000, -32700, id="nesting"),
        pytest.param(b"\xff\xfe\x00", -32700, id="bytes"),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(
    wire: Callable[..., Wire], line: bytes, code: int
) -> None:
    client = begun(wire())
    client.send(line + b"\n")
    assert client.hear()["error"]["code"] == code
    client.ask(1, "tools/list")
    assert client.hear()["id"] == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"\\ud800"}', -32601, id="surrogate"),
        pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"\xff"}', -32601, id="bytes"),
        pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"x","params":1}', -32600, id="params"),
        pytest.param(b'{"jsonrpc":"1.0","id":7,"method":"x"}', -32600, id="version"),
    ],
)
def test_what_is_almost_a_request_is_answered_under_its_id(
    wire: Callable[..., Wire], line: bytes, code: int
) -> None:
    """Whoever sent it waits for that answer, and for no other."""
    client = begun(wire())
    client.send(line + b"\n")
    shown = client.hear()
    assert (shown["id"], shown["error"]["code"]) == (7, code)


def test_a_huge_line_is_refused_and_others_are_served_meanwhile(wire: Callable[..., Wire]) -> None:
    greedy, modest = begun(wire()), begun(wire())
    flood = threading.Thread(target=greedy.send, args=(b"x" * (6 * LINE_BYTES) + b"\n",))
    flood.start()
    modest.ask(1, "tools/list")
    assert modest.hear()["id"] == 1
    flood.join()
    assert "longer than" in greedy.hear()["error"]["message"]


def test_half_a_line_and_a_hang_up_hurt_nobody(wire: Callable[..., Wire]) -> None:
    other = begun(wire())
    leaver = begun(wire())
    leaver.send(request(1, "tools/list")[:20])
    leaver.close()
    other.ask(1, "tools/list")
    assert other.hear()["id"] == 1


def test_a_client_that_closes_its_end_still_gets_its_answers(wire: Callable[..., Wire]) -> None:
    client = begun(wire())
    for number in range(1, 6):
        client.send(request(number, "tools/call", name="search", arguments={"query": "jwt"}))
    client.socket.shutdown(socket.SHUT_WR)
    assert sorted(json.loads(line)["id"] for line in client.lines) == [1, 2, 3, 4, 5]


def test_a_client_that_does_not_read_is_not_read_either(wire: Callable[..., Wire]) -> None:
    deaf, other = begun(wire()), begun(wire())
    deaf.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        for number in range(1, 100_000):
            deaf.send(request(number, "tools/list"))
    other.ask(1, "tools/list")
    assert other.hear()["id"] == 1


def test_a_cancelled_request_does_not_keep_a_leaving_client(wire: Callable[..., Wire]) -> None:
    client = begun(wire())
    client.send(request(1, "tools/list"))
    client.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    client.socket.shutdown(socket.SHUT_WR)
    assert client.lines.read().count(b"\n") <= 1


ANY: Any = None  # no handler of ours looks at the SDK's context


class Nothing(ResultRow):
    pass


def crash() -> ToolResult[Nothing]:
    """Crash."""
    raise RuntimeError("inside")


def refused(error: ObserverError) -> JsonRpcError:
    return JsonRpcError(code=-32603, message=f"Internal error: {error.message}", data={"type": "X"})


def missing() -> ToolResult[Nothing]:
    """Find nothing."""
    raise NotFound("nothing there")


@pytest.fixture
def face(memory: Memory) -> McpHandlers:
    tools = {"crash": Tool(run=crash, title="Crash")}
    return McpHandlers(tools, Documents(memory, str), anyio.CapacityLimiter(1), ResultPassthrough())


def test_a_crash_is_logged_and_tells_nothing_of_the_inside(
    face: McpHandlers, caplog: pytest.LogCaptureFixture
) -> None:
    params = types.CallToolRequestParams(name="crash")
    result = asyncio.run(face.call_tool(ANY, params))
    (content,) = result.content
    assert result.is_error
    assert isinstance(content, types.TextContent)
    assert content.text == "crash failed inside observer\nhint: see the daemon's log"
    assert "RuntimeError: inside" in caplog.text


def test_an_unknown_tool_is_a_protocol_error(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match="no tool 'x'"):
        asyncio.run(face.call_tool(ANY, types.CallToolRequestParams(name="x")))


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        pytest.param("missing", "Internal error: nothing there", id="refused"),
        pytest.param("crash", "Internal error: crash failed inside observer", id="unforeseen"),
    ],
)
def test_a_toolset_may_speak_json_rpc(memory: Memory, tool: str, message: str) -> None:
    tools = {run.__name__: Tool(run=run, title="", refusal=refused) for run in (missing, crash)}
    speaking = McpHandlers(
        tools, Documents(memory, str), anyio.CapacityLimiter(1), ResultPassthrough()
    )
    with pytest.raises(MCPError) as shown:
        asyncio.run(speaking.call_tool(ANY, types.CallToolRequestParams(name=tool)))
    assert (shown.value.code, shown.value.message, shown.value.data) == (
        -32603,
        message,
        {"type": "X"},
    )
    with pytest.raises(MCPError) as unknown:
        asyncio.run(speaking.call_tool(ANY, types.CallToolRequestParams(name="x")))
    assert unknown.value.code == types.METHOD_NOT_FOUND


def test_each_prompt_takes_a_project(face: McpHandlers) -> None:
    prompts = asyncio.run(face.list_prompts(ANY, None)).prompts
    assert [prompt.name for prompt in prompts] == ["resume_work", "review"]
    assert [(prompt.arguments or [])[0].name for prompt in prompts] == ["project", "project"]


def test_an_unknown_prompt_is_a_protocol_error(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match="no prompt 'x'"):
        asyncio.run(face.get_prompt(ANY, types.GetPromptRequestParams(name="x")))


def test_a_prompt_without_a_project_names_the_fix(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match=r"name one, such as .*observer status --projects"):
        asyncio.run(face.get_prompt(ANY, types.GetPromptRequestParams(name="resume_work")))


def test_nothing_is_at_hand_where_no_project_is_known(face: McpHandlers) -> None:
    assert asyncio.run(face.list_resources(ANY, None)).resources == []
