"""MCP over HTTP: one conversation a request, or, by server-sent events, one a connection."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from observer.core.errors import BadInput, NotFound
from observer.serve.http import body_of
from observer.serve.mcp.conversation import Conversation
from observer.serve.mcp.handlers import McpHandlers
from observer.serve.mcp.server import McpFront
from observer.serve.worker import end

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
        """Take a message for a connection, known by the id that it alone was given."""
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
