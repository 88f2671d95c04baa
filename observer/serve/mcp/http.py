"""MCP over HTTP: requests through the SDK's transports and types to the one set of handlers.

Imported once somebody asks for it: the SDK takes half a second of processor time and 60 MiB.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

from anyio.abc import ObjectReceiveStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types import RequestParams
from pydantic import ValidationError

from observer.core.errors import NotFound
from observer.local.pump import shows_views
from observer.serve.mcp.conversation import IDENTITY, MODERN_VERSIONS, framed
from observer.serve.mcp.handlers import INVALID_REQUEST, Json, McpHandlers, RequestRefused, Sender
from observer.serve.mcp.server import McpFront
from observer.tools.registry import toolsets

FOLDER_HEADER = b"observer-cwd"
"""HTTP header that says, percent-encoded, which folder the client works in."""
Message = MutableMapping[str, Any]  # ASGI's own shape
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class _Server(Server[Any]):
    """A server of the SDK whose requests the handlers answer, with the task's instructions."""

    def __init__(self, handlers: McpHandlers, current: ContextVar[str]) -> None:
        self._current = current
        super().__init__(IDENTITY["name"], title=IDENTITY["title"], version=IDENTITY["version"])
        self._handlers = handlers
        for method in handlers.methods:
            self.add_request_handler(method, RequestParams, self._answer)
        self.middleware = []  # the SDK's own would record calls for telemetry

    @property
    def instructions(self) -> str | None:
        """Return the guides of the toolsets, then greetings and rules."""
        return self._current.get()

    @instructions.setter
    def instructions(self, guide: str | None) -> None:
        del guide  # the SDK sets what it was made with

    async def _answer(self, context: ServerRequestContext[Any], _params: RequestParams) -> Json:
        try:
            params = context.params or {}
            result = await self._handlers.answer(context.method, params, _client(context))
            is_modern = context.protocol_version in MODERN_VERSIONS
            return framed(context.method, result) if is_modern else result
        except RequestRefused as error:
            raise MCPError(error.code, error.message, error.data) from error


def _client(context: ServerRequestContext[Any]) -> Sender:
    session = context.session
    repeats = context.protocol_version in MODERN_VERSIONS
    capabilities = session.client_capabilities
    asks = capabilities is not None and capabilities.elicitation is not None
    shows = capabilities is not None and shows_views({"extensions": capabilities.extensions})

    async def ask(form: Json) -> Json:
        try:
            said = await session.elicit_form(
                form["message"], form["requestedSchema"], context.request_id
            )
        except MCPError as error:
            raise RequestRefused(error.code, error.message) from error
        except ValidationError as error:
            raise RequestRefused(INVALID_REQUEST, "the client answered something else") from error
        return said.model_dump(mode="json")

    return Sender(asks and (repeats or session.can_send_request), repeats, ask, shows)


MESSAGES = "/messages"
"""Where clients of server-sent events post, on the connection's own session."""


class McpHttp:
    """The ASGI application behind `/mcp`, `/sse` (each with `/<toolset>`) and `/messages`.

    `/mcp` is stateless, so that a restart of the daemon ends no session; a connection to `/sse`
    lasts as long as its client. Host, Origin and token are left to whoever mounts it.
    """

    def __init__(self, front: McpFront) -> None:
        self._front = front
        self._instructions: ContextVar[str] = ContextVar("instructions", default="")
        self._servers = {
            name: _Server(front.handlers(name), self._instructions) for name in toolsets()
        }
        self._managers = {
            name: StreamableHTTPSessionManager(app=server, json_response=True, stateless=True)
            for name, server in self._servers.items()
        }
        self._events = SseServerTransport(MESSAGES)
        self._open: set[Any] = set()  # the SDK's own streams

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve inside the block; once only."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; `path_params` may name the toolset, or raise NotFound."""
        if scope["path"] == MESSAGES:
            await self._events.handle_post_message(scope, receive, send)
            return
        is_events = scope["path"].partition("/sse")[0] == ""
        # Only the document of mem0 knows server-sent events.
        toolset = scope.get("path_params", {}).get("toolset", "mem0" if is_events else "core")
        if toolset not in self._managers:
            raise NotFound(f"no toolset {toolset!r}", hint="choose among: " + ", ".join(toolsets()))
        headers = dict(scope["headers"])
        folder = unquote(headers.get(FOLDER_HEADER, b"").decode("latin-1"))
        _, instructions = await self._front.enter(folder, toolset)
        self._instructions.set(instructions)
        if not is_events:
            await self._managers[toolset].handle_request(scope, receive, send)
            return
        server = self._servers[toolset]
        async with self._events.connect_sse(scope, receive, send) as (inbox, outbox):
            self._open.add(outbox)
            try:
                await server.run(_InOurs(inbox), outbox, server.create_initialization_options())
            finally:
                self._open.discard(outbox)

    def leave(self) -> None:
        """End the connections that would last as long as their clients."""
        for outbox in list(self._open):
            outbox.close()


class _InOurs(ObjectReceiveStream[Any]):
    """Messages without the context in which they were posted: the connection's own counts."""

    def __init__(self, inbox: ObjectReceiveStream[Any]) -> None:
        self._inbox = inbox

    async def receive(self) -> Any:  # noqa: ANN401 - the SDK's messages
        return await self._inbox.receive()

    async def aclose(self) -> None:
        await self._inbox.aclose()
