"""The HTTP API: events and notes in, status out, MCP mounted.

The same routes are served on the daemon's Unix socket, which only this user can open, and on a
loopback port, where a `Guard` requires the token and rejects web pages. Answers are JSON and name
the protocol; an error is ``{"error": {"code", "message", "hint"}}``.

`/ask`, `/commands`, `/given`, `/recall`, `/sync`, `/web` and `/shutdown` are for our own command
line and hooks, and may change; `/mcp` has a protocol of its own.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from observer.core.errors import BadInput, ObserverError, StoreUnavailable
from observer.memory.api import Memory
from observer.serve import note_requests
from observer.serve.requests import ImportReceipt, PostReceipt

logger = logging.getLogger(__name__)

PROTOCOL = 1
PROTOCOL_HEADER = "Observer-Protocol"
BODY_BYTES = 32 << 20
"""Largest request: a batch of events with their outputs."""

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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Handlers:
    """The daemon's side of the routes; all but `stop` may block and run in threads.

    Args:
        status: returns a value that becomes the answer of GET /status.
        post: takes the JSON of POST /events, returns a receipt each, after the commit.
        take_past: takes the events of POST /import, returns what became of them, after the commit.
        end_import: notes that all events of an import have come.
        schema: returns the JSON Schema of POST /events.
        share: takes the JSON of POST /sync, returns what became of it.
        ask: takes the JSON of POST /ask, a question of the command line, returns its answer.
        recall: takes the envelope of `hooks/recall`, returns what the hook prints, mostly nothing.
        commands: takes the question of `hooks/pick`, returns the commands that it offers.
        web: returns the link that opens the pages; with True, lets no browser look any more.
        stop: asks the daemon to drain and exit; returns at once.
    """

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
    web: Callable[[bool], Mapping[str, object]]
    stop: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Guard:
    """Access control of a TCP port: requests need the token and a local Host and Origin.

    `admit` is called with the address of a connection that has shown the token.
    """

    token: str
    port: int
    admit: Callable[[tuple[str, int]], None] = lambda _: None

    def refuses(self, headers: Headers) -> HTTPException | None:
        """Return the error that rejects a request, None if it is allowed."""
        # DNS rebinding: a page of a site whose name now resolves to 127.0.0.1 sends that name.
        if headers.get("host") not in self._hosts():
            return HTTPException(421, "this Host is not served here")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts()}:
            return HTTPException(403, "this Origin may not ask")
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return HTTPException(401, "the bearer token is missing or wrong")
        return None

    def _hosts(self) -> set[str]:
        return {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}


class Mounted(Protocol):
    """The MCP endpoint, an ASGI application with a lifetime."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve inside the block."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer one request."""


def app(handlers: Handlers, mcp: Mounted, *, guard: Guard | None = None) -> Starlette:
    """Return the application for one listener; a Unix socket needs no guard."""
    routes = _Routes(handlers)
    listed = [
        Route("/status", routes.status, methods=["GET"]),
        Route("/events", routes.post_events, methods=["POST"]),
        Route("/schema/events", routes.schema, methods=["GET"]),
        Route("/remember", routes.remember, methods=["POST"]),
        Route("/forget", routes.forget, methods=["POST"]),
        Route("/note", routes.note, methods=["POST"]),
        Route("/recall", routes.recall, methods=["POST"]),
        # No GET: the endpoint is stateless, so there is nothing to listen to between requests.
        Route("/mcp", mcp, methods=["POST"]),
        Route("/mcp/{toolset}", mcp, methods=["POST"]),
        Route("/sse", mcp, methods=["GET"]),
        Route("/sse/{toolset}", mcp, methods=["GET"]),
        Route("/messages", mcp, methods=["POST"]),
    ]
    if guard is None:
        listed.append(Route("/ask", routes.ask, methods=["POST"]))
        listed.append(Route("/commands", routes.commands, methods=["POST"]))
        listed.append(Route("/given", routes.given, methods=["POST"]))
        listed.append(Route("/sync", routes.share, methods=["POST"]))
        listed.append(Route("/web", routes.web, methods=["POST", "DELETE"]))
        listed.append(Route("/import", routes.import_events, methods=["POST"]))
        listed.append(Route("/import/end", routes.end_import, methods=["POST"]))
        listed.append(Route("/shutdown", routes.shutdown, methods=["POST"]))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    errors: dict[Any, Any] = {  # starlette's own type is narrower than what it takes
        HTTPException: _refused,
        ObserverError: _failed,
    }
    gate = Middleware(_Gate, guard=guard)
    return Starlette(routes=listed, middleware=[gate], exception_handlers=errors, lifespan=lifespan)


FAREWELL_S = 3
"""How long a request in progress may take once the daemon stops."""


class Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers and its ten ticks a second.

    Args:
        app: the ASGI application.
        leaving: set when it is to accept no more requests, finish those in progress, and end.
    """

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


