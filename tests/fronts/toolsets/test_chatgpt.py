"""The chatgpt toolset as its clients expect it, asked by a real client over the real pump."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp import Client

from observer.core.model import item_id
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.tools.fence import MARK, MARKED

Calls = Callable[..., Any]


def test_the_two_tools_take_one_text_each(ask: Callable[..., Any]) -> None:
    listed = ask("chatgpt", Client.list_tools).tools
    assert [(tool.name, tool.input_schema["required"]) for tool in listed] == [
        ("search", ["query"]),
        ("fetch", ["id"]),
    ]
    assert all(tool.annotations.read_only_hint for tool in listed)


def test_search_returns_results_with_id_title_and_url(calls: Calls) -> None:
    (result,) = calls("chatgpt", ("search", {"query": "jwt"}))
    found = json.loads(result.content[0].text)
    assert found.pop(MARK) == MARKED
    assert found == result.structured_content
    assert {
        "id": str(item_id(12)),
        "title": "Modified auth.ts",
        "url": f"observer://item/{item_id(12)}",
    } in found["results"]


def test_everything_is_searched(calls: Calls) -> None:
    (result,) = calls("chatgpt", ("search", {"query": "jwt"}))
    titles = {each["title"] for each in result.structured_content["results"]}
    assert {"Use JWT", "JWT login", "JWT elsewhere"} <= titles  # a note, a summary, another project


def test_fetch_returns_the_whole_item(calls: Calls) -> None:
    (result,) = calls("chatgpt", ("fetch", {"id": str(item_id(12))}))
    found = json.loads(result.content[0].text)
    assert found.pop(MARK) == MARKED
    assert found == result.structured_content
    assert set(found) == {"id", "title", "text", "url", "metadata"}
    assert "JWT middleware in verify(): 45 lines" in found["text"]
    assert found["metadata"] == {
        "type": "file-write",
        "project": "my-api",
        "created_at": "2025-03-15T13:18:40.000Z",
    }


def test_an_unknown_id_is_an_error_that_says_what_to_do(calls: Calls) -> None:
    results = calls("chatgpt", ("fetch", {"id": "999999"}), ("fetch", {"id": "no such"}))
    for result in results:
        assert result.is_error
        assert "search for it first" in result.content[0].text


def test_personal_notes_of_others_are_not_fetched(calls: Calls, memory: Memory) -> None:
    other = memory.of("bob").notes.remember(Note(content="secret tea", scope="personal")).item
    found, fetched = calls(
        "chatgpt", ("search", {"query": "secret tea"}), ("fetch", {"id": other.uuid})
    )
    assert str(other.id) not in [each["id"] for each in found.structured_content["results"]]
    assert fetched.is_error


def test_the_url_of_a_result_is_a_resource(ask: Callable[..., Any]) -> None:
    async def cited(client: Client) -> Any:
        found = await client.call_tool("search", {"query": "stateless"})
        return await client.read_resource(found.structured_content["results"][0]["url"])

    assert "JWT, as the API must be stateless" in ask("chatgpt", cited).contents[0].text
