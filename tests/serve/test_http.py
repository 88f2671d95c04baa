"""The HTTP face: what is pure through Starlette's test client, the rest under a real server."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from observer.core.errors import Ambiguous, BadInput, StoreUnavailable
from observer.core.paths import Home
from observer.local.pump import VIEW_TYPE, VIEWS
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.serve.http import (
    BODY_BYTES,
    Guard,
    Handlers,
    ImportReceipt,
    McpHttp,
    PostReceipt,
    app,
)
from observer.serve.mcp.server import McpFront
from observer.tools.registry import tools_of, toolsets
from observer.web.site import HomePages

TOKEN = "not-a-" + "real-token"
PORT = 8765
GUARD = Guard(token=TOKEN, port=PORT)
LOCAL = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}"}


class Daemon:
    """The far end of the doings: what was asked, and what to say."""

    def __init__(self) -> None:
        self.posted: list[bytes] = []
        self.failure: Exception | None = None
        self.is_stopping = False

    def status(self) -> Mapping[str, Any]:
        return {"pid": 7, "events": 3}

    def post(self, body: bytes) -> Sequence[PostReceipt]:
        if self.failure:
            raise self.failure
        self.posted.append(body)
        return (PostReceipt(id="a", stored=True), PostReceipt(id="b", stored=False))

    def take_past(self, body: bytes) -> ImportReceipt:
        return ImportReceipt(stored=len(body))

    def end_import(self) -> None:
        self.posted.append(b"the end")

    def schema(self) -> Mapping[str, Any]:
        return {"type": "object"}

    def ask(self, body: bytes) -> Mapping[str, Any]:
        if self.failure:
            raise self.failure
        return {"text": body.decode()}

    def recall(self, body: bytes) -> bytes:
        return b"known: " + body

    def stop(self) -> None:
        self.is_stopping = True


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


@pytest.fixture
def doings(daemon: Daemon, memory: Memory) -> Handlers:
    return Handlers(
        memory=memory,
        status=daemon.status,
        post=daemon.post,
        take_past=daemon.take_past,
        end_import=daemon.end_import,
        schema=daemon.schema,
        share=daemon.ask,
        ask=daemon.ask,
        recall=daemon.recall,
        commands=daemon.recall,
        link=lambda: {"logged_out": False},
        logout=lambda: {"logged_out": True},
        stop=daemon.stop,
    )


def serving(doings: Handlers, front: McpFront, guard: Guard | None = None) -> Any:
    """Return the application of a listener."""
    return app(doings, McpHttp(front), guard=guard)


@pytest.fixture
def client(doings: Handlers, memory: Memory) -> Iterator[TestClient]:
    """A client of the Unix socket, where no guard stands."""
    served = serving(doings, McpFront(memory))
    with TestClient(served, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def guarded(doings: Handlers, memory: Memory) -> Iterator[TestClient]:
    """A client of the TCP port."""
    served = serving(doings, McpFront(memory), GUARD)
    with TestClient(served, raise_server_exceptions=False) as client:
        yield client


OURS: tuple[tuple[str, str, int, Any], ...] = (
    ("POST", "/ask", 200, {"text": "why?"}),
    ("POST", "/commands", 200, b"known: why?"),
    ("POST", "/sync", 200, {"text": "why?"}),
    ("POST", "/web", 200, {"logged_out": False}),
    ("DELETE", "/web", 200, {"logged_out": True}),
    ("POST", "/import", 200, None),
    ("POST", "/import/end", 200, {"ended": True}),
    ("POST", "/given", 400, None),
    ("POST", "/shutdown", 202, {"stopping": True}),
)


def test_what_is_for_our_commands_is_answered_on_the_socket_alone(
    client: TestClient, guarded: TestClient, daemon: Daemon
) -> None:
    for method, path, _, _ in OURS:
        refused = guarded.request(method, path, content=b"why?", headers=LOCAL)
        assert refused.status_code == 404, path
    for method, path, status, said in OURS:
        assert not daemon.is_stopping
        answer = client.request(method, path, content=b"why?")
        assert answer.status_code == status, path
        if said is not None:
            assert said == (answer.content if isinstance(said, bytes) else answer.json())
    assert daemon.is_stopping


def test_what_may_be_read_is_shown(client: TestClient) -> None:
    reads = {"/status": {"pid": 7, "events": 3}, "/schema/events": {"type": "object"}}
    for path, said in reads.items():
        answer = client.get(path)
        assert (answer.status_code, answer.json()) == (200, said)
    answer = client.post("/recall", content=b"OBS1")  # which a hook prints
    assert (answer.status_code, answer.content) == (200, b"known: OBS1")
    assert answer.headers["content-length"] == "11"


def test_every_answer_is_json_and_names_the_protocol(client: TestClient) -> None:
    for path, status in (("/status", 200), ("/nowhere", 404), ("/mcp", 405), ("/forget", 405)):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Observer-Protocol"]) == (status, "1")
        if status != 200:
            assert set(answer.json()["error"]) == {"code", "message", "hint"}


def test_posted_events_get_a_receipt_each(client: TestClient, daemon: Daemon) -> None:
    answer = client.post("/events", content=b"[{}, {}]")
    assert answer.json() == [{"id": "a", "stored": True}, {"id": "b", "stored": False}]
    assert daemon.posted == [b"[{}, {}]"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (BadInput("no event", hint="see /schema/events"), 400, "bad-input"),
        (StoreUnavailable("disk full", hint="free some space"), 507, "store-unavailable"),
        (Ambiguous("two fit", hint="a, b"), 409, "ambiguous"),
        (RuntimeError("inside"), 500, ""),
    ],
)
def test_an_error_has_a_code_a_message_and_a_hint(
    client: TestClient,
    daemon: Daemon,
    failure: Any,
    status: int,
    code: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is none of ours is logged, and shows nothing of the inside."""
    daemon.failure = failure
    answer = client.post("/events", content=b"{}")
    assert answer.headers["Observer-Protocol"] == "1"
    if not code:
        assert (answer.status_code, answer.json()["error"]["message"]) == (500, "internal error")
        assert "inside" in caplog.text
        return
    shown = {"code": code, "message": failure.message, "hint": failure.hint}
    assert (answer.status_code, answer.json()) == (status, {"error": shown})
    reading = 503 if status == 507 else status  # nothing waits to be written
    assert client.post("/ask", content=b"{}").status_code == reading


