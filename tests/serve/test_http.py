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
from observer.serve.http import BODY_BYTES, Guard, Handlers, ImportReceipt, PostReceipt, app
from observer.serve.mcp.http import McpHttp
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


@pytest.fixture
def client(doings: Handlers, memory: Memory) -> Iterator[TestClient]:
    """A client of the Unix socket, where no guard stands."""
    served = app(doings, McpHttp(McpFront(memory)))
    with TestClient(served, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def guarded(doings: Handlers, memory: Memory) -> Iterator[TestClient]:
    """A client of the TCP port."""
    served = app(doings, McpHttp(McpFront(memory)), guard=GUARD)
    with TestClient(served, raise_server_exceptions=False) as client:
        yield client


def test_a_hook_is_shown_what_to_print(client: TestClient) -> None:
    answer = client.post("/recall", content=b"OBS1")
    assert (answer.status_code, answer.content) == (200, b"known: OBS1")
    assert answer.headers["content-length"] == "11"


def test_a_question_is_answered_on_the_socket_alone(
    client: TestClient, guarded: TestClient
) -> None:
    assert client.post("/ask", content=b"why?").json() == {"text": "why?"}
    assert guarded.post("/ask", content=b"why?", headers=LOCAL).status_code == 404


def test_links_to_the_pages_are_for_the_socket_alone(
    client: TestClient, guarded: TestClient
) -> None:
    assert client.post("/web").json() == {"logged_out": False}
    assert client.delete("/web").json() == {"logged_out": True}
    assert guarded.post("/web", headers=LOCAL).status_code == 404


def test_an_import_comes_through_the_socket_only(client: TestClient, guarded: TestClient) -> None:
    assert client.post("/import", content=b"[]").json()["stored"] == 2
    assert client.post("/import/end").json() == {"ended": True}
    for path in ("/import", "/import/end"):
        assert guarded.post(path, content=b"[]", headers=LOCAL).status_code == 404


def test_status_is_shown(client: TestClient) -> None:
    answer = client.get("/status")
    assert (answer.status_code, answer.json()) == (200, {"pid": 7, "events": 3})


def test_the_schema_of_events_is_shown(client: TestClient) -> None:
    assert client.get("/schema/events").json() == {"type": "object"}


@pytest.mark.parametrize("path", ["/status", "/nowhere", "/mcp", "/forget"])
def test_every_answer_names_the_protocol(client: TestClient, path: str) -> None:
    assert client.get(path).headers["Observer-Protocol"] == "1"


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
    ],
)
def test_an_error_has_a_code_a_message_and_a_hint(
    client: TestClient, daemon: Daemon, failure: Any, status: int, code: str
) -> None:
    daemon.failure = failure
    answer = client.post("/events", content=b"{}")
    shown = {"code": code, "message": failure.message, "hint": failure.hint}
    assert (answer.status_code, answer.json()) == (status, {"error": shown})


def test_a_crash_tells_nothing_of_the_inside(
    client: TestClient, daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    daemon.failure = RuntimeError("inside")
    answer = client.post("/events", content=b"{}")
    assert (answer.status_code, answer.json()["error"]["message"]) == (500, "internal error")
    assert answer.headers["Observer-Protocol"] == "1"
    assert "inside" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "/events", 405)]
)
def test_a_wrong_address_is_a_json_error(
    client: TestClient, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


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


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/remember", b"{}", 400),
        ("/remember", b'{"content":"x","colour":"red"}', 400),
        ("/remember", b'{"content":"x","project":"nowhere"}', 404),
        ("/remember", b'{"content":"x","scope":"world"}', 400),
        ("/remember", b"[" * 100_000, 400),
        ("/remember", b"\xff", 400),
        ("/forget", b'{"id":"x"}', 404),
        ("/forget", b"", 400),
    ],
)
def test_a_wrong_body_is_refused(client: TestClient, path: str, body: bytes, status: int) -> None:
    assert client.post(path, content=body).status_code == status


def test_a_secret_is_refused(client: TestClient) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    answer = client.post("/remember", json={"content": secret})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "secret-refused")
    assert secret not in answer.text


# --- the two listeners ---------------------------------------------------------------------------


def test_the_daemon_is_stopped_over_the_unix_socket(client: TestClient, daemon: Daemon) -> None:
    assert client.post("/shutdown").status_code == 202
    assert daemon.is_stopping


def test_the_daemon_is_not_stopped_over_tcp(guarded: TestClient, daemon: Daemon) -> None:
    assert guarded.post("/shutdown", headers=LOCAL).status_code == 404
    assert not daemon.is_stopping


@pytest.mark.parametrize("path", ["/status", "/mcp", "/nowhere"])
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
    guarded: TestClient, path: str, headers: dict[str, Any], status: int
) -> None:
    given = dict(LOCAL)
    if status == 401:
        del given["authorization"]
    answer = guarded.get(path, headers=given | headers)
    assert answer.status_code == status
    assert answer.headers["Observer-Protocol"] == "1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_tcp_lets_in_who_has_the_token(guarded: TestClient, host: str) -> None:
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


def test_a_request_knows_nothing_of_the_folder_of_another(
    client: TestClient, tmp_path: Any
) -> None:
    rpc(client, **{"observer-cwd": str(tmp_path / "my-api")})
    assert rpc(client).json()["result"]["isError"]


def test_an_unknown_toolset_is_not_found(client: TestClient) -> None:
    assert rpc(client, "/mcp/nothing").status_code == 404


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
def listen(memory: Memory, home: Home) -> Callable[..., Listener]:
    def open_one(door: socket.socket, guard: Guard | None = None) -> Listener:
        doings = Handlers(
            memory=memory,
            status=dict,
            post=lambda _: (),
            take_past=lambda _: ImportReceipt(),
            end_import=lambda: None,
            schema=dict,
            share=lambda _: {},
            ask=lambda _: {},
            recall=lambda _: b"",
            commands=lambda _: b"",
            link=dict,
            logout=dict,
            stop=lambda: None,
        )
        front = McpFront(memory, view_of=HomePages(home).view)
        served = app(doings, McpHttp(front), guard=guard)
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
