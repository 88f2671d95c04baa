"""What tools answer at a real daemon: what documents promise, scenes, and wrong values.

`tests/data/promises/DOCUMENT.toml` has a row for each promise: calls, and what the last of them
answers. `{0:PATTERN}` in a call is the group that a pattern finds in the text of the row's first
call; what `events` say has happened before. A row that says `differs` or `missing` expects what
observer does instead. A scene is what a person sees who works through several tools on one memory.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from observer.core.paths import Home
from observer.local import client
from observer.tools.registry import toolsets

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "data" / "promises"
FACES = ("stdio", "http")


class Answer(NamedTuple):
    """What one call answered: its text, its JSON, and whether it is an error."""

    text: str
    json: Any
    is_error: bool


DOCUMENTS = {one.stem: tomllib.loads(one.read_text()) for one in sorted(FOLDER.glob("*.toml"))}


def answers_of(document: str, face: str, root: Path) -> dict[str, list[Answer]]:
    """Return what the calls of every row answer, in a home of their own, over one connection."""
    with daemon_in(root) as (home, port):
        if events := DOCUMENTS[document].get("events"):
            token = {"authorization": f"Bearer {home.token.read_text().strip()}"}
            url = f"http://127.0.0.1:{port}/events"
            body = _filled(events, [], home)
            httpx2.post(url, json=body, headers=token, timeout=60).raise_for_status()
        return asyncio.run(_all_of(document, face, home, port))


@contextmanager
def daemon_in(root: Path) -> Iterator[tuple[Home, int]]:
    """Yield the home of a user's folder, and the port at which its daemon listens until the end."""
    home = Home(root / ".observer")
    home.root.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    home.config.write_text(f"http_port = {port}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root))
        patch.setenv("OBSERVER_HOME", str(home.root))
        client.ensure_daemon(home, wait_s=30)
        try:
            yield home, port
        finally:
            client.stop(home)


async def _all_of(document: str, face: str, home: Home, port: int) -> dict[str, list[Answer]]:
    found = {}
    async with connected(document, face, home, port) as one:
        for row in DOCUMENTS[document]["row"]:
            answers: list[Answer] = []
            for tool, arguments in row["calls"]:
                answers.append(await called(one, tool, _filled(arguments, answers, home)))
            found[row["id"]] = answers
    return found


@asynccontextmanager
async def connected(
    toolset: str, face: str, home: Home, port: int, at: Path | None = None
) -> AsyncIterator[Client]:
    """Yield a client of a toolset that works in a folder; without one in the user's home."""
    folder = at or home.root.parent
    if face == "stdio":
        words = ["-m", "observer", "mcp", "--tools", toolset]
        environ = {"OBSERVER_HOME": str(home.root), "HOME": str(home.root.parent)}
        server = StdioServerParameters(command=sys.executable, args=words, env=environ, cwd=folder)
        async with Client(server) as one:
            yield one
        return
    headers = {
        "authorization": f"Bearer {home.token.read_text().strip()}",
        "observer-cwd": str(folder),
    }
    url = f"http://127.0.0.1:{port}/mcp/{toolset}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as web,
        Client(streamable_http_client(url, http_client=web)) as one,
    ):
        yield one


async def called(one: Client, tool: str, arguments: dict[str, Any]) -> Answer:
    try:
        result = await one.call_tool(tool, arguments)
    except MCPError as error:
        body = {"code": error.error.code, "data": error.error.data}
        return Answer(error.error.message, body, is_error=True)
    text = "\n".join(part.text for part in result.content if part.type == "text")
    return Answer(text, result.structured_content, bool(result.is_error))


def _filled(value: Any, answers: list[Answer], home: Home) -> Any:
    if isinstance(value, dict):
        return {name: _filled(each, answers, home) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, answers, home) for each in value]
    if not isinstance(value, str):
        return value
    value = value.replace("{root}", str(home.root.parent))
    if found := re.fullmatch(r"\{(\d):(.+)\}", value):
        match = re.search(found[2], answers[int(found[1])].text)
        return match[1] if match else value
    return value


def unmet(row: dict[str, Any], answer: Answer) -> list[str]:
    """Return what the last answer of a row should be and is not."""
    expected = row["expected"]
    wrong = [f"lacks {part!r}" for part in expected.get("has", []) if part not in answer.text]
    wrong += [f"has {part!r}" for part in expected.get("lacks", []) if part in answer.text]
    patterns = (re.compile(one, re.MULTILINE) for one in expected.get("matches", []))
    wrong += [f"has no {one.pattern!r}" for one in patterns if not one.search(answer.text)]
    for path, value in expected.get("json", {}).items():
        found = _at(answer.json, path)
        wrong += [f"{path} is {found!r}"] * (found != value)
    wrong += [f"is_error is {answer.is_error}"] * (answer.is_error != expected.get("error", False))
    return wrong


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if name == "#":
            value = len(value)
        elif isinstance(value, list):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = (value or {}).get(name)
    return json.loads(json.dumps(value))


