"""The MCP server: connections and their toolsets, folders and instructions.

The event loop never waits for a read of the memory, malformed input ends its own connection only,
and a rule that a person approved holds from the next connection on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import ContextVar

import msgspec
import orjson

from observer import __version__
from observer.core import client_variables
from observer.core.errors import BadInput, DaemonUnavailable, ObserverError
from observer.core.value import decode_json
from observer.local.pump import PROTOCOL
from observer.memory.api import Memory
from observer.serve.mcp.conversation import Conversation, LineReader, before_calls
from observer.serve.mcp.handlers import CallThreads, Json, McpHandlers
from observer.tools import render
from observer.tools.documents import Documents
from observer.tools.fence import without_links
from observer.tools.registry import chosen, tools_of, toolsets

logger = logging.getLogger(__name__)

HELLO_S = 10.0
CONCURRENT_CALLS = 8
"""Calls that run at once; more would only wait for each other in the interpreter."""
HEADING = "## House Rules"
MOST_RULES = 100_000
"""Characters of rules that a client may ask for."""


class Hello(msgspec.Struct, frozen=True):
    """The first line of a connection; unknown fields are a newer pump's."""

    observer: int
    version: str = ""
    cwd: str = ""
    tools: str = "core"
    variables: tuple[str, ...] = ()


class McpFront:
    """Every MCP connection of one daemon.

    `rules_chars` is the budget of rules in the instructions, unless the client's environment says
    one; `greeted` is called with the first line of each connection that is served.
    """

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

    def calls(self) -> int:
        """Return the number of calls that are being answered; safe from any thread."""
        return self._threads.calls

    def handlers(self, tools: str = "core") -> McpHandlers:
        """Return the handlers for some toolsets, made once; raise BadInput if they clash."""
        names = chosen(tools)
        if names not in self._handlers:
            served = tools_of(names, self._memory, self._folder.get)
            documents = Documents(self._memory, self._folder.get)
            made = McpHandlers(served, documents, self._threads, self._view_of)
            self._handlers[names] = made
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
        return without_links("\n\n".join([HEADING, *texts])) if texts else ""

    async def serve_stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection from its hello line to its end; never raises for its input."""
        lines = LineReader(reader)
        try:
            line = await asyncio.wait_for(anext(lines), HELLO_S)
            handlers, instructions = await self._greet(line)
            await Conversation(handlers, instructions, writer).run(lines)
        except ObserverError as error:
            refused = {"error": render.error(error), "exit_code": error.exit_code}
            writer.write(orjson.dumps(refused) + b"\n")
        except (OSError, TimeoutError, StopAsyncIteration) as error:
            logger.debug("an MCP client left: %r", error)
        except Exception:  # the door of a front: one connection fails, the daemon stays
            logger.exception("an MCP connection failed")
        finally:
            writer.close()

    async def _greet(self, line: bytes | None) -> tuple[McpHandlers, str]:
        try:
            said = decode_json(line or b"", Hello)
        except msgspec.DecodeError as error:
            raise BadInput(
                "the first line is not a hello", hint="connect with: observer mcp"
            ) from error
        if said.observer != PROTOCOL:
            raise DaemonUnavailable(
                f"this daemon ({__version__}) speaks protocol {PROTOCOL}, not {said.observer}",
                hint="restart the MCP server in your editor",
            )
        entered = await self.enter(said.cwd, said.tools, said.variables)
        self._greeted(said)
        return entered

    def opening(self, tools: str, instructions: str) -> dict[str, dict[str, Json]]:
        """Return what a client is answered before it calls a tool, by version and method."""
        return before_calls(self.handlers(tools).lists, instructions)
