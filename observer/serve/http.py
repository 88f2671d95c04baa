"""The HTTP API: on the Unix socket, which this user alone opens, and on a port, with a `Guard`."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from observer.core.errors import BadInput, NotFound, ObserverError, StoreUnavailable
from observer.local.client import PROTOCOL
from observer.memory.api import Memory
from observer.serve import requests
from observer.serve.mcp.conversation import Conversation
from observer.serve.mcp.handlers import McpHandlers
from observer.serve.mcp.server import McpFront
from observer.serve.requests import ImportReceipt, PostReceipt
from observer.serve.worker import end

logger = logging.getLogger(__name__)

PROTOCOL_HEADER = "Observer-Protocol"
BODY_BYTES = 32 << 20  # largest request: a batch of events with their outputs

STATUS_OF = {
    "bad-input": 400,
    "past-immutable": 403,
    "rule-user-only": 403,
    "captured-user-only": 403,
    "undecodable": 400,
    "config-invalid": 400,
    "not-found": 404,
    "ambiguous": 409,
    "secret-refused": 422,
    "daemon-unavailable": 503,
    "store-unavailable": 503,
}
CODE_OF = {
    400: "bad-input",
    401: "unauthorised",
    403: "forbidden",
    404: "not-found",
    405: "bad-input",
    413: "too-large",
    421: "forbidden",
}


@dataclass(frozen=True, slots=True)
class Handlers:
    """The daemon's side of the routes; all but `stop` may block and run in threads."""

    memory: Memory
    status: Callable[[], object]
    post: Callable[[bytes], Sequence[PostReceipt]]
    take_past: Callable[[bytes], ImportReceipt]
    end_import: Callable[[], None]
    schema: Callable[[], Mapping[str, Any]]
    share: Callable[[bytes], object]
    ask: Callable[[bytes], object]
    recall: Callable[[bytes], bytes]
    commands: Callable[[bytes], bytes]
    link: Callable[[], object]
    logout: Callable[[], object]
    stop: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Guard:
    """Requires the token, a local Host and Origin; `admit` hears which address has shown it."""

    token: str
    port: int
    admit: Callable[[tuple[str, int]], None] = lambda _: None

    def refuses(self, headers: Headers) -> HTTPException | None:
        """Return the error that rejects a request, None if it is allowed."""
        # DNS rebinding: a page of a site whose name now resolves to 127.0.0.1 sends that name.
        hosts = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if headers.get("host") not in hosts:
            return HTTPException(421, "this Host is not served here")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return HTTPException(403, "this Origin may not ask")
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return HTTPException(401, "the bearer token is missing or wrong")
        return None


def app(handlers: Handlers, mcp: ASGIApp, *, guard: Guard | None = None) -> Starlette:
    """Return the application for one listener; `mcp` runs. A Unix socket needs no guard."""
    listed = [_route(each) for each in _served(handlers) if guard is None or not each.is_ours]
    # No GET: the endpoint is stateless, so there is nothing to listen to between requests.
    for path, method in (("/mcp", "POST"), ("/sse", "GET")):
        listed += [Route(path, mcp, methods=[method])]
        listed += [Route(f"{path}/{{toolset}}", mcp, methods=[method])]
    listed.append(Route("/messages", mcp, methods=["POST"]))

    errors: Any = dict.fromkeys((HTTPException, ObserverError), _refused)
    gate = Middleware(_Gate, guard=guard)
    return Starlette(routes=listed, middleware=[gate], exception_handlers=errors)


FAREWELL_S = 3  # how long a request in progress may take once the daemon stops


class Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers and ticks; it ends once `leaving` is set."""

    def __init__(self, app: ASGIApp, leaving: asyncio.Event) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=FAREWELL_S,
            )
        )
        self._leaving = leaving

    async def main_loop(self) -> None:
        """Wait until it is to leave."""
        await self._leaving.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the daemon."""
        yield