ROWS = [(document, row) for document, found in DOCUMENTS.items() for row in found["row"]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201 - a cached function
    """Return what gives the answers of a document's rows over one face, asked once."""
    return cache(lambda document, face: answers_of(document, face, tmp_path_factory.mktemp("p")))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("document", "row"), ROWS, ids=[row["id"] for _, row in ROWS])
def test_a_promise_is_kept_or_its_deviation_is_as_told(document, row, face, answers) -> None:  # noqa: ANN001
    answer = answers(document, face)[row["id"]][-1]
    assert not unmet(row, answer), (answer.text[:600], answer.json, answer.is_error)


def test_a_deviation_has_a_reason_and_only_a_deviation() -> None:
    assert [row["id"] for _, row in ROWS if ("why" in row) == (row["status"] == "holds")] == []


Say = Callable[..., Answer]
BM = "basic-memory"
NOTE_SEARCHES = dict.fromkeys((BM, "memex"), "search_notes")
NOTE_SEARCHES |= dict.fromkeys(("core", "kiro", "chatgpt"), "search")
MEANT = "where are pending tasks kept"
EMPTY = [
    ("core", "search", {"query": "zebra"}, "nothing found"),
    ("core", "get_context", {}, "nothing recorded yet in "),
    ("kiro", "search", {"query": "zebra"}, '"observations":[]'),
    ("memory", "memory", {"action": "recall", "query": "zebra"}, "[]"),
    ("memory", "session", {}, "nothing recorded yet"),
    ("memory", "project", {}, "nothing recorded yet in "),
    ("memory", "code", {"query": "zebra.py"}, "nothing found"),
    ("mem0", "get_all_memories", {"user_id": "nobody"}, "Found 0 memories for user nobody"),
    ("chatgpt", "search", {"query": "zebra"}, '"results":[]'),
    ("memex", "search_notes", {"query": "zebra"}, "No notes found."),
    ("memex", "list_notes", {}, "No notes yet."),
    ("memex", "list_tags", {}, "No tags yet."),
    ("memex", "list_folders", {}, "No folders yet."),
    ("browse", "sessions", {}, "nothing recorded yet"),
    (BM, "list_memory_projects", {}, "There is no note folder yet."),
]


class Stage(NamedTuple):
    """A daemon that all scenes share: how a tool is called, and what the first calls answered."""

    ask: Callable[..., Answer]
    empty: list[Answer]
    environ: dict[str, str]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Yield a stage on which nothing was written yet when `EMPTY` was asked."""
    root = tmp_path_factory.mktemp("s")
    with daemon_in(root) as (home, port):

        async def one_call(at: Path, toolset: str, tool: str, given: dict[str, Any]) -> Answer:
            async with asyncio.timeout(60), connected(toolset, "http", home, port, at) as one:
                return await called(one, tool, given)

        def ask(*asked: Any) -> Answer:
            return asyncio.run(one_call(*asked))

        empty = [ask(root, toolset, tool, given) for toolset, tool, given, _ in EMPTY]
        yield Stage(ask, empty, {"HOME": str(root), "OBSERVER_HOME": str(home.root)})


@pytest.fixture
def say(stage: Stage, tmp_path: Path) -> Say:
    """Return what calls a tool in the scene's own folder, or in one below it."""

    def said(toolset: str, tool: str, below: str = "", **given: Any) -> Answer:
        (at := tmp_path / below).mkdir(exist_ok=True)
        return stage.ask(at, toolset, tool, given)

    return said


@pytest.fixture
def quay(say: Say, tmp_path: Path) -> Iterator[Callable[..., Answer]]:
    """Yield what calls a tool on a note folder `quay` that is there as long as the scene is."""
    asked = {"project_name": "quay", "project_path": str(tmp_path / "quay")}
    say(BM, "create_memory_project", **asked)
    yield lambda tool, **given: say(BM, tool, **{"project": "quay", **given})
    say(BM, "delete_project", project_name="quay")


def write(quay: Callable[..., Answer], title: str, content: str) -> Answer:
    return quay("write_note", title=title, content=content, directory="d")


