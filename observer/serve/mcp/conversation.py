"""One client's requests on a stream of lines, as JSON-RPC 2.0 and both eras of MCP want them.

A client's first request says whether it opens by `initialize` or describes itself in each. The SDK
would do the same at a millisecond of processor time a request and 60 MiB.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from observer import __version__
from observer.core.json_text import dump, load, repair_encoding
from observer.core.value import decode_json
from observer.local import pump
from observer.local.journal import LINE_BYTES, Lines
from observer.serve.mcp.handlers import (
    ELICIT,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Json,
    McpHandlers,
    Params,
    RequestRefused,
    Sender,
    typed,
)

logger = logging.getLogger(__name__)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
UNSUPPORTED_VERSION = -32022
READ_BYTES = 1 << 16
MOST_OPEN = 64  # unanswered requests of one client at which reading from it pauses
DRAIN_S = 1.0  # how long a client that closed its end is kept for its outstanding answers
IDENTITY = {"name": "observer", "title": "observer: memory of earlier work", "version": __version__}
_SPACE = pump.VERSION.partition("/")[0]
_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
_SHOWING = {**_CAPABILITIES, "extensions": {pump.VIEWS: {"mimeTypes": [pump.VIEW_TYPE]}}}
_NOT_KEPT = (*pump.METHODS, pump.DISCOVERY, "resources/list", "resources/read")
"""Methods whose results say in the modern era how long they may be kept."""


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


class _Message(msgspec.Struct):
    """A request, a notification (no id), or the answer to a request of ours (no method)."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Json | None = None
    result: Json | UnsetType = UNSET
    error: Json | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse what is none of these; ValueError is the decoder's own."""
        if self.method is UNSET and self.result is UNSET and self.error is UNSET:
            raise ValueError("no method, no result and no error")


class _Implementation(msgspec.Struct):
    name: str
    version: str


class _Opening(Params, kw_only=True):
    protocol_version: str
    capabilities: Json
    client_info: _Implementation


class _Envelope(msgspec.Struct, rename=lambda name: f"{_SPACE}/{name}"):
    """What a request says of its client where none opened the conversation."""

    protocolVersion: str  # noqa: N815 - as it is sent
    clientCapabilities: Json  # noqa: N815 - as above
    clientInfo: _Implementation | None = None  # noqa: N815 - as above


class Outlet(Protocol):
    """Where answers go, each with its line end; `drain` waits until there is room for more."""

    def write(self, line: bytes, /) -> None: ...  # noqa: D102 - as above

    async def drain(self) -> None: ...  # noqa: D102 - as above


class Conversation:
    """What is said on one stream; `instructions` are for the client's model.

    One that `is_open` needs no opening. At its end answers are awaited for `linger_s`, or for ever.
    """

    def __init__(
        self,
        handlers: McpHandlers,
        instructions: str,
        writer: Outlet,
        *,
        is_open: bool = False,
        linger_s: float | None = DRAIN_S,
    ) -> None:
        self._handlers = handlers
        self._instructions = instructions
        self._writer = writer
        self._is_modern: bool | None = None
        self._is_open = is_open
        self._linger_s = linger_s
        self._client = self._able({}, repeats=False)
        self._running: dict[asyncio.Task[None], int | str] = {}
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._questions = 0

    async def run(self, lines: AsyncIterator[bytes | None]) -> None:
        """Answer until one side closes the stream; raise OSError if it broke."""
        try:
            async for line in lines:
                self._take(line)
                await self._writer.drain()
                while len(self._running) > MOST_OPEN:
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(RequestRefused(INVALID_REQUEST, "the client left"))
            if self._running:
                await asyncio.wait(self._running, timeout=self._linger_s)
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    def _take(self, line: bytes | None) -> None:
        try:
            message = _message(line)
        except RequestRefused as error:
            # The sender of a malformed request waits for an answer under its id.
            found = _parsed(line) if line else None
            identifier = found.get("id") if found and "method" in found else None
            is_one = isinstance(identifier, str | int) and not isinstance(identifier, bool)
            self._refuse(error, identifier if is_one else None)
            return
        if message.method is UNSET:
            self._hear(message)
        elif message.id is UNSET:
            self._note(message.method, message.params or {})
        else:
            self._begin(message.id, message.method, message.params or {})

    def _begin(self, identifier: int | str, method: str, params: Json) -> None:
        try:
            client = self._sender(method, params)
            if (result := self._own(method, params, client)) is not None:
                self._answer(identifier, method, result)
                return
        except RequestRefused as error:
            self._refuse(error, identifier)
            return
        work = self._work(identifier, method, params, client)
        task = asyncio.get_running_loop().create_task(work)
        self._running[task] = _key(identifier)
        task.add_done_callback(self._running.pop)

    async def _work(self, identifier: int | str, method: str, params: Json, client: Sender) -> None:
        try:
            self._answer(identifier, method, await self._handlers.answer(method, params, client))
        except RequestRefused as error:
            self._refuse(error, identifier)
        except Exception:  # the door of a front: one request fails, the connection stays
            logger.exception("%s failed", method)
            self._refuse(RequestRefused(INTERNAL_ERROR, "Internal server error"), identifier)

    def _sender(self, method: str, params: Json) -> Sender:
        """Return who sends a request; refuse one of the other era, or that comes too early."""
        meta = params.get("_meta")
        has_envelope = isinstance(meta, dict) and pump.VERSION in meta and method != pump.OPENING
        if self._is_modern is None:
            self._is_modern = has_envelope
        if self._is_modern:
            if method == pump.OPENING:
                raise _unsupported(params.get("protocolVersion"))
            envelope = typed(meta, _Envelope)
            if envelope.protocolVersion not in MODERN_VERSIONS:
                raise _unsupported(envelope.protocolVersion)
            return self._able(envelope.clientCapabilities, repeats=True)
        if has_envelope:
            raise RequestRefused(INVALID_REQUEST, "this conversation was opened by initialize")
        if method in self._handlers.methods and not self._is_open:
            raise RequestRefused(
                INVALID_PARAMS, "Invalid request parameters", "initialize comes first"
            )
        return self._client

    def _own(self, method: str, params: Json, client: Sender) -> Json | None:
        """Return the result of what the era itself asks for; None for all else."""
        if self._is_modern:
            if method != pump.DISCOVERY:
                return None
            return discovered(self._instructions, shows=client.shows)
        if method == pump.OPENING:
            opening = typed(params, _Opening)
            self._client = self._able(opening.capabilities, repeats=False)
            self._is_open = True
            return opened(self._instructions, opening.protocol_version, shows=self._client.shows)
        return {} if method == "ping" else None

    def _able(self, capabilities: Json, *, repeats: bool) -> Sender:
        asks = isinstance(capabilities.get("elicitation"), dict)
        shows = bool(self._handlers.views) and pump.shows_views(capabilities)
        return Sender(asks, repeats, self._ask, shows)

    def _note(self, method: str, params: Json) -> None:
        if method == "notifications/initialized":
            self._is_open = True
        elif method == "notifications/cancelled":
            cancelled = params.get("requestId")
            if isinstance(cancelled, int | str):
                for task, identifier in self._running.items():
                    if identifier == _key(cancelled):
                        task.cancel()

    async def _ask(self, form: Json) -> Json:
        """Have the client ask its person; raise RequestRefused if it refuses, or leaves."""
        self._questions = identifier = self._questions + 1
        asked: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[identifier] = asked
        self._write({"id": identifier, "method": ELICIT, "params": form})
        try:
            return await asked
        except asyncio.CancelledError:
            no_more = {"requestId": identifier, "reason": "the call was cancelled"}
            self._write({"method": "notifications/cancelled", "params": no_more})
            raise
        finally:
            del self._asked[identifier]

    def _hear(self, answer: _Message) -> None:
        """Take an answer to a question of ours; others are of questions that were given up."""
        identifier = UNSET if answer.id is UNSET else _key(answer.id)
        asked = self._asked.get(identifier) if isinstance(identifier, int) else None
        if asked is None or asked.done():
            return
        if answer.result is UNSET:
            asked.set_exception(RequestRefused(INVALID_REQUEST, "the client refused"))
        else:
            asked.set_result(answer.result)

    def _answer(self, identifier: int | str, method: str, result: Json) -> None:
        shown = framed(method, result) if self._is_modern else result
        self._write({"id": identifier, "result": shown})

    def _refuse(self, error: RequestRefused, identifier: int | str | None) -> None:
        shown = {"code": error.code, "message": error.message}
        more = {} if error.data is None else {"data": error.data}
        self._write({"id": identifier, "error": shown | more})

    def _write(self, message: Mapping[str, Any]) -> None:
        self._writer.write(dump({"jsonrpc": "2.0", **message}) + b"\n")


