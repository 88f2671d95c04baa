"""What a client may do to a connection without hurting anybody else, and what it is offered."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mcp.types import version

from observer.core.errors import NotFound, ObserverError
from observer.core.paths import Home
from observer.local.journal import LINE_BYTES
from observer.local.pump import VERSION
from observer.memory.api import Memory
from observer.serve.mcp import conversation
from observer.serve.mcp.handlers import METHOD_NOT_FOUND, CallThreads, McpHandlers, RequestRefused
from observer.tools.documents import Documents
from observer.tools.tool import JsonRpcError, Tool, ToolResult
from tests.tools.conftest import NOBODY

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


def test_a_result_is_text_and_typed_in_every_version(wire: Callable[..., Wire]) -> None:
    for spoken in ("2024-11-05", "2025-06-18", "2025-11-25"):
        one = wire()
        one.send(request(0, "initialize", version=spoken))
        assert one.hear()["result"]["protocolVersion"] == spoken
        one.send(request(1, "tools/call", name="search", arguments={"query": "jwt"}))
        result = one.hear()["result"]
        assert result["content"][0]["text"]
        assert result["structuredContent"]["observations"]
        one.send(request(2, "tools/call", name="get_observations", arguments={"ids": [2**53 - 1]}))
        assert one.hear()["result"]["structuredContent"]["missing_ids"] == [2**53 - 1]


def test_answers_to_calls_made_at_once_are_not_mixed_up(wire: Callable[..., Wire]) -> None:
    one = begun(wire())
    depths = range(1, 9)
    for depth in depths:
        arguments = {"project": "my-api", "token_budget": 1_000 + depth}
        one.send(request(depth, "tools/call", name="get_context", arguments=arguments))
    answers = [one.hear() for _ in depths]
    for each in answers:
        assert each["result"]["structuredContent"]["tokenBudget"] == 1_000 + each["id"]


def test_a_stranger_is_sent_away_with_a_reason(wire: Callable[..., Wire]) -> None:
    for hello, reason, exit_code in (
        (b'{"observer":2}\n', "speaks protocol 1, not 2", 4),
        (b'{"observer":1,"tools":"x"}\n', "no toolset 'x'", 2),
        (b'{"observer":1,"tools":","}\n', "no toolset named", 2),
        (b"GET / HTTP/1.1\n", "not a hello", 2),
        (b"[" * 100_000 + b"\n", "not a hello", 2),
        (b"\xff\x00\n", "not a hello", 2),
    ):
        stranger = wire(hello)
        shown = stranger.hear()
        assert reason in shown["error"]
        assert shown["exit_code"] == exit_code
        assert stranger.lines.readline() == b""


NO_MESSAGES: tuple[tuple[bytes, int | None, int], ...] = (
    (b"no json", None, -32700),
    (b'{"jsonrpc":"2.0"}', None, -32600),
    (b"[]", None, -32600),
    (b'{"a":' * 50_000, None, -32700),
    (b"\xff\xfe\x00", None, -32700),
    (b'{"jsonrpc":"2.0","id":7,"method":"\\ud800"}', 7, -32601),
    (b'{"jsonrpc":"2.0","id":7,"method":"\xff"}', 7, -32601),
    (b'{"jsonrpc":"2.0","id":7,"method":"x","params":1}', 7, -32600),
    (b'{"jsonrpc":"1.0","id":7,"method":"x"}', 7, -32600),
    *(
        (b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % none, None, -32600)
        for none in (b"null", b"true", b"1.5", b"[]", b"{}")
    ),
)


def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(
    wire: Callable[..., Wire],
) -> None:
    """What is almost a request under its id, for whoever sent it waits for that answer."""
    client = begun(wire())
    client.send(b'{"jsonrpc":"2.0","id":7,"result":{}}\n{"jsonrpc":"2.0","error":{}}\n')  # ignored
    for line, identifier, code in NO_MESSAGES:
        client.send(line + b"\n")
        shown = client.hear()
        assert (shown["id"], shown["error"]["code"]) == (identifier, code), line[:60]
        client.ask(1, "tools/list")
        assert client.hear()["id"] == 1


def test_a_huge_line_is_refused_and_others_are_served_meanwhile(wire: Callable[..., Wire]) -> None:
    greedy, modest, leaver = begun(wire()), begun(wire()), begun(wire())
    leaver.send(request(1, "tools/list")[:20])  # half a line and a hang up hurt nobody
    leaver.close()
    flood = threading.Thread(target=greedy.send, args=(b"x" * (6 * LINE_BYTES) + b"\n",))
    flood.start()
    modest.ask(1, "tools/list")
    assert modest.hear()["id"] == 1
    flood.join()
    assert "longer than" in greedy.hear()["error"]["message"]


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


def crash() -> ToolResult:
    """Crash."""
    raise RuntimeError("inside")


def refused(error: ObserverError) -> JsonRpcError:
    return JsonRpcError(code=-32603, message=f"Internal error: {error.message}", data={"type": "X"})


def missing() -> ToolResult:
    """Find nothing."""
    raise NotFound("nothing there")


@pytest.fixture
def face(memory: Memory) -> McpHandlers:
    tools = {"crash": Tool(run=crash, title="Crash")}
    return McpHandlers(tools, Documents(memory, str), CallThreads(1))


def answered(face: McpHandlers, method: str, **params: Any) -> Any:
    return asyncio.run(face.answer(method, params, NOBODY))


def test_a_crash_is_logged_and_tells_nothing_of_the_inside(
    face: McpHandlers, caplog: pytest.LogCaptureFixture
) -> None:
    result = answered(face, "tools/call", name="crash")
    (content,) = result["content"]
    assert result["isError"]
    assert content["text"] == "crash failed inside observer\nhint: see the daemon's log"
    assert "RuntimeError: inside" in caplog.text


@pytest.mark.parametrize(
    ("method", "name", "said"),
    [
        ("tools/call", "x", "no tool 'x'"),
        ("prompts/get", "x", "no prompt 'x'"),
        ("prompts/get", "resume_work", r"name one, such as .*observer status --projects"),
    ],
)
def test_what_is_not_known_is_a_protocol_error(
    face: McpHandlers, method: str, name: str, said: str
) -> None:
    with pytest.raises(RequestRefused, match=said):
        answered(face, method, name=name)
    assert answered(face, "resources/list") == {"resources": []}


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        pytest.param("missing", "Internal error: nothing there", id="refused"),
        pytest.param("crash", "Internal error: crash failed inside observer", id="unforeseen"),
    ],
)
def test_a_toolset_may_speak_json_rpc(memory: Memory, tool: str, message: str) -> None:
    tools = {run.__name__: Tool(run=run, title="", refusal=refused) for run in (missing, crash)}
    speaking = McpHandlers(tools, Documents(memory, str), CallThreads(1))
    with pytest.raises(RequestRefused) as shown:
        answered(speaking, "tools/call", name=tool)
    said = (shown.value.code, shown.value.message, shown.value.data)
    assert said == (-32603, message, {"type": "X"})
    with pytest.raises(RequestRefused) as unknown:
        answered(speaking, "tools/call", name="x")
    assert unknown.value.code == METHOD_NOT_FOUND


def test_each_prompt_takes_a_project(face: McpHandlers) -> None:
    prompts = answered(face, "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["resume_work", "review"]
    assert [prompt["arguments"][0]["name"] for prompt in prompts] == ["project", "project"]


def test_the_versions_are_those_of_the_sdk() -> None:
    assert conversation.HANDSHAKE_VERSIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert conversation.MODERN_VERSIONS == version.MODERN_PROTOCOL_VERSIONS


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_each_request_of_the_modern_era_describes_its_client(wire: Callable[..., Wire]) -> None:
    client = wire()
    client.send(request(1, "tools/list", _meta=MODERN))
    assert client.hear()["result"]["resultType"] == "complete"
    for meta, code in (
        ({}, -32602),  # no version
        ({**MODERN, VERSION: "2027-01-01"}, -32022),
        ({VERSION: "2026-07-28"}, -32602),  # no capabilities
        ({**MODERN, VERSION: 3}, -32602),
    ):
        client.send(request(2, "tools/list", _meta=meta))
        assert client.hear()["error"]["code"] == code


def test_the_first_request_decides_the_era_and_an_opening_comes_first(
    wire: Callable[..., Wire],
) -> None:
    modern, older = wire(), begun(wire())
    modern.send(request(1, "ping", _meta=MODERN))
    assert modern.hear()["error"]["code"] == -32601
    modern.ask(2)
    assert modern.hear()["error"]["code"] == -32022
    older.send(request(3, "tools/list", _meta=MODERN))
    assert older.hear()["error"]["code"] == -32600
    early = wire()
    early.ask(1, "ping")
    assert early.hear()["result"] == {}
    early.ask(2, "tools/list")
    assert early.hear()["error"]["code"] == -32602


class Slow:
    """A tool that waits until it is let go, and how often it ran."""

    def __init__(self) -> None:
        self.ran, self.begun, self.go = 0, threading.Event(), threading.Event()

    def wait(self) -> ToolResult:
        """Wait."""
        self.ran += 1
        self.begun.set()
        assert self.go.wait(10)
        return ToolResult("done", {})


class Stream(Wire):
    """A connection to handlers of a test."""

    def __init__(self, memory: Memory, tool: Any, documents: Documents | None = None) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(20)
        self.socket, self.lines = ours, ours.makefile("rb")
        tools = {"wait": Tool(run=tool, title="")}
        documents = documents or Documents(memory, str)
        self._handlers = McpHandlers(tools, documents, CallThreads(1))
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(theirs),))
        self._thread.start()

    async def _serve(self, theirs: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        await conversation.Conversation(self._handlers, "", writer).run(
            conversation.LineReader(reader)
        )
        writer.close()
        self.tasks_left = len(asyncio.all_tasks()) - 1

    def close(self) -> None:
        super().close()
        self._thread.join(10)
        assert not self._thread.is_alive()


@pytest.fixture
def slow(memory: Memory) -> Iterator[tuple[Slow, Stream]]:
    tool = Slow()
    stream = Stream(memory, tool.wait)
    yield tool, stream
    tool.go.set()
    stream.close()


def cancelled(identifier: object) -> bytes:
    params = {"requestId": identifier, "reason": "enough"}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    return json.dumps(message).encode() + b"\n"


def test_a_cancelled_request_stops_and_is_not_answered(slow: tuple[Slow, Stream]) -> None:
    tool, stream = slow
    begun(stream)
    for number in (1, "2"):
        stream.send(request(number, "tools/call", name="wait"))
    assert tool.begun.wait(10)
    stream.send(cancelled(1) + cancelled(2))
    for number in (2, 3):  # once the second is answered, the event loop has been round
        stream.ask(number, "ping")
        assert stream.hear()["id"] == number
    tool.go.set()
    stream.send(request(4, "tools/call", name="wait"))
    assert stream.hear()["id"] == 4
    assert tool.ran == 2  # the second one had not begun


def test_a_client_that_dies_leaves_nothing_behind(slow: tuple[Slow, Stream]) -> None:
    tool, stream = slow
    begun(stream)
    stream.send(request(1, "tools/call", name="wait"))
    assert tool.begun.wait(10)
    stream.close()
    assert stream.tasks_left == 0


class Broken(Documents):
    """Documents that cannot be listed."""

    def suggested(self) -> Any:
        raise RuntimeError("inside")


def test_what_fails_inside_is_an_internal_error(memory: Memory) -> None:
    stream = begun(Stream(memory, crash, Broken(memory, str)))
    stream.ask(1, "resources/list")
    assert stream.hear()["error"] == {"code": -32603, "message": "Internal server error"}
    stream.close()
