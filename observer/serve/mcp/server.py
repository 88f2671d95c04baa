"""The MCP server: connections and their toolsets, folders and instructions; kept answers."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

import msgspec
import orjson

from observer import __version__
from observer.core import client_variables
from observer.core.disk import replace
from observer.core.errors import BadInput, DaemonUnavailable, ObserverError
from observer.core.paths import make_private
from observer.core.value import decode_json
from observer.local.pump import PROTOCOL, hello, path_of
from observer.memory.api import Memory
from observer.serve.mcp.conversation import Conversation, LineReader, before_calls
from observer.serve.mcp.handlers import CallThreads, Json, McpHandlers
from observer.serve.worker import Services, Worker, end
from observer.tools import render
from observer.tools.documents import Documents
from observer.tools.fence import without_links
from observer.tools.registry import chosen, tools_of, toolsets

logger = logging.getLogger(__name__)

HELLO_S = 10.0
CONCURRENT_CALLS = 8
"""Calls that run at once; more would only wait for each other in the interpreter."""
MOST_RULES = 100_000  # characters of rules that a client may ask for

GIVE_WAY_SHARE = 1.0
"""How long a thread waits for calls at most, as a share of its work: a backlog goes on at half its
speed while somebody asks without a pause."""
GIVE_WAY_S, GIVE_WAY_STEP_S = 0.050, 0.001  # how long it waits at most at a time: several searches


class Hello(msgspec.Struct, frozen=True):
    """The first line of a connection; unknown fields are a newer pump's."""

    observer: int
    version: str = ""
    cwd: str = ""
    tools: str = "core"
    variables: tuple[str, ...] = ()