class _Served(NamedTuple):
    """What is answered to the body of a request: bytes as text, all else as JSON.

    What `is_ours` is for our command line and hooks, on the Unix socket alone. Where one that
    `writes` meets a store that cannot be written the status is 507, so that the caller keeps its
    data. What answers `at_once` runs in the event loop's thread, the others in threads.
    """

    path: str
    answer: Callable[[bytes], Any]
    method: str = "POST"
    is_ours: bool = False
    writes: bool = False
    at_once: bool = False
    status: Callable[[Any], int] = lambda _: 200


def _served(handlers: Handlers) -> list[_Served]:
    memory = handlers.memory

    def end_import(_body: bytes) -> dict[str, bool]:
        handlers.end_import()
        return {"ended": True}

    def shutdown(_body: bytes) -> dict[str, bool]:
        handlers.stop()
        return {"stopping": True}

    return [
        _Served("/status", lambda _: handlers.status(), "GET"),
        _Served("/schema/events", lambda _: handlers.schema(), "GET"),
        _Served("/events", handlers.post, writes=True),
        _Served(
            "/remember",
            partial(requests.remember, memory),
            writes=True,
            status=lambda kept: 200 if kept["updated"] else 201,
        ),
        _Served("/forget", partial(requests.forget, memory), writes=True),
        _Served("/note", partial(requests.change, memory), writes=True),
        _Served("/recall", handlers.recall),
        _Served("/ask", handlers.ask, is_ours=True),
        _Served("/commands", handlers.commands, is_ours=True),
        _Served("/given", partial(requests.give, memory), is_ours=True, writes=True),
        _Served("/sync", handlers.share, is_ours=True, writes=True),
        _Served("/web", lambda _: handlers.link(), is_ours=True, at_once=True),
        _Served("/web", lambda _: handlers.logout(), "DELETE", is_ours=True, at_once=True),
        _Served("/import", handlers.take_past, is_ours=True, writes=True),
        _Served("/import/end", end_import, is_ours=True, at_once=True),
        _Served("/shutdown", shutdown, is_ours=True, at_once=True, status=lambda _: 202),
    ]


def _route(served: _Served) -> Route:
    async def respond(request: Request) -> Response:
        body = await body_of(request)
        try:
            if served.at_once:
                said = served.answer(body)
            else:
                said = await run_in_threadpool(served.answer, body)
        except StoreUnavailable as error:
            if not served.writes:
                raise
            raise HTTPException(507, "store-unavailable") from error
        if isinstance(said, bytes):
            return Response(said, media_type="text/plain")
        return _json(said, status=served.status(said))

    return Route(served.path, respond, methods=[served.method])


