"""One MCP connection over a pair of asyncio streams, newline-delimited JSON both ways.

Promises: connections are isolated. A line that is too long or is not JSON-RPC is answered with an
error, a client that does not read its answers is not read either, and a client that closes its
end still gets the answers to its requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import anyio
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from observer import __version__
from observer.core.json_text import dump, repair_encoding
from observer.pump.dial import METHODS, OPENING
from observer.pump.journal import LINE_BYTES, Lines

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
    """Return the results of `initialize` and `METHODS` in a protocol version, by method."""
    to_server, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    outbox, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    client = {"name": "observer", "version": __version__}
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tasks, to_server, from_server:
        tasks.start_soon(server.run, inbox, outbox, server.create_initialization_options())
        for method in (OPENING, *METHODS):
            params = opening if method == OPENING else None
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