class McpFront:
    """The MCP connections of one daemon; `greeted` hears the first line of each."""

    def __init__(
        self,
        memory: Memory,
        *,
        rules_chars: int = 0,
        view_of: Callable[[str], str] | None = None,
        greeted: Callable[[Hello], None] = lambda _: None,
    ) -> None:
        self._memory = memory
        self._greeted = greeted
        self._view_of = view_of
        self._rules_chars = rules_chars
        self._folder: ContextVar[str] = ContextVar("folder", default="")
        self._threads = CallThreads(CONCURRENT_CALLS)
        self._handlers: dict[tuple[str, ...], McpHandlers] = {}
        self.streams: dict[str, asyncio.Queue[bytes | None]] = {}
        """Where what clients of server-sent events post goes, by their session; None ends one."""
        self._may_wait_s, self._resumed_s = 0.0, time.monotonic()

    def handlers(self, tools: str = "core") -> McpHandlers:
        """Return the handlers for some toolsets, made once; raise BadInput if they clash."""
        names = chosen(tools)
        if names not in self._handlers:
            served = tools_of(names, self._memory, self._folder.get)
            documents = Documents(self._memory, self._folder.get)
            self._handlers[names] = McpHandlers(served, documents, self._threads, self._view_of)
        return self._handlers[names]

    async def enter(
        self, folder: str, tools: str, variables: tuple[str, ...] = ()
    ) -> tuple[McpHandlers, str]:
        """Set the folder of the current task's client, "" for none, and its variables.

        Returns its handlers and instructions; raises BadInput as `handlers`.
        """
        self._folder.set(folder)
        client_variables.enter(variables)
        return await self._threads.run(
            lambda: (self.handlers(tools), self.instructions(folder, tools, variables))
        )

    def instructions(self, folder: str, tools: str, variables: tuple[str, ...] = ()) -> str:
        """Return the guides and greetings of toolsets and a folder's rules; may block."""
        client_variables.enter(variables)
        chosen_sets = [toolsets()[name] for name in chosen(tools)]
        greetings = [toolset.greeting(self._memory) for toolset in chosen_sets]
        guides = [toolset.guide for toolset in chosen_sets]
        return "\n\n".join(filter(None, (*guides, *greetings, self.rules(folder))))

    def rules(self, folder: str) -> str:
        """Return the rules that hold in a folder as text, empty if there are none; may block."""
        most_chars = int(
            client_variables.client_number(
                "MEMEX_RULES_MAX_CHARS", self._rules_chars, most=MOST_RULES
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
        return without_links("\n\n".join(["## House Rules", *texts])) if texts else ""

    async def serve_stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection from its hello line to its end; never raises for its input."""
        lines = LineReader(reader)
        try:
            said = _greeting(await asyncio.wait_for(anext(lines), HELLO_S))
            entered = await self.enter(said.cwd, said.tools, said.variables)
            self._greeted(said)
            await Conversation(*entered, writer).run(lines)
        except ObserverError as error:
            refused = {"error": render.error(error), "exit_code": error.exit_code}
            writer.write(orjson.dumps(refused) + b"\n")
        except (OSError, TimeoutError, StopAsyncIteration) as error:
            logger.debug("an MCP client left: %r", error)
        except Exception:  # the door of a front: one connection fails, the daemon stays
            logger.exception("an MCP connection failed")
        finally:
            writer.close()

    async def serve(self, listener: socket.socket) -> None:
        """Serve the listening MCP socket until cancelled."""
        conversations: set[asyncio.Task[None]] = set()

        def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self.serve_stream(reader, writer))
            conversations.add(task)  # asyncio itself keeps only weak references
            task.add_done_callback(conversations.discard)

        server = await asyncio.start_unix_server(greet, sock=listener)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            await end(list(conversations))

    def leave(self) -> None:
        """End the connections that would last as long as their clients."""
        for inbox in self.streams.values():
            inbox.put_nowait(None)

    def give_way(self, is_awaited: Callable[[], bool] = lambda: False) -> None:
        """Let calls that are being answered go first, unless somebody awaits the thread itself."""
        began_s = time.monotonic()
        worked_s = began_s - self._resumed_s
        may_wait_s = min(GIVE_WAY_S, self._may_wait_s + GIVE_WAY_SHARE * worked_s)
        until_s = began_s + may_wait_s
        while self._threads.calls and not is_awaited() and time.monotonic() < until_s:
            time.sleep(GIVE_WAY_STEP_S)
        self._resumed_s = time.monotonic()
        self._may_wait_s = may_wait_s - (self._resumed_s - began_s)

    def opening(self, tools: str, instructions: str) -> dict[str, dict[str, Json]]:
        """Return what a client is answered before it calls a tool, by version and method."""
        return before_calls(self.handlers(tools).lists, instructions)


def _greeting(line: bytes | None) -> Hello:
    try:
        said = decode_json(line or b"", Hello)
    except msgspec.DecodeError as error:
        hint = "connect with: observer mcp"
        raise BadInput("the first line is not a hello", hint=hint) from error
    if said.observer != PROTOCOL:
        raise DaemonUnavailable(
            f"this daemon ({__version__}) speaks protocol {PROTOCOL}, not {said.observer}",
            hint="restart the MCP server in your editor",
        )
    return said


MOST_KEPT = 32  # files that are kept; the one that was asked for longest ago goes first
LOOK_AGAIN_S = 1.0  # least time between two looks at what has changed


class KeptOpenings(Worker):
    """Keeps what `observer mcp` answers while the daemon starts, for each first line."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._kept: dict[bytes, str | None] = {}
        """First lines, oldest first; the instructions in the file of each, None before it is there.
        """

    def greeted(self, greeting: Hello) -> None:
        """Note that a client connected; called in the event loop's thread."""
        if greeting.version == __version__:
            for folder in ("", greeting.cwd):  # the first is for folders never seen
                line = hello(greeting.tools, folder, greeting.variables)
                self._kept[line] = self._kept.pop(line, None)
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
        kept: list[bytes] = []
        files = (self._home.context / "mcp").glob("*.json")
        for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
            with suppress(OSError, msgspec.DecodeError), path.open("rb") as file:
                asked = decode_json(file.readline(), Hello)
                kept.append(hello(asked.tools, asked.cwd, asked.variables))
            if not kept or path != self._path(kept[-1]):
                path.unlink(missing_ok=True)
        self._kept = dict.fromkeys(kept) | {hello("core", ""): None} | self._kept

    async def freshen(self, front: McpFront) -> None:
        """Write each file whose text changed, and delete those beyond `MOST_KEPT`."""
        self._news.clear()
        gone = list(self._kept)[:-MOST_KEPT]
        for line, written in list(self._kept.items())[-MOST_KEPT:]:
            asked = decode_json(line, Hello)
            client = (asked.cwd, asked.tools, asked.variables)
            try:
                said = await asyncio.to_thread(front.instructions, *client)
            except BadInput:  # a toolset of a package that is gone
                gone.append(line)
                continue
            if said != written:
                answers = await asyncio.to_thread(front.opening, asked.tools, said)
                path = self._path(line)
                make_private(path.parent)
                await asyncio.to_thread(replace, path, line + orjson.dumps(answers))
                self._kept[line] = said
        for line in gone:
            del self._kept[line]
            self._path(line).unlink(missing_ok=True)

    def _path(self, line: bytes) -> Path:
        return Path(path_of(str(self._home.root), line))