def test_a_new_note_is_found_at_once_by_other_words_in_every_toolset(say: Say, quay: Say) -> None:
    write(quay, "Queue", "We store waiting jobs in Redis")
    found = {tools: say(tools, tool, query=MEANT).text for tools, tool in NOTE_SEARCHES.items()}
    assert [tools for tools, text in found.items() if "Queue" not in text] == []


def test_what_an_edit_took_out_and_a_path_that_was_left_are_found_no_more(
    quay: Say, tmp_path: Path
) -> None:
    write(quay, "Queue", "jobs wait in Redis")
    quay("edit_note", identifier="Queue", operation="find_replace", find_text="Redis",
         content="Postgres")  # fmt: skip
    assert "no note holds every word" not in quay("search_notes", query="postgres").text
    redis = quay("search_notes", query="redis").text
    assert "no note holds every word" in redis or "No results" in redis
    quay("move_note", identifier="Queue", destination_path="e/Queue.md")
    found = quay("search_notes", query="jobs").json["results"]
    assert [hit["file_path"] for hit in found] == ["e/Queue.md"]
    assert [path.name for path in tmp_path.rglob("Queue.md")] == ["Queue.md"]
    after = quay("search_notes", query="jobs", page=99).text  # the last page
    assert "No results found" not in after
    assert "1 result" in after


def test_what_is_remembered_in_one_project_is_not_listed_in_another(say: Say) -> None:
    fact = {"action": "remember", "content": "We indent with tabs", "fact_type": "decision"}
    say("core", "memory", below="a", **fact)
    lists = [say("core", "get_context", below=below).text for below in ("a", "b")]
    assert ["We indent with tabs" in each for each in lists] == [True, False]


def test_a_note_that_is_written_again_can_be_had_back(
    quay: Say, observer: Any, stage: Stage
) -> None:
    write(quay, "Queue", "jobs wait in Redis")
    answer = write(quay, "Queue", "jobs wait in Kafka")
    assert "# Updated note" in answer.text
    command = answer.text.partition("To go back: observer ")[2].splitlines()[0]
    observer(*command.split(), **stage.environ)
    assert "Redis" in quay("read_note", identifier="Queue").text


def test_a_memory_of_nothing_says_so_and_is_no_error(stage: Stage, quay: Say) -> None:
    for (*_, said), answer in zip(EMPTY, stage.empty, strict=True):
        assert said in answer.text
        assert not answer.is_error
    for answer, said in (
        (quay("list_directory"), "No files found in directory '/'"),
        (quay("recent_activity"), "No recent activity"),
        (quay("search_notes", query="zebra"), "No results found for 'zebra'"),
    ):
        assert said in answer.text
        assert not answer.is_error


def test_nonsense_recalls_nothing(say: Say) -> None:
    """Where meanings are known too, to which everything is near."""
    say("memory", "memory", action="remember", content="We deploy on Fridays")
    assert say("memory", "memory", action="recall", query="wug blick dax").json["memories"] == []
    assert say("memory", "memory", action="recall", query="release days").json["memories"] != []


def test_a_path_that_is_refused_is_named(quay: Say) -> None:
    write(quay, "X", "x")
    for answer in (
        quay("write_note", title="X", content="x", directory="../../etc"),
        quay("read_content", path="../../etc/passwd"),
        quay("move_note", identifier="X", destination_path="../../etc/x.md"),
    ):
        assert answer.is_error
        assert "'../../etc" in answer.text


