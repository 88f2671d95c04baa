"""The MCP server: tools, resources and a prompt, over Unix-socket lines and streamable HTTP.

One server object serves every connection with the same toolsets, in both protocol versions; the
client's folder travels in a context variable. Promises that the event loop never waits for a read
of the memory, and that malformed input ends its own connection only.

The rules that a person approved are part of the instructions, which each connection gets anew, so
a rule holds from the next connection on.

Promises: connections are isolated. A line that is too long or is not JSON-RPC is answered with an
error, a client that does not read its answers is not read either, and a client that closes its
end still gets the answers to its requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from urllib.parse import unquote

import anyio
import msgspec
import orjson
from anyio.abc import ObjectReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import SessionMessage
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from observer import __version__
from observer.core import client_variables
from observer.core.errors import BadInput, DaemonUnavailable, NotFound, ObserverError
from observer.core.json_text import dump, repair_encoding
from observer.core.value import decode_json
from observer.local.journal import LINE_BYTES, Lines
from observer.local.pump import DISCOVERY, METHODS, OPENING, VERSION
from observer.memory.api import Memory
from observer.serve.mcp.handlers import McpHandlers, ResultPassthrough
from observer.tools import render
from observer.tools.documents import Documents
from observer.tools.registry import chosen, tools_of, toolsets

READ_BYTES = 1 << 16
MOST_OPEN = 64
"""Unanswered requests of one client at which reading from it pauses."""
DRAIN_S = 1.0
"""How long a client that closed its end is kept for its outstanding answers."""


class LineReader(AsyncIterator[bytes | None]):
    """The lines that a client sends, without line ends; None for each line that was too long."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._lines = Lines()
        self._ready: list[bytes | None] = []

    async def __anext__(self) -> bytes | None:
        """Return the next line."""
        while not self._ready:
            chunk = await self._reader.read(READ_BYTES)
            if not chunk:
                raise StopAsyncIteration
            dropped = self._lines.dropped
            self._ready.extend(self._lines.feed(chunk))
            self._ready.extend([None] * (self._lines.dropped - dropped))
        return self._ready.pop(0)