def _message(line: bytes | None) -> _Message:
    if line is None:
        raise RequestRefused(INVALID_REQUEST, f"line longer than {LINE_BYTES} bytes dropped")
    with suppress(msgspec.DecodeError):
        return decode_json(line, _Message)
    with suppress(msgspec.DecodeError):
        return decode_json(repair_encoding(line), _Message)
    code = PARSE_ERROR if _parsed(line) is None else INVALID_REQUEST
    raise RequestRefused(code, "line is not a JSON-RPC message")


def _parsed(line: bytes) -> Json | None:
    """Return the object on a line, an empty one for other JSON."""
    try:
        found = load(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else {}


def _key(identifier: int | str) -> int | str:
    """Return the id of a request by which an answer is known, which may hold it as text."""
    with suppress(ValueError):
        return int(identifier)
    return identifier


def _unsupported(version: object) -> RequestRefused:
    data = {"supported": list(MODERN_VERSIONS), "requested": version}
    return RequestRefused(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def opened(instructions: str, version: str, *, shows: bool = False) -> Json:
    """Return the result of `initialize`; `shows`: there are views, and the client shows them."""
    return {
        "capabilities": _SHOWING if shows else _CAPABILITIES,
        "instructions": instructions,
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "serverInfo": IDENTITY,
    }


def discovered(instructions: str, *, shows: bool = False) -> Json:
    """Return the result of `server/discover`; `shows` as of `opened`."""
    return {
        "capabilities": _SHOWING if shows else _CAPABILITIES,
        "instructions": instructions,
        "supportedVersions": list(MODERN_VERSIONS),
    }


def framed(method: str, result: Json) -> Json:
    """Return a result as it is in the modern era."""
    kept = {"cacheScope": "private", "ttlMs": 0} if method in _NOT_KEPT else {}
    parts = {"resultType": "complete", **kept, **result}
    meta = {**result.get("_meta", {}), f"{_SPACE}/serverInfo": IDENTITY}
    return {**dict(sorted(parts.items())), "_meta": meta}


def before_calls(lists: Mapping[str, Json], instructions: str) -> dict[str, dict[str, Json]]:
    """Return what a client is answered before it calls a tool, by version and method."""
    listed = {method: lists[method] for method in pump.METHODS}
    modern = {pump.DISCOVERY: discovered(instructions), **listed}
    return {
        **{
            version: {pump.OPENING: opened(instructions, version), **listed}
            for version in HANDSHAKE_VERSIONS
        },
        **{
            version: {method: framed(method, result) for method, result in modern.items()}
            for version in MODERN_VERSIONS
        },
    }