@pytest.mark.parametrize("is_shown", [True, False], ids=["declared", "streamed"])
def test_a_body_over_the_limit_is_refused(client: TestClient, is_shown: bool) -> None:
    block = b"x" * (1 << 20)
    parts = (block for _ in range(BODY_BYTES // len(block) + 1))
    content: Any = b"".join(parts) if is_shown else parts
    assert client.post("/events", content=content).status_code == 413


# --- notes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "is_known", "hint"),
    [
        pytest.param("decison", False, "did you mean decision?", id="misspelled"),
        pytest.param("zebra", False, "one of: constraint, rule, decision", id="unlike-any"),
        pytest.param("General!", True, "", id="by-another-name"),
        pytest.param("playbook", True, "", id="of-a-note-that-is-there"),
    ],
)
def test_a_type_that_no_note_has_is_refused(
    client: TestClient, memory: Memory, name: str, hint: str, *, is_known: bool
) -> None:
    kept = memory.notes.remember(Note(content="Ask first", type="playbook"), project="my-api")
    body = {"content": "Use JWT", "project": "my-api", "type": name}
    edit = {"action": "edit", "id": kept.item.id, "changes": {"type": name, "content": "Ask"}}
    for answer in (client.post("/remember", json=body), client.post("/note", json=edit)):
        assert answer.is_success is is_known
        assert hint in answer.text


def test_a_note_is_remembered_and_forgotten(client: TestClient) -> None:
    note = {"content": "tabs, not spaces", "project": "my-api", "type": "preference"}
    kept = client.post("/remember", json=note)
    assert kept.status_code == 201
    again = client.post("/remember", json=note)
    assert (again.status_code, again.json()["id"]) == (200, kept.json()["id"])
    gone = client.post("/forget", json={"id": kept.json()["id"]})
    assert gone.json() == {"id": kept.json()["id"], "deleted": True}
    assert client.post("/forget", json={"id": kept.json()["id"]}).status_code == 404


def test_a_wrong_body_is_refused(client: TestClient) -> None:
    for path, body, status in (
        ("/remember", b"{}", 400),
        ("/remember", b'{"content":"x","colour":"red"}', 400),
        ("/remember", b'{"content":"x","project":"nowhere"}', 404),
        ("/remember", b'{"content":"x","scope":"world"}', 400),
        ("/remember", b"[" * 100_000, 400),
        ("/remember", b"\xff", 400),
        ("/remember", b'{"content":"gh%s"}' % (b"p_" + b"a1B2" * 9), 422),
        ("/forget", b'{"id":"x"}', 404),
        ("/forget", b"", 400),
    ):
        answer = client.post(path, content=body)
        assert answer.status_code == status, body[:40]
        assert "a1B2" not in answer.text  # a secret


# --- the two listeners ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 401, id="no token"),
        pytest.param({"authorization": "Bearer x"}, 401, id="wrong token"),
        pytest.param({"authorization": "Bearer é".encode()}, 401, id="odd token"),
        pytest.param({"host": f"evil.example:{PORT}"}, 421, id="rebound name"),
        pytest.param({"host": "127.0.0.1:1"}, 421, id="another port"),
        pytest.param({"origin": "https://evil.example"}, 403, id="foreign page"),
        pytest.param({"origin": "null"}, 403, id="sandboxed page"),
    ],
)
def test_tcp_lets_nobody_in_without_the_token_or_from_elsewhere(
    guarded: TestClient, headers: dict[str, Any], status: int
) -> None:
    given = dict(LOCAL)
    if status == 401:
        del given["authorization"]
    for path in ("/status", "/mcp", "/nowhere"):
        answer = guarded.get(path, headers=given | headers)
        assert answer.status_code == status
        assert answer.headers["Observer-Protocol"] == "1"