class _Gate:
    """ASGI middleware: guard, limit of the body, protocol header, unexpected exceptions."""

    def __init__(self, app: ASGIApp, guard: Guard | None) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_begun = False

        async def send_labelled(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                MutableHeaders(scope=message)[PROTOCOL_HEADER] = str(PROTOCOL)
            await send(message)

        try:
            answer = self._refusal(scope) or self._app
            await answer(scope, receive, send_labelled)
        except Exception:  # the door of a front: one request fails, the daemon stays
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if not is_begun:
                failed = _error(500, ObserverError.code, "internal error", "see the daemon's log")
                await failed(scope, receive, send_labelled)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        refusal = self._guard.refuses(headers) if self._guard else None
        if self._guard and not refusal and scope.get("client"):
            self._guard.admit(tuple(scope["client"]))
        length = headers.get("content-length", "")
        if refusal is None and length.isdecimal() and int(length[:19]) > BODY_BYTES:
            refusal = _too_large()
        return _http_error(refusal) if refusal else None


async def body_of(request: Request) -> bytes:
    """Return a request's body; raise BadInput if it breaks off, or what answers 413."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > BODY_BYTES:
                raise _too_large()
            parts.append(part)
    except ClientDisconnect as error:
        raise BadInput("the client left before it had sent the body") from error
    return b"".join(parts)


def _too_large() -> HTTPException:
    return HTTPException(413, f"the body is larger than {BODY_BYTES} bytes")


async def _refused(_request: Request, error: HTTPException | ObserverError) -> Response:
    ours = error.__cause__ if isinstance(error, HTTPException) else error
    if isinstance(ours, ObserverError):
        status = getattr(error, "status_code", STATUS_OF.get(ours.code, 500))
        return _error(status, ours.code, ours.message, ours.hint)
    assert isinstance(error, HTTPException)  # noqa: S101 - the other one is ours
    return _http_error(error)


def _http_error(error: HTTPException) -> Response:
    return _error(error.status_code, CODE_OF.get(error.status_code, "error"), error.detail)


def _error(status: int, code: str, message: str, hint: str = "") -> Response:
    return _json({"error": {"code": code, "message": message, "hint": hint}}, status=status)


def _json(value: object, *, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


FOLDER_HEADER = "observer-cwd"
"""HTTP header that says, percent-encoded, which folder the client works in."""
MESSAGES = "/messages"  # where clients of server-sent events post, on the connection's own session
PING_S = 15.0
"""After so long a silence something is sent on a connection, so that nobody gives it up."""


class _Said(asyncio.Queue[bytes]):
    """What a conversation writes, line by line; an empty one at its end."""

    write = asyncio.Queue.put_nowait

    async def drain(self) -> None:
        """Return at once."""


class McpHttp:
    """The ASGI application behind `/mcp`, `/sse` (each with `/<toolset>`) and `/messages`.

    `/mcp` is stateless, so that a restart of the daemon ends no session. Host, Origin and token are
    left to whoever mounts it.
    """

    def __init__(self, front: McpFront) -> None:
        self._front = front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; `path_params` may name the toolset, or raise NotFound."""
        request = Request(scope, receive)
        is_events = request.url.path.startswith("/sse")
        if request.url.path == MESSAGES:
            answer = await self._taken(request)
        else:
            # Only the document of mem0 knows server-sent events.
            toolset = request.path_params.get("toolset", "mem0" if is_events else "core")
            folder = unquote(request.headers.get(FOLDER_HEADER, ""))
            try:
                entered = await self._front.enter(folder, toolset)
            except BadInput as error:
                raise NotFound(error.message, hint=error.hint) from error
            if is_events:
                lines = self._events(Conversation(*entered, said := _Said()), said)
                answer = StreamingResponse(lines, media_type="text/event-stream")
            else:
                answer = await _answered(entered, await body_of(request))
        await answer(scope, receive, send)

    async def _taken(self, request: Request) -> Response:
        session = request.query_params.get("session_id")
        if session is None:
            raise BadInput("the session_id is missing")
        if session not in self._front.streams:
            raise NotFound("no such session", hint="connect to /sse anew")
        self._front.streams[session].put_nowait(await body_of(request))
        return Response(status_code=202)

    async def _events(self, talk: Conversation, said: _Said) -> AsyncIterator[str]:
        session, inbox = secrets.token_hex(16), asyncio.Queue[bytes | None]()
        self._front.streams[session] = inbox
        talking = asyncio.create_task(talk.run(_lines(inbox)))
        talking.add_done_callback(lambda _: said.write(b""))
        try:
            yield f"event: endpoint\ndata: {MESSAGES}?session_id={session}\n\n"
            while True:
                try:
                    async with asyncio.timeout(PING_S):
                        line = await said.get()
                except TimeoutError:
                    yield ": ping\n\n"
                    continue
                if not line:
                    return
                yield f"event: message\ndata: {line.decode()}\n"
        finally:
            del self._front.streams[session]
            await end([talking])


async def _answered(entered: tuple[McpHandlers, str], body: bytes) -> Response:
    """Return the answer to one request, which needs no opening; none to what asks for none."""
    said, inbox = _Said(), asyncio.Queue[bytes | None]()
    inbox.put_nowait(body)
    inbox.put_nowait(None)
    await Conversation(*entered, said, is_open=True, linger_s=None).run(_lines(inbox))
    line = b"" if said.empty() else said.get_nowait()
    # What names no request is no JSON-RPC.
    status = 400 if line.startswith(b'{"jsonrpc":"2.0","id":null,') else 200 if line else 202
    return Response(line, status, media_type="application/json")


async def _lines(inbox: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes | None]:
    while (line := await inbox.get()) is not None:
        yield line