LONG = "".join(f"{number:06x} " for number in range(1_000_000 // 7))
"""A megabyte in which no stretch comes twice."""
STRETCH = re.compile(r"(?:[0-9a-f]{6} ){29}|(.)\1{200}")
"""More than 200 characters of what is sent here."""
MOST_ANSWERED = 40_000
"""Characters of an answer over a memory that holds what these calls have left in it."""
DEEP: Any = 1
for _ in range(100):
    DEEP = [DEEP]
ALWAYS: tuple[Any, ...] = ("a\0b", 10**30, LONG, "../x")
"""What every parameter is sent."""
IN_TURN: tuple[Any, ...] = (
    "\ud800",
    -1,
    "",
    [],
    0,
    DEEP,
    " ",
    {},
    "memory://",
    -(10**30),
    [None],
    "nan",
    1e308,
    ["x" * 500] * 300,
    "9" * 400,
    2**53 - 1,
    {"a\0b": 1},
    "'" * 1_000,
    True,
    ["a\0b", 10**30],
    "/",
    1.5,
    {"$in": [{"$gt": 10**30}]},
    "-1",
    {"k" * 5_000: ["v" * 5_000]},
)
"""What parameters are sent in turn, three each."""


def plausible(schema: dict[str, Any], of: dict[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if "anyOf" in schema:
        return plausible(schema["anyOf"][0], of)
    if "$ref" in schema:
        inner = of["$defs"][schema["$ref"].rpartition("/")[2]]
        return {name: plausible(inner["properties"][name], of) for name in inner["required"]}
    if "enum" in schema:
        return schema["enum"][-1]
    if schema.get("type") == "array":
        return [plausible(schema.get("items") or {}, of)]
    return {"integer": 1, "number": 0.5, "boolean": True, "object": {"a": "b"}}.get(
        schema.get("type", ""), "harbour"
    )


def wrong_calls(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parameter that is wrong, and arguments that are plausible beside it."""
    fields = schema["properties"]
    whole = {name: plausible(fields[name], schema) for name in schema.get("required", [])}
    for number, name in enumerate(fields):
        turn = 3 * (len(json.dumps(schema)) + number) % len(IN_TURN)
        for value in (*ALWAYS, *(IN_TURN * 2)[turn : turn + 3]):
            yield name, {**whole, name: value}
    yield "of its own", {**whole, "sessionId": LONG, LONG: 1, "a\0b": None}


class Wire:
    """A connection to the daemon's MCP socket; `hello` names the toolset."""

    def __init__(self, home: Home, toolset: str, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(str(home.mcp_socket))
        self._lines = self._socket.makefile("rb")
        hello = {"observer": 1, "version": "0", "cwd": str(folder), "tools": toolset}
        self._socket.sendall(json.dumps(hello).encode() + b"\n")
        info = {"name": "c", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        self.ask("initialize", **opening)

    def ask(self, method: str, **params: Any) -> bytes:
        """Return the line that answers a request."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._socket.sendall(json.dumps(body).encode() + b"\n")
        return self._lines.readline()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose daemon has a note folder, for all tests of this module."""
    root = tmp_path_factory.mktemp("hostile")
    with daemon_in(root) as (home, _):
        notes = {"project_name": "harbour", "project_path": str(root / "notes")}
        with closing(Wire(home, "basic-memory", root)) as wire:
            wire.ask("tools/call", name="create_memory_project", arguments=notes)
        yield home


def described(toolset: str) -> dict[str, dict[str, Any]]:
    found = toolsets()[toolset].tools(None, lambda: "")  # type: ignore[arg-type]  # not called
    return {tool.name: tool.input_schema for tool in found}


@pytest.mark.parametrize("toolset", toolsets())
def test_a_wrong_value_is_refused_in_a_few_words(toolset: str, hostile_home: Home) -> None:
    root = hostile_home.root.parent
    wire, around = Wire(hostile_home, toolset, root), sorted(root.iterdir())
    faults = []
    for tool, schema in described(toolset).items():
        for wrong, arguments in wrong_calls(schema):
            sent = json.dumps(arguments)
            answer = wire.ask("tools/call", name=tool, arguments=arguments).decode()
            value = str(arguments.get(wrong))[:40]
            if "failed inside" in answer or not answer.startswith('{"jsonrpc"'):
                faults.append((tool, wrong, value, answer[:300]))
            if len(answer) > MOST_ANSWERED or repeats(answer, sent):
                faults.append((tool, wrong, value, f"{len(answer)} characters", answer[:600]))
    wire.close()
    assert faults == []
    assert sorted(root.iterdir()) == around


def repeats(answer: str, arguments: str) -> bool:
    """Return whether more than 200 characters of its arguments stand in a row in an answer."""
    return any(stretch[0] in arguments for stretch in STRETCH.finditer(answer))


def test_nothing_of_it_is_a_fault_of_the_daemon(hostile_home: Home) -> None:
    assert "Traceback" not in (hostile_home.logs / "daemon.log").read_text()


def test_an_integer_of_any_tool_has_a_range() -> None:
    def unbounded(schema: dict[str, Any]) -> bool:
        parts = [*schema.get("anyOf", []), *filter(None, [schema.get("items")])]
        is_number = schema.get("type") in ("integer", "number")
        has_range = "minimum" in schema and "maximum" in schema
        return (is_number and not has_range) or any(unbounded(part) for part in parts)

    for toolset in toolsets():
        for tool, schema in described(toolset).items():
            fields = schema["properties"].items()
            assert [name for name, field in fields if unbounded(field)] == [], (toolset, tool)
