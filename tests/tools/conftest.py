from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from msgspec.structs import replace

from observer.core.model import Item, Project, Session, SummaryFields, item_id, item_uuid
from observer.core.paths import Home, make_private
from observer.memory.api import Memory
from observer.serve.mcp.handlers import Sender
from observer.serve.mcp.server import McpFront
from observer.serve.servers import make_run_folder
from observer.store.database import SqliteStore
from observer.tools.fence import RECORDS
from observer.web.site import HomePages
from tests.support import memory_over, pipeline_over, record_by


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be where the clock on the wall is five and a half hours ahead."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NOW_MS = 1_742_050_000_000
MINUTE_MS = 60_000


def an_item(number: int, title: str, **fields: Any) -> Item:
    at_ms = NOW_MS - (100 - number) * MINUTE_MS
    given: dict[str, Any] = {"kind": "observation", "type": "file-write", "project_id": 2}
    given |= {"created_ms": at_ms, "updated_ms": at_ms} | fields
    return Item(id=item_id(number), uuid=item_uuid(f"e{number}", at_ms), title=title, **given)


def defaults(tool: Any) -> dict[str, Any]:
    """Return the parameters that a client is offered of a tool, each with its default."""
    return {name: field.get("default") for name, field in tool.input_schema["properties"].items()}


NOBODY = Sender(asks=False, repeats=False, ask=lambda _: asyncio.sleep(0, {}))
"""A client that shows neither questions nor views."""
APP = Project(id=2, uuid="0195a000-0000-7000-8000-000000000002", name="my-api")
OTHER = Project(id=3, uuid="0195a000-0000-7000-8000-000000000003", name="other")
SESSION = Session(id=14, external="session-abc", client="claude-code", project_id=2, status="ended")

ITEMS = (
    an_item(
        10,
        "Read auth.ts",
        type="file-read",
        files_read=("src/auth.ts",),
        narrative="Read auth.ts to understand its structure",
    ),
    an_item(11, "npm test", type="command", narrative="47 tests passed", facts=("exit code 0",)),
    an_item(
        12,
        "Modified auth.ts",
        subtitle="edit src/auth.ts",
        session_id=14,
        discovery_tokens=28,
        narrative="JWT middleware in verify(): 45 lines",
        concepts=("security", "middleware"),
        facts=("verify(): +45 -3", "new import jose"),
        files_modified=("src/auth.ts", "src/routes.ts"),
    ),
    an_item(
        13, "Use JWT", kind="note", type="decision", narrative="JWT, as the API must be stateless"
    ),
    an_item(14, "Modified routes.ts", narrative="jwt on every route", session_id=14),
    an_item(16, "JWT elsewhere", project_id=3),
)
SUMMARY = replace(
    an_item(
        14,
        "JWT login",
        kind="summary",
        type="summary",
        session_id=14,
        summary=SummaryFields(request="add JWT login", completed="Modified auth.ts"),
    ),
    id=item_id(14, "summary"),
    uuid=item_uuid("s14", NOW_MS - 86 * MINUTE_MS, "summary"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "observer.db")
    yield store
    store.close()


@pytest.fixture
def memory(store: SqliteStore, home: Home, tmp_path: Path) -> Memory:
    """A memory with a few items of two projects, written through the real pipeline."""
    with store.write() as writer:
        for project in (APP, OTHER):
            (tmp_path / project.name).mkdir()
            writer.put_project(replace(project, roots=(str(tmp_path / project.name),)))
        writer.put_session(SESSION)
        writer.put_items([*ITEMS, SUMMARY])
    return memory_over(store, home, NOW_MS, record=record_by(pipeline_over(store, home, NOW_MS)))


class Served:
    """The MCP front on the home's socket, in a thread with an event loop of its own."""

    def __init__(self, memory: Memory, home: Home) -> None:
        make_private(home.root)
        make_run_folder(home)
        home.mcp_socket.unlink(missing_ok=True)
        self._path = str(home.mcp_socket)
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(
                self._serve(McpFront(memory, rules_chars=4_000, view_of=HomePages(home).view))
            )
        )
        self._thread.start()
        assert self._ready.wait(10)

    async def _serve(self, front: McpFront) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        tasks = set()

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.add(asyncio.current_task())
            await front.serve_stream(reader, writer)

        server = await asyncio.start_unix_server(greet, self._path)
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """End as a daemon does that is shown to leave."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()


@pytest.fixture
def serve(memory: Memory, home: Home) -> Iterator[Callable[[], Served]]:
    served = []

    def start() -> Served:
        for one in served:
            one.close()
        served.append(Served(memory, home))
        return served[-1]

    yield start
    for one in served:
        one.close()


@pytest.fixture
def stdio(serve: Callable[[], Served], home: Home, tmp_path: Path) -> StdioServerParameters:
    """How an editor in the project's folder starts the server: the real pump."""
    serve()
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "observer", "mcp"],
        env={"OBSERVER_HOME": str(home.root)},
        cwd=tmp_path / "my-api",
    )


Work = Callable[[Client], Awaitable[Any]]
HEAD, FOOT = f"{RECORDS}\n", "\n```"
FENCED = f"{HEAD}```text\n"


@pytest.fixture
def unmarked() -> Callable[[Any], str]:
    """Return what takes the label off the text of a tool's answer, and the fence."""

    def text_of(result: Any) -> str:
        text: str = result.content[0].text
        if text.startswith(FENCED):
            return text.removeprefix(FENCED).removesuffix(FOOT)
        return text.removeprefix(HEAD)

    return text_of


@pytest.fixture
def ask(stdio: StdioServerParameters) -> Callable[[str, Work], Any]:
    """Run a coroutine function with a client of some toolsets: the SDK's own, over the pump."""

    def run(toolsets: str, work: Work) -> Any:
        chosen = stdio.model_copy(update={"args": [*stdio.args, "--tools", toolsets]})

        async def connected() -> Any:
            async with asyncio.timeout(30), Client(chosen) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


@pytest.fixture
def calls(ask: Callable[[str, Work], Any]) -> Callable[..., Any]:
    """Call tools of some toolsets, one after the other, in one connection."""

    def run(toolsets: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        async def all_of_them(client: Client) -> list[Any]:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

        found: list[Any] = ask(toolsets, all_of_them)
        return found

    return run
