"""The daemon's MCP servers: lines on a socket, HTTP, and kept answers."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import orjson

from observer import __version__
from observer.core.errors import BadInput
from observer.core.paths import make_private
from observer.core.value import decode_json
from observer.local.pump import hello, path_of
from observer.memory.api import Memory
from observer.serve.mcp.server import Hello, McpFront
from observer.serve.worker import Services, Worker

if TYPE_CHECKING:
    from observer.serve.mcp.http import McpHttp

MOST_KEPT = 32
"""Files that are kept; the one that was asked for longest ago goes first."""
LOOK_AGAIN_S = 1.0
"""Least time between two looks at what has changed."""


class Asked(msgspec.Struct, frozen=True):
    """What a client connects with; no folder stands for one that no file is kept for."""

    folder: str = msgspec.field(name="cwd")
    tools: str
    variables: tuple[str, ...] = ()


class KeptOpenings(Worker):
    """Keeps what `observer mcp` answers while the daemon starts: `initialize`, the lists of tools.

    A file for each folder and choice of toolsets that a client connected with lately.
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._kept: dict[Asked, str | None] = {}
        """Oldest first, each with the instructions in its file, None before it is written."""

    def greeted(self, greeting: Hello) -> None:
        """Note that a client connected; called in the event loop's thread."""
        if greeting.version == __version__:
            for folder in ("", greeting.cwd):  # the first is for folders never seen
                asked = Asked(folder, greeting.tools, greeting.variables)
                self._kept[asked] = self._kept.pop(asked, None)
            self.wake()

    async def run(self, front: McpFront) -> None:
        """Write each file whose text changed, until cancelled."""
        self.load()
        while True:
            await self._attempt("kept answers", lambda: self.freshen(front))
            await asyncio.sleep(LOOK_AGAIN_S)
            await self._news.wait()

    def load(self) -> None:
        """Note what the files of earlier daemons are for; those of other versions are deleted."""
        kept: list[Asked] = []
        files = (self._home.context / "mcp").glob("*.json")
        for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
            with suppress(OSError, msgspec.DecodeError), path.open("rb") as file:
                kept.append(decode_json(file.readline(), Asked))
            if not kept or path != self._path(kept[-1]):
                path.unlink(missing_ok=True)
        self._kept = dict.fromkeys(kept) | {Asked("", "core"): None} | self._kept

    async def freshen(self, front: McpFront) -> None:
        """Write each file whose text changed, and delete those beyond `MOST_KEPT`."""
        self._news.clear()
        for asked in list(self._kept)[:-MOST_KEPT]:
            self._forget(asked)
        for asked, written in list(self._kept.items()):
            client = (asked.folder, asked.tools, asked.variables)
            try:
                said = await asyncio.to_thread(front.instructions, *client)
            except BadInput:  # a toolset of a package that is gone
                self._forget(asked)
                continue
            if said != written:
                answers = await asyncio.to_thread(front.opening, asked.tools, said)
                path = self._path(asked)
                make_private(path.parent)
                fresh = path.with_suffix(".new")
                fresh.write_bytes(_hello(asked) + orjson.dumps(answers))
                fresh.replace(path)
                self._kept[asked] = said

    def _forget(self, asked: Asked) -> None:
        del self._kept[asked]
        self._path(asked).unlink(missing_ok=True)

    def _path(self, asked: Asked) -> Path:
        return Path(path_of(str(self._home.root), _hello(asked)))


def _hello(asked: Asked) -> bytes:
    return hello(asked.tools, asked.folder, asked.variables)


GIVE_WAY_SHARE = 1.0
"""How long a thread waits for calls at most, as a share of its work: a backlog goes on at half its
speed while somebody asks without a pause."""
GIVE_WAY_S, GIVE_WAY_STEP_S = 0.050, 0.001
"""How long it waits at most at a time: several searches."""


class McpServers:
    """The MCP servers of one daemon."""

    def __init__(
        self, services: Services, memory: Memory, view_of: Callable[[str], str] | None = None
    ) -> None:
        self.openings = KeptOpenings(services)
        self._front = McpFront(
            memory,
            rules_chars=services.settings.rules_chars,
            view_of=view_of,
            greeted=self.openings.greeted,
        )
        self._may_wait_s, self._resumed_s = 0.0, time.monotonic()

    async def serve(self, listener: socket.socket) -> None:
        """Serve the listening MCP socket until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._serve_lines(listener))
            tasks.create_task(self.openings.run(self._front))

    async def _serve_lines(self, listener: socket.socket) -> None:
        conversations: set[asyncio.Task[None]] = set()

        def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._front.serve_stream(reader, writer))
            conversations.add(task)  # asyncio itself keeps only weak references
            task.add_done_callback(conversations.discard)

        server = await asyncio.start_unix_server(greet, sock=listener)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            for task in conversations:
                task.cancel()
            await asyncio.gather(*conversations, return_exceptions=True)

    def http(self) -> McpHttp:
        """Return what answers over HTTP."""
        from observer.serve.mcp.http import McpHttp  # noqa: PLC0415 - starlette, for who asks so

        return McpHttp(self._front)

    def leave(self) -> None:
        """End the connections that would last as long as their clients."""
        for inbox in self._front.streams.values():
            inbox.put_nowait(None)

    def give_way(self, is_awaited: Callable[[], bool] = lambda: False) -> None:
        """Let calls that are being answered go first, unless somebody awaits the thread itself."""
        began_s = time.monotonic()
        worked_s = began_s - self._resumed_s
        may_wait_s = min(GIVE_WAY_S, self._may_wait_s + GIVE_WAY_SHARE * worked_s)
        until_s = began_s + may_wait_s
        while self._front.calls() and not is_awaited() and time.monotonic() < until_s:
            time.sleep(GIVE_WAY_STEP_S)
        self._resumed_s = time.monotonic()
        self._may_wait_s = may_wait_s - (self._resumed_s - began_s)