def test_tcp_lets_in_who_has_the_token(guarded: TestClient) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        headers = LOCAL | {"host": f"{host}:{PORT}", "origin": f"http://{host}:{PORT}"}
        assert guarded.get("/status", headers=headers).status_code == 200


# --- MCP -----------------------------------------------------------------------------------------


def rpc(client: TestClient, path: str = "/mcp", **headers: str) -> Any:
    call = {"name": "get_context", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"accept": "application/json, text/event-stream"}
    return client.post(path, json=body, headers=accept | headers)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/core"])
def test_a_tool_is_called_with_a_bare_request(client: TestClient, path: str, tmp_path: Any) -> None:
    answer = rpc(client, path, **{"observer-cwd": str(tmp_path / "my-api")})
    assert answer.json()["result"]["structuredContent"]["project"] == "my-api"
    assert rpc(client).json()["result"]["isError"]  # it knows nothing of the folder of another


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        pytest.param("/mcp/nothing", b"{}", 404, "not-found", id="no-toolset"),
        pytest.param("/mcp", b"no json", 400, -32700, id="no-json"),
        pytest.param("/mcp", b"[]", 400, -32600, id="a-batch"),
        pytest.param("/mcp", b'{"jsonrpc":"2.0","id":1,"method":"x"}', 200, -32601, id="no-method"),
        pytest.param("/mcp", b'{"jsonrpc":"2.0","method":"x"}', 202, None, id="a-notification"),
    ],
)
def test_what_calls_no_tool_is_answered(
    client: TestClient, path: str, body: bytes, status: int, code: object
) -> None:
    answer = client.post(path, content=body)
    assert answer.status_code == status
    assert (answer.json()["error"]["code"] if answer.content else None) == code


def test_several_toolsets_have_an_address_together(client: TestClient, memory: Memory) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = client.post("/mcp/core,mem0", json=body).json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(tools_of(("core", "mem0"), memory, str))


