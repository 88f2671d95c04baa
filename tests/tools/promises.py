"""The promises of documents that others wrote for their tools, as data, and what calls answer.

`tests/data/promises/DOCUMENT.toml` has one row for each promise: calls, and what the last of them
is expected to answer. A text in a call may name an answer before it: `{0:PATTERN}` is the group
that a pattern finds in the text of the row's first call. What a document's `events` say has
happened before the first call.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from observer.core.paths import Home
from observer.local import client

FOLDER = Path(__file__).parents[1] / "data" / "promises"
FACES = ("stdio", "http")


class Answer(NamedTuple):
    """What one call answered: its text, its JSON, and whether it is an error."""

    text: str
    json: Any
    is_error: bool


def documents() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def rows(document: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _read(document)["row"]
    return found


def _read(document: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{document}.toml").read_text())


def answers_of(document: str, face: str, root: Path) -> dict[str, list[Answer]]:
    """Return what the calls of every row answer, in a home of their own, over one connection."""
    with daemon_in(root) as (home, port):
        if events := _read(document).get("events"):
            token = {"authorization": f"Bearer {home.token.read_text().strip()}"}
            url = f"http://127.0.0.1:{port}/events"
            body = _filled(events, [], home)
            httpx2.post(url, json=body, headers=token, timeout=60).raise_for_status()
        return asyncio.run(_all_of(document, face, home, port))


@contextmanager
def daemon_in(root: Path) -> Iterator[tuple[Home, int]]:
    """Yield a home in a folder, and the port at which its daemon listens until the end."""
    home = Home(root / ".observer")
    os.environ |= {"HOME": str(root), "OBSERVER_HOME": str(home.root)}
    home.root.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    home.config.write_text(f"http_port = {port}\n")
    client.ensure_daemon(home, wait_s=30)
    try:
        yield home, port
    finally:
        client.stop(home)


async def _all_of(document: str, face: str, home: Home, port: int) -> dict[str, list[Answer]]:
    found = {}
    async with connected(document, face, home, port) as one:
        for row in rows(document):
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
    wrong += [
        f"does not match {pattern!r}"
        for pattern in expected.get("matches", [])
        if not re.search(pattern, answer.text, re.MULTILINE)
    ]
    wrong += [
        f"{path} is {_at(answer.json, path)!r}, not {value!r}"
        for path, value in expected.get("json", {}).items()
        if _at(answer.json, path) != value
    ]
    if answer.is_error != expected.get("error", False):
        wrong.append(f"is_error is {answer.is_error}")
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