class _Routes:
    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    async def status(self, _request: Request) -> Response:
        return _json(await run_in_threadpool(self._handlers.status))

    async def schema(self, _request: Request) -> Response:
        return _json(await run_in_threadpool(self._handlers.schema))

    async def post_events(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(self._handlers.post, body)))

    async def import_events(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(self._handlers.take_past, body)))

    async def end_import(self, _request: Request) -> Response:
        self._handlers.end_import()
        return _json({"ended": True})

    async def remember(self, request: Request) -> Response:
        body = await _body(request)
        kept = await _written(partial(note_requests.remember, self._handlers.memory, body))
        return _json(kept, status=200 if kept["updated"] else 201)

    async def forget(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(note_requests.forget, self._handlers.memory, body)))

    async def note(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(note_requests.change, self._handlers.memory, body)))

    async def given(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(note_requests.give, self._handlers.memory, body)))

    async def recall(self, request: Request) -> Response:
        body = await _body(request)
        printed = await run_in_threadpool(self._handlers.recall, body)
        return Response(printed, media_type="text/plain")

    async def commands(self, request: Request) -> Response:
        body = await _body(request)
        found = await run_in_threadpool(self._handlers.commands, body)
        return Response(found, media_type="text/plain")

    async def share(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await _written(partial(self._handlers.share, body)))

    async def web(self, request: Request) -> Response:
        return _json(self._handlers.web(request.method == "DELETE"))

    async def ask(self, request: Request) -> Response:
        body = await _body(request)
        return _json(await run_in_threadpool(self._handlers.ask, body))

    async def shutdown(self, _request: Request) -> Response:
        self._handlers.stop()
        return _json({"stopping": True}, status=202)


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
                error = ObserverError("internal error", hint="see the daemon's log")
                await _error(error, status=500)(scope, receive, send_labelled)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        refusal = self._guard.refuses(headers) if self._guard else None
        if self._guard and not refusal and scope.get("client"):
            self._guard.admit(tuple(scope["client"]))
        length = headers.get("content-length", "")
        if refusal is None and length.isdecimal() and int(length[:19]) > BODY_BYTES:
            refusal = _too_large()
        return _http_error(refusal) if refusal else None


async def _body(request: Request) -> bytes:
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


async def _written(work: Callable[[], T]) -> T:
    """Run a write; answer 507 if the store cannot write, so that the caller keeps its data."""
    try:
        return await run_in_threadpool(work)
    except StoreUnavailable as error:
        raise HTTPException(507, "store-unavailable") from error


def _too_large() -> HTTPException:
    return HTTPException(413, f"the body is larger than {BODY_BYTES} bytes")


async def _refused(_request: Request, error: HTTPException) -> Response:
    if isinstance(error.__cause__, ObserverError):
        return _error(error.__cause__, status=error.status_code)
    return _http_error(error)


async def _failed(_request: Request, error: ObserverError) -> Response:
    return _error(error, status=STATUS_OF.get(error.code, 500))


def _http_error(error: HTTPException) -> Response:
    status = error.status_code
    problem = {"code": CODE_OF.get(status, "error"), "message": error.detail, "hint": ""}
    return _json({"error": problem}, status=status)


def _error(error: ObserverError, *, status: int) -> Response:
    problem = {"code": error.code, "message": error.message, "hint": error.hint}
    return _json({"error": problem}, status=status)


def _json(value: object, *, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
