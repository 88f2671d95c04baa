"""Who is offered the views of tools (MCP Apps), and that nobody else notices them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.extension import advertise

from observer.core.paths import Home
from observer.local.pump import CAPABILITIES, VERSION, VIEW_TYPE, VIEWS, KeptAnswers, carried
from observer.memory.api import Memory
from observer.tools.registry import BUILT_IN, tools_of
from tests.serve.mcp.test_conversation import Wire
from tests.serve.mcp.test_mcp import MODES

SETTINGS = {"mimeTypes": [VIEW_TYPE]}
DECLARED = {"extensions": {VIEWS: SETTINGS}}
OTHERS: tuple[dict[str, Any], ...] = (
    {"extensions": {VIEWS: {}}},
    {"extensions": {VIEWS: {"mimeTypes": ["text/html"]}}},
    {"extensions": {VIEWS: {"mimeTypes": VIEW_TYPE}}},
    {"extensions": {"other": SETTINGS}},
    {"extensions": None},
    {"experimental": {VIEWS: SETTINGS}},
)
LEGACY, MODERN = "2025-11-25", "2026-07-28"
LINKS = {"search": "search", "timeline": "timeline", "resolve": "review"}


def asked(able: dict[str, Any], version: str, tool: str) -> list[dict[str, Any]]:
    """Return a client's first requests, in the way of a version."""
    client = {"name": "c", "version": "1"}
    opening = {"protocolVersion": version, "capabilities": able, "clientInfo": client}
    call = {"name": tool, "arguments": {"query": "jwt"}}
    given = {"tools/list": {}, "tools/call": call, "resources/list": {}}
    meta = {"_meta": {VERSION: version, CAPABILITIES: able}} if version == MODERN else {}
    first = {"server/discover": {}} if meta else {"initialize": opening}
    requests = ({**first, **given}).items()
    return [
        {"jsonrpc": "2.0", "id": place, "method": method, "params": {**params, **meta}}
        for place, (method, params) in enumerate(requests)
    ]


Answers = Callable[..., list[bytes]]


@pytest.fixture
def answers(home: Home, serve: Callable[[], Any], memory: Memory) -> Iterator[Answers]:
    """Return the lines that a client is answered first, by a toolset."""
    serve()
    wires = []

    def heard(able: dict[str, Any], version: str, toolset: str = "core") -> list[bytes]:
        hello = {"observer": 1, "version": "0", "cwd": "", "tools": toolset}
        wires.append(Wire(home, json.dumps(hello).encode() + b"\n"))
        tool = next(iter(tools_of((toolset,), memory, str)))
        lines = []
        for request in asked(able, version, tool):
            wires[-1].send(json.dumps(request).encode() + b"\n")
            lines.append(wires[-1].lines.readline())
        return lines

    yield heard
    for one in wires:
        one.close()


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize("toolset", BUILT_IN)
def test_who_shows_no_views_is_answered_as_ever(
    answers: Answers, tmp_path: Path, toolset: str, version: str
) -> None:
    plain = answers({}, version, toolset)
    opening, tools = (json.loads(line)["result"] for line in plain[:2])
    kept = carried(str(tmp_path / "no home"), toolset)[version]
    assert isinstance(kept, dict)
    assert opening == kept["server/discover" if version == MODERN else "initialize"]
    assert tools == kept["tools/list"]
    for able in (*OTHERS, *([] if toolset == "core" else [DECLARED])):
        assert answers(able, version, toolset) == plain


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_who_shows_views_is_answered_the_same_and_more(answers: Answers, version: str) -> None:
    plain, more = (
        [json.loads(line)["result"] for line in answers(able, version)] for able in ({}, DECLARED)
    )
    assert more[0]["capabilities"].pop("extensions") == {VIEWS: SETTINGS}
    linked = {tool["name"]: tool["_meta"].pop("ui", None) for tool in more[1]["tools"]}
    assert {name: link for name, link in linked.items() if link} == {
        name: {"resourceUri": f"ui://observer/{view}"} for name, view in LINKS.items()
    }
    reasons = more[2]["_meta"].pop("observer/why")
    found = more[2]["structuredContent"]
    hits = [*found["observations"], *found["summaries"]]
    assert {one["id"] for one in reasons} == {hit["id"] for hit in hits}
    if version == LEGACY:
        del more[2]["_meta"]
    assert [each["uri"] for each in more[3]["resources"][-3:]] == [
        f"ui://observer/{view}" for view in LINKS.values()
    ]
    del more[3]["resources"][-3:]
    assert more == plain


async def read_view(client: Client) -> Any:
    """Follow the link of a tool, as a host does."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    return await client.read_resource(tools["search"].meta["ui"]["resourceUri"])


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_of_the_sdk_read_a_view(stdio: StdioServerParameters, mode: str) -> None:
    async def ask() -> Any:
        declared = [advertise(VIEWS, SETTINGS)]
        async with asyncio.timeout(30), Client(stdio, mode=mode, extensions=declared) as client:
            return await read_view(client)

    (page,) = asyncio.run(ask()).contents
    assert page.mime_type == VIEW_TYPE
    assert page.meta == {"ui": {"csp": {}, "prefersBorder": True}}
    assert page.text.startswith("<!doctype html>")
    assert "default-src 'none'" in page.text


def test_what_is_kept_is_for_clients_that_show_no_views(tmp_path: Path) -> None:
    for version, able, is_kept in (
        (LEGACY, {}, True), (LEGACY, DECLARED, False),
        (MODERN, {}, True), (MODERN, DECLARED, False), (LEGACY, OTHERS[2], True),
    ):  # fmt: skip
        kept = KeptAnswers(str(tmp_path / "no home"), cwd="", tools="core")
        for request in asked(able, version, "search")[:2]:
            assert bool(kept.answer(json.dumps(request).encode())) == is_kept