def test_a_note_is_changed_linked_and_taken_back(client: TestClient) -> None:
    old = client.post("/remember", json={"content": "Use cookies", "project": "my-api"}).json()[
        "id"
    ]
    new = client.post("/remember", json={"content": "Use JWT", "project": "my-api"}).json()["id"]

    def ask(action: str, **more: Any) -> Any:
        return client.post("/note", json={"action": action, "id": new, **more})

    assert ask("edit", changes={"tags": ["auth"]}).json()["tags"] == ["auth"]
    assert ask("link", target=old, kind="supersedes").status_code == 200
    assert ask("unlink", target=old).status_code == 200
    assert ask("undo").json()["tags"] == ["auth"]
    assert ask("approve", author="person").json()["approval"] == "approved"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"action": "approve", "id": 1}, 403, id="an agent approves"),
        pytest.param({"action": "undo", "id": 999_999}, 404, id="unknown"),
        pytest.param({"action": "undo", "id": "jwt stateless"}, 409, id="vague"),
        pytest.param({"action": "edit", "id": 52, "changes": {"content": "x"}}, 403, id="the past"),
        pytest.param({"action": "edit", "id": 52, "changes": {"colour": 1}}, 400, id="no field"),
        pytest.param({"action": "burn", "id": 52}, 400, id="no action"),
    ],
)
def test_a_change_that_is_not_allowed_is_refused(
    client: TestClient, memory: Memory, body: dict[str, Any], status: int
) -> None:
    kept = memory.notes.remember(Note(content="JWT, stateless", type="decision"), project="my-api")
    if body["id"] == 52:
        body = body | {"id": kept.item.id}
    assert client.post("/note", json=body).status_code == status


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
def listen(doings: Handlers, memory: Memory, home: Home) -> Callable[..., Listener]:
    def open_one(door: socket.socket, guard: Guard | None = None) -> Listener:
        front = McpFront(memory, view_of=HomePages(home).view)
        door.listen()
        return Listener(serving(doings, front, guard), door)

    return open_one


def asked(path: str, listen: Callable[..., Listener], ask: Any, **headers: str) -> Any:
    """Return what a client of the SDK is answered at a port, with the token."""

    async def talk(port: int) -> Any:
        url = f"http://127.0.0.1:{port}{path}"
        async with (
            asyncio.timeout(30),
            httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}", **headers}) as web,
            Client(streamable_http_client(url, http_client=web), mode=mode) as client,
        ):
            return await ask(client)

    mode = headers.pop("mode", "auto")
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        with closing(listen(door, Guard(token=TOKEN, port=port))):
            return asyncio.run(talk(port))


@pytest.mark.parametrize("toolset", toolsets())
def test_every_toolset_has_an_address(
    listen: Callable[..., Listener], memory: Memory, toolset: str
) -> None:
    listed = asked(f"/mcp/{toolset}", listen, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == list(tools_of((toolset,), memory, str))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
def test_a_client_with_the_token_calls_tools_over_tcp(
    listen: Callable[..., Listener], mode: str, tmp_path: Path
) -> None:
    headers = {"observer-cwd": str(tmp_path / "my-api"), "mode": mode}
    found = asked("/mcp", listen, lambda client: client.call_tool("get_context", {}), **headers)
    assert found.structured_content["project"] == "my-api"


@pytest.mark.parametrize(("mode", "linked"), [("legacy", []), ("auto", ["search", "timeline"])])
def test_a_view_is_read_over_http_by_who_describes_itself_in_each_request(
    listen: Callable[..., Listener], mode: str, linked: list[str]
) -> None:
    async def ask(url: str) -> tuple[list[str], Any]:
        declared = [advertise(VIEWS, {"mimeTypes": [VIEW_TYPE]})]
        async with (
            asyncio.timeout(30),
            Client(streamable_http_client(url), mode=mode, extensions=declared) as client,
        ):
            tools = (await client.list_tools()).tools
            page = await client.read_resource("ui://observer/search")
            return [tool.name for tool in tools if "ui" in (tool.meta or {})], page.contents[0]

    with socket.create_server(("127.0.0.1", 0)) as door, closing(listen(door)):
        found, page = asyncio.run(ask(f"http://127.0.0.1:{door.getsockname()[1]}/mcp"))
    assert found[:2] == linked
    assert page.mime_type == VIEW_TYPE
