"""An agent and a person work on one note: a real client, the real daemon, a real editor's save."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home
from tests.support import Git, Until

pytestmark = pytest.mark.slow


def client_of(tools: str, folder: Path, **variables: str) -> Client:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "observer", "mcp", "--tools", tools],
        env=dict(os.environ) | variables,
        cwd=folder,
    )
    return Client(server)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return client_of("basic-memory", tmp_path)


Said = Callable[..., Awaitable[Any]]


@pytest.fixture
def work(client: Client, tmp_path: Path) -> Callable[[Callable[[Said], Awaitable[Any]]], Any]:
    """Run what is to be done with what calls a tool, in a client with the note folder `notes`."""

    def run(work: Callable[[Said], Awaitable[Any]]) -> Any:
        async def done() -> Any:
            async with asyncio.timeout(120), client:

                async def said(tool: str, **arguments: Any) -> Any:
                    return await client.call_tool(tool, arguments)

                await said(
                    "create_memory_project", project_name="n", project_path=str(tmp_path / "notes")
                )
                return await work(said)

        return asyncio.run(done())

    return run


def test_a_removed_folder_is_found_nowhere(
    tmp_path: Path, home: Home, client: Client, git: Git, until: Until
) -> None:
    """In another toolset at once, in the files that sessions begin with soon after."""
    git(tmp_path / "shop", "init")

    def is_told() -> bool:
        shown = home.context.rglob("CONTEXT.md")
        return any("marmalade" in path.read_text() for path in shown)

    async def work() -> None:
        note = {"title": "Jar", "content": "marmalade", "directory": "/", "note_type": "decision"}
        async with asyncio.timeout(90), client, client_of("core", tmp_path) as other:
            folder = {"project_name": "shop", "project_path": str(tmp_path / "shop" / "notes")}
            await client.call_tool("create_memory_project", folder)
            await client.call_tool("write_note", note)
            assert "Jar" in str(await other.call_tool("search", {"query": "marmalade"}))
            await asyncio.to_thread(until, is_told)
            await client.call_tool("delete_project", {"project_name": "shop"})
            assert "Jar" not in str(await other.call_tool("search", {"query": "marmalade"}))

    asyncio.run(work())
    until(lambda: not is_told())


def test_the_environment_of_a_client_holds_it_to_one_note_folder(tmp_path: Path) -> None:
    constrained = client_of("basic-memory", tmp_path, BASIC_MEMORY_MCP_PROJECT="quay")

    async def work() -> str:
        async with asyncio.timeout(90):
            async with client_of("basic-memory", tmp_path) as free:
                for name in ("harbour", "quay"):
                    asked = {"project_name": name, "project_path": str(tmp_path / name)}
                    await free.call_tool("create_memory_project", asked)
            async with constrained:
                note = {"title": "A", "content": "x", "directory": "/", "project": "harbour"}
                return str(await constrained.call_tool("write_note", note))

    assert "project: quay" in asyncio.run(work())
    assert (tmp_path / "quay" / "A.md").exists()


def test_a_new_note_is_found_by_meaning_at_once(work: Any) -> None:
    """With the score that is shown, with which `min_similarity` is compared."""

    async def scores(said: Said) -> list[list[float]]:
        await said("write_note", title="Jar", content="Prices are Decimal", directory="/")
        asked = {"query": "money amounts never floats", "search_type": "semantic"}

        async def found(**more: float) -> list[float]:
            answer = await said("search_notes", **asked, **more)
            return [hit["score"] for hit in answer.structured_content["results"]]

        [score] = await found()
        near = (score - 0.01, score + 0.01)
        return [[score], *[await found(min_similarity=least) for least in near]]

    [score], below, above = work(scores)
    assert (below, above) == ([score], [])


def test_an_image_is_an_image_block_and_a_table_has_working_escapes(
    tmp_path: Path, work: Any
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "dot.png").write_bytes(b"\x89PNG\xff")

    async def read(said: Said) -> tuple[str, str]:
        _, image = (await said("read_content", identifier="dot.png")).content
        await said("write_note", title="Jar", content="jobs", directory="/")
        found = await said("search_notes", query="jobs", output_format="ansi")
        return str(image), found.content[0].text

    image, table = work(read)
    assert "data='iVBOR/8='" in image
    assert "image/png" in image
    assert "| \x1b[1mTitle\x1b[0m | " in table


def test_an_agent_and_a_person_work_on_one_note(tmp_path: Path, work: Any) -> None:
    async def both(said: Said) -> None:
        await said("write_note", title="Cart", content="- [fact] Sums in float", directory="design")
        file = tmp_path / "notes" / "design" / "Cart.md"
        assert "- [fact] Sums in float" in file.read_text()
        draft = file.with_name(".Cart.md.swp")  # as editors save: another file, renamed
        draft.write_text(file.read_text().replace("float", "Decimal"))
        draft.rename(file)
        assert "n/design/cart" in str(await said("search_notes", query="decimal"))
        appended = await said(
            "edit_note", identifier="Cart", operation="append", content="- about [[Tax]]"
        )
        assert not appended.is_error
        assert file.read_text().endswith("- [fact] Sums in Decimal\n- about [[Tax]]")
        file.unlink()
        assert "Note Not Found" in str(await said("read_note", identifier="Cart"))

    work(both)


def test_a_directory_goes_with_its_pictures_and_comes_back(
    tmp_path: Path, work: Any, observer: Any
) -> None:
    trip = tmp_path / "notes" / "trip"
    trip.mkdir(parents=True)
    (trip / "Day.md").write_text("zebra crossing")
    (trip / "map.png").write_bytes(b"\x89PNG\xff")

    async def move(said: Said) -> None:
        asked = {"identifier": "trip", "destination_path": "old", "is_directory": True}
        assert "Successfully moved: 2" in str(await said("move_note", **asked))
        assert not trip.exists()
        gone = await said("delete_note", identifier="old", is_directory=True)
        assert "Successfully deleted: 2" in str(gone)
        assert "No results" in str(await said("search_notes", query="zebra"))
        for _ in range(2):
            await asyncio.to_thread(observer, "note", "folder", "undo")
        assert "trip/Day.md" in str(await said("search_notes", query="zebra"))

    work(move)
    assert sorted(path.name for path in trip.iterdir()) == ["Day.md", "map.png"]


def test_tools_are_answered_while_a_large_folder_is_read(tmp_path: Path, client: Client) -> None:
    port = tmp_path / "port"
    port.mkdir()
    for number in range(1_000):
        (port / f"n{number:03}.md").write_text("a zebra crossing")

    async def work() -> str:
        async with asyncio.timeout(120), client:
            asked = {"project_name": "port", "project_path": str(port)}
            making = asyncio.create_task(client.call_tool("create_memory_project", asked))
            while "port" not in str(await client.call_tool("list_memory_projects", {})):
                pass
            asked = [{"title": f"T {n}", "content": "x", "directory": ""} for n in range(8)]
            wrote = [client.call_tool("write_note", {**each, "project": "port"}) for each in asked]
            for answer in await asyncio.gather(*wrote):
                assert "Created note" in str(answer)
            await making
            return str(await client.call_tool("list_memory_projects", {}))

    assert "port: 1008 notes" in asyncio.run(work())


def test_an_answer_in_any_format_says_what_was_not_read(tmp_path: Path, work: Any) -> None:
    async def ask(said: Said) -> list[str]:
        (tmp_path / "notes").rename(tmp_path / "away")
        answers = [
            await said("search_notes", query="zebra", project="n"),
            await said("search_notes", query="zebra", project="n", output_format="json"),
            await said("recent_activity", project="n", output_format="json"),
        ]
        return [" ".join(part.text for part in each.content) for each in answers]

    for text in work(ask):
        assert "notes cannot be read: No such file" in text