async def converse(server: Server[Any], lines: LineReader, writer: asyncio.StreamWriter) -> None:
    """Run the server on the connection until one side closes it."""
    to_server, inbox = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbox, from_server = anyio.create_memory_object_stream[SessionMessage]()
    open_requests = _OpenRequests()
    async with anyio.create_task_group() as tasks:

        async def outward() -> None:
            await _outward(from_server, writer, open_requests)
            tasks.cancel_scope.cancel()

        tasks.start_soon(_inward, lines, to_server, writer, open_requests)
        tasks.start_soon(outward)
        await server.run(inbox, outbox, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def answers(server: Server[Any], version: str) -> dict[str, Any]:
    """Return what a protocol version begins with, and the results of `METHODS`, by method."""
    to_server, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    outbox, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    client = {"name": "observer", "version": __version__}
    first = OPENING
    every: dict[str, Any] = {}
    opening: dict[str, Any] = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    if version in MODERN_PROTOCOL_VERSIONS:
        said = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": client}
        space = VERSION.partition("/")[0]
        every = {"_meta": {f"{space}/{name}": value for name, value in said.items()}}
        first, opening = DISCOVERY, every
    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tasks, to_server, from_server:
        tasks.start_soon(server.run, inbox, outbox, server.create_initialization_options())
        for method in (first, *METHODS):
            params = opening if method == first else every
            request = types.JSONRPCRequest(jsonrpc="2.0", id=method, method=method, params=params)
            await to_server.send(SessionMessage(request))
            answer = (await from_server.receive()).message
            if isinstance(answer, types.JSONRPCResponse):
                found[method] = answer.result
        tasks.cancel_scope.cancel()
    return found


class _OpenRequests:
    """The ids of a client's requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._change = anyio.Event()

    def add(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification):
            # A cancelled request is never answered.
            cancelled = (message.params or {}).get("requestId")
            self._remove(cancelled if isinstance(cancelled, str | int) else None)

    def settle(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._remove(message.id)

    async def at_most(self, count: int) -> None:
        while len(self._ids) > count:
            await self._change.wait()

    def _remove(self, identifier: object) -> None:
        self._ids.discard(identifier)
        self._change.set()
        self._change = anyio.Event()


async def _inward(
    lines: LineReader,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    writer: asyncio.StreamWriter,
    open_requests: _OpenRequests,
) -> None:
    async with to_server:
        try:
            async for line in lines:
                message = _parsed(line)
                if isinstance(message, _Refusal):
                    writer.write(_encoded(message.answer))
                    continue
                open_requests.add(message)
                await to_server.send(SessionMessage(message))
                await open_requests.at_most(MOST_OPEN)
        except (OSError, anyio.BrokenResourceError):  # nobody is left at one of the ends
            return
        with anyio.move_on_after(DRAIN_S):
            await open_requests.at_most(0)


async def _outward(
    from_server: MemoryObjectReceiveStream[SessionMessage],
    writer: asyncio.StreamWriter,
    open_requests: _OpenRequests,
) -> None:
    async with from_server:
        try:
            async for answer in from_server:
                writer.write(_encoded(answer.message))
                await writer.drain()
                open_requests.settle(answer.message)
        except OSError:  # hung up: the caller closes the connection
            return


class _Refusal(NamedTuple):
    """What a line is answered that is no message; a client's own error answer is one."""

    answer: types.JSONRPCError


def _parsed(line: bytes | None) -> types.JSONRPCMessage | _Refusal:
    if line is None:
        return _refusal(types.INVALID_REQUEST, f"line longer than {LINE_BYTES} bytes dropped")
    try:
        return _message(line)
    except ValidationError:
        line = repair_encoding(line)
    try:
        return _message(line)
    except ValidationError as error:
        is_json = error.errors()[0]["type"] != "json_invalid"
        code = types.INVALID_REQUEST if is_json else types.PARSE_ERROR
        return _refusal(code, "line is not a JSON-RPC message", _id_in(line))


def _message(line: bytes) -> types.JSONRPCMessage:
    message: types.JSONRPCMessage = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return message


def _id_in(line: bytes) -> str | int | None:
    """Return the id of a malformed request, whose sender waits for an answer."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    identifier = found.get("id") if isinstance(found, dict) and "method" in found else None
    is_one = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    return identifier if is_one else None


def _refusal(code: int, message: str, identifier: str | int | None = None) -> _Refusal:
    error = types.ErrorData(code=code, message=message)
    return _Refusal(types.JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


def _encoded(message: types.JSONRPCMessage) -> bytes:
    if isinstance(message, types.JSONRPCResponse):
        # Plain JSON by now, and long: three times as fast as by the model's own serializer.
        answer = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
        return dump(answer) + b"\n"
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


HEADING = "## House Rules"
MOST_RULES = 100_000
"""Characters of rules that a client may ask for."""


class Rules:
    """The rules for the client of the current task.

    Args:
        most_chars: budget of all rules together; 0 for no rules. What the client's environment
            says of it counts more.
    """

    def __init__(self, memory: Memory, *, most_chars: int) -> None:
        self._memory = memory
        self._most_chars = most_chars
        self._instructions: ContextVar[str] = ContextVar("rules", default="")

    def enter(self, text: str) -> None:
        """Set what the current task's instructions contain beside the guides, rules included."""
        self._instructions.set(text)

    def rules(self, folder: str) -> str:
        """Return the rules that hold in a folder as text, empty if there are none; may block."""
        most_chars = int(
            client_variables.client_number(
                "MEMEX_RULES_MAX_CHARS", self._most_chars, most=MOST_RULES
            )
        )
        if not most_chars or client_variables.client_variable("MEMEX_INJECT_RULES") == "0":
            return ""
        project = self._memory.project_at(folder) if folder else None
        rules, left_out = self._memory.notes.rules(
            project.id if project else None, most_chars=most_chars
        )
        texts = [f"### {rule.title}\n{rule.narrative}" for rule in rules]
        if left_out:
            texts.append(f"({left_out} more did not fit; recall notes of type rule)")
        return "\n\n".join([HEADING, *texts]) if texts else ""

    def current(self) -> str:
        """Return what `enter` set for the current task."""
        return self._instructions.get()


class RulesServer(Server[Any]):
    """A server whose instructions end with the approved rules."""

    rules: Rules | None = None
    _guide: str | None = None

    @property
    def instructions(self) -> str | None:
        """Return the guides of the toolsets, then greetings and rules."""
        rules = self.rules.current() if self.rules else ""
        return "\n\n".join(filter(None, (self._guide, rules)))

    @instructions.setter
    def instructions(self, guide: str | None) -> None:
        self._guide = guide


logger = logging.getLogger(__name__)

PROTOCOL = 1
"""Number in a connection's hello line; a pump with another one is sent away."""
HELLO_S = 10.0
CONCURRENT_CALLS = 8
"""Calls that run at once; more would only wait for each other in the interpreter."""
FOLDER_HEADER = b"observer-cwd"
"""HTTP header that says, percent-encoded, which folder the client works in."""

Message = MutableMapping[str, Any]  # ASGI's own shape
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Hello(msgspec.Struct, frozen=True):
    """The first line of a connection; unknown fields are a newer pump's."""

    observer: int
    version: str = ""
    cwd: str = ""
    tools: str = "core"
    variables: tuple[str, ...] = ()


class McpFront:
    """Every MCP connection of one daemon.

    Args:
        rules_chars: budget of the approved rules in the instructions; 0 for none.
        greeted: called with the first line of each connection that is served.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        rules_chars: int = 0,
        greeted: Callable[[Hello], None] = lambda _: None,
    ) -> None:
        self._memory = memory
        self._greeted = greeted
        self._rules = Rules(memory, most_chars=rules_chars)
        self._folder: ContextVar[str] = ContextVar("folder", default="")
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._servers: dict[tuple[str, ...], Server[Any]] = {}

    def calls(self) -> int:
        """Return the number of calls that are being answered; safe from any thread."""
        return self._limiter.borrowed_tokens

    def server(self, tools: str = "core") -> Server[Any]:
        """Return the server for some toolsets, e.g. ``"core"``; made once.

        Raises:
            BadInput: an unknown toolset, or two that share a tool's name.
        """
        names = chosen(tools)
        if names not in self._servers:
            self._servers[names] = self._build(names)
        return self._servers[names]

    async def at(self, folder: str, tools: str = "core", variables: tuple[str, ...] = ()) -> None:
        """Set where the client of the current task works, and the variables it has there.

        Args:
            folder: empty if it is not known.
            tools: its toolsets.
            variables: as `client_variables.enter`.

        Raises:
            BadInput: as `server`.
        """
        self._folder.set(folder)
        client_variables.enter(variables)
        self._rules.enter(
            await anyio.to_thread.run_sync(self.beside_guides, folder, tools, variables)
        )

    def beside_guides(self, folder: str, tools: str, variables: tuple[str, ...]) -> str:
        """Return the greetings of toolsets and the rules of a folder; may block.

        Called in a thread of its own for a client, whose variables are set there.

        Raises:
            BadInput: an unknown toolset.
        """
        client_variables.enter(variables)
        greetings = [toolsets()[name].greeting(self._memory) for name in chosen(tools)]
        return "\n\n".join(filter(None, (*greetings, self._rules.rules(folder))))

    def _build(self, names: tuple[str, ...]) -> Server[Any]:
        tools = tools_of(names, self._memory, self._folder.get)
        passthrough = ResultPassthrough()
        documents = Documents(self._memory, self._folder.get)
        handlers = McpHandlers(tools, documents, self._limiter, passthrough)
        server = RulesServer(
            "observer",
            version=__version__,
            title="observer: memory of earlier work",
            instructions="\n\n".join(toolsets()[name].guide for name in names),
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
            on_list_resources=handlers.list_resources,
            on_list_resource_templates=handlers.list_templates,
            on_read_resource=handlers.read_resource,
            on_list_prompts=handlers.list_prompts,
            on_get_prompt=handlers.get_prompt,
        )
        server.rules = self._rules
        server.middleware = [passthrough]  # the SDK's own would record calls for telemetry
        return server

    async def serve_stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection from its hello line to its end; never raises for its input."""
        lines = LineReader(reader)
        try:
            server = await self._greet(await asyncio.wait_for(anext(lines), HELLO_S))
            await converse(server, lines, writer)
        except ObserverError as error:
            refused = {"error": render.error(error), "exit_code": error.exit_code}
            writer.write(orjson.dumps(refused) + b"\n")
        except (OSError, TimeoutError, StopAsyncIteration) as error:
            logger.debug("an MCP client left: %r", error)
        except Exception:  # the door of a front: one connection fails, the daemon stays
            logger.exception("an MCP connection failed")
        finally:
            writer.close()

    async def _greet(self, line: bytes | None) -> Server[Any]:
        try:
            hello = decode_json(line or b"", Hello)
        except msgspec.DecodeError as error:
            raise BadInput(
                "the first line is not a hello", hint="connect with: observer mcp"
            ) from error
        if hello.observer != PROTOCOL:
            raise DaemonUnavailable(
                f"this daemon ({__version__}) speaks protocol {PROTOCOL}, not {hello.observer}",
                hint="restart the MCP server in your editor",
            )
        await self.at(hello.cwd, hello.tools, hello.variables)
        server = self.server(hello.tools)
        self._greeted(hello)
        return server

    async def opening(
        self, folder: str, tools: str, variables: tuple[str, ...]
    ) -> dict[str, dict[str, Any]]:
        """Return what a client is answered before it calls a tool.

        By protocol version and method.

        Raises:
            BadInput: as `server`.
        """
        await self.at(folder, tools, variables)
        server = self.server(tools)
        versions = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
        return {version: await answers(server, version) for version in versions}


MESSAGES = "/messages"
"""Where clients of server-sent events post, on the connection's own session."""


class McpHttp:
    """The ASGI application behind `/mcp`, `/sse` (each with `/<toolset>`) and `/messages`.

    `/mcp` is stateless, so that a restart of the daemon ends no session. A connection to `/sse`
    lasts as long as its client; what is posted for it needs the id that it alone was given. Host,
    Origin and token are left to whoever mounts it.
    """

    def __init__(self, front: McpFront) -> None:
        self._front = front
        self._managers = {
            name: StreamableHTTPSessionManager(
                app=front.server(name), json_response=True, stateless=True
            )
            for name in toolsets()
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
        """Answer one request; `path_params` may name the toolset.

        Raises:
            NotFound: no such toolset.
        """
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
        await self._front.at(folder, toolset)
        if is_events:
            await self._converse(self._front.server(toolset), scope, receive, send)
        else:
            await self._managers[toolset].handle_request(scope, receive, send)

    async def _converse(
        self, server: Server[Any], scope: Message, receive: Receive, send: Send
    ) -> None:
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
