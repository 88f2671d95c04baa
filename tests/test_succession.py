"""Notes that change one another, from who writes to who asks: real daemon, models, MCP clients.

A stand-in for a model follows what an answer says of standing notes, in each toolset that writes.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home
from observer.local import client

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
OLD, NEW = "The staging database listens on port 5433", "The staging database moved to port 6001"
HINT = re.compile(
    r"^(\S+) of \d{4}-\d\d-\d\d stands too: (.*?)(?:\. If it no longer holds: (.+))?$", re.MULTILINE
)
LINE_CHARS = 240
"""About 60 tokens."""


class Written(NamedTuple):
    """How a toolset writes two texts, follows a hint, and shows what it has."""

    toolset: str
    old: str
    new: str
    write: Callable[[str], tuple[str, dict[str, Any]]]
    follow: Callable[[re.Match[str]], tuple[str, dict[str, Any]]]
    look: tuple[str, dict[str, Any]]


def _memory(text: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "memory", {"action": "remember", "content": text, **more}


TOOLSETS = (
    Written(
        "core",
        OLD,
        NEW,
        _memory,
        lambda hint: _memory(NEW, supersedes=json.loads(hint[3].partition("supersedes=")[2])),
        ("memory", {"action": "recall", "query": "staging database port"}),
    ),
    Written(
        "memex",
        "Invoices are sent on the first of the month",
        "Invoices are sent on the tenth day of a month",
        lambda text: ("save_note", {"title": text, "content": text, "layer": "state"}),
        lambda hint: ("delete_note", {"id": int(hint[3].rpartition(" ")[2])}),
        ("search_notes", {"query": "invoices are sent"}),
    ),
    Written(
        "mem0",
        "Ana lives in Oslo",
        "Ana lives in Bergen now",
        lambda text: (
            "add_memory",
            {"messages": [{"role": "user", "content": text}], "user_id": "ana"},
        ),
        lambda hint: ("delete_memory", {"memory_id": hint[1]}),
        ("search_memories", {"query": "where does ana live", "user_id": "ana"}),
    ),
    Written(
        "basic-memory",
        "Uploads go to the media bucket",
        "Uploads go to the local disk",
        lambda text: ("write_note", {"title": text, "content": text, "directory": "ops"}),
        lambda hint: (
            "edit_note",
            {
                "identifier": "Uploads go to the local disk",
                "operation": "append",
                "content": f"\n{hint[3].split('`')[1]}\n",
            },
        ),
        ("search_notes", {"query": "uploads go"}),
    ),
)


@pytest.fixture
def shop(tmp_path: Path, home: Home, observer: Callable[..., Any]) -> Iterator[Path]:
    """A project with a note folder, and a daemon."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "notes").mkdir()
    assert observer("up").returncode == 0
    assert observer("note", "folder", "add", str(folder / "notes")).returncode == 0
    yield folder
    client.stop(home, wait_s=30.0)


def ask(toolset: str, folder: Path, work: Callable[[Client], Awaitable[Any]]) -> Any:
    pump = StdioServerParameters(
        command=sys.executable,
        args=["-m", "observer", "mcp", "--tools", toolset],
        cwd=str(folder),
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )

    async def connected() -> Any:
        async with asyncio.timeout(60), Client(pump) as session:
            return await work(session)

    return asyncio.run(connected())


async def _followed(by: Written, session: Client) -> tuple[list[re.Match[str]], str]:
    """Write two texts, follow what the second answer says of the first, and look."""
    for text in (by.old, by.new):
        answer = (await session.call_tool(*by.write(text))).content[0].text
    hints = list(HINT.finditer(answer))
    for hint in hints:
        done = await session.call_tool(*by.follow(hint))
        assert not done.is_error, done.content[0].text
    return hints, (await session.call_tool(*by.look)).content[0].text


def test_a_stand_in_for_a_model_settles_what_it_is_shown(shop: Path) -> None:
    for by in TOOLSETS:
        hints, found = ask(by.toolset, shop, lambda session, by=by: _followed(by, session))  # type: ignore[misc]  # a default binds it
        assert by.old in hints[0][2], by.toolset
        assert all(len(hint[0]) <= LINE_CHARS for hint in hints), by.toolset
        assert by.new in found
        assert by.old not in found or "superseded by #" in found, (by.toolset, found)


def test_two_sessions_that_amend_a_decision_answer_with_the_newer_first(shop: Path) -> None:
    async def write(session: Client, text: str) -> Any:
        return await session.call_tool(*_memory(text, fact_type="decision"))

    async def recall(session: Client) -> Any:
        query = {"action": "recall", "query": "on which port is the staging database"}
        return await session.call_tool("memory", query)

    for text in (OLD, "The cart sums in Decimal", NEW):
        ask("core", shop, lambda session, text=text: write(session, text))  # type: ignore[misc]
    said = ask("core", shop, recall).content[0].text
    found = json.loads(said[said.index("[") : said.rindex("]") + 1])
    assert [row["content"] for row in found[:2]] == [NEW, OLD]
    assert all(row["created_at"] and "validity" not in row for row in found[:2])


def test_a_review_settles_many_in_one_call(shop: Path) -> None:
    async def review(session: Client) -> Any:
        for text in (OLD, NEW, "Money is kept in cents", "Money is kept in whole cents, as int"):
            await session.call_tool(*_memory(text))
        prompt = await session.get_prompt("review", {})
        open_ = (await session.call_tool("resolve", {})).structured_content["open"]
        pairs = [{"id": each["id"], "how": "replaces", "other": each["other"]} for each in open_]
        settled = await session.call_tool("resolve", {"pairs": pairs})
        return prompt.messages[0].content.text, pairs, settled.structured_content

    text, pairs, settled = ask("core", shop, review)
    assert len(pairs) >= 2
    assert all(f"#{pair['id']} " in text for pair in pairs)
    assert [each["id"] for each in settled["settled"]] == [pair["id"] for pair in pairs]
    assert (settled["open"], settled["total"]) == ([], 0)


def test_a_person_sees_what_stands_and_reviews_it(
    shop: Path, observer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    old = observer("remember", OLD, "--json")
    said = observer("remember", NEW)
    number = json.loads(old.stdout)["id"]
    assert f"#{number} of " in said.stderr
    assert "stands too" in said.stderr
    assert "1 near pair of notes in shop not settled" in observer("note", "review").stdout
    command = said.stderr.split("no longer holds: observer ")[1].splitlines()[0]
    assert observer(*command.split()).returncode == 0
    assert "0 near pairs" in observer("note", "review").stdout
    assert "superseded by #" in observer("search", "--notes", "staging database").stdout


def in_terminal(keys: str, *words: str, **env: str) -> str:
    """Run a command in a terminal, type, and return what the terminal showed."""
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "observer", *words],
        stdin=end,
        stdout=end,
        stderr=end,
        env=os.environ | {"PYTHONPATH": str(ROOT), **env},
    ) as process:
        os.close(end)
        os.write(terminal, keys.encode())
        shown = b""
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while part := os.read(terminal, 65_536):
                shown += part
    os.close(terminal)
    assert process.returncode == 0, shown.decode()
    return shown.decode()


@pytest.mark.parametrize(
    ("keys", "left"), [("s\nq\n", 2), ("r\nb\n", 0), ("a\nq\n", 1), ("m\nm\n", 0)]
)
def test_a_person_settles_pairs_by_key(
    shop: Path, observer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, keys: str, left: int
) -> None:
    monkeypatch.chdir(shop)
    for text in (OLD, NEW, "Money is kept in cents", "Money is kept in whole cents, as int"):
        assert observer("remember", text).returncode == 0
    editor = "sh -c 'echo Both in one, said anew >$0'"
    in_terminal(keys, "note", "review", EDITOR=editor, VISUAL=editor)
    assert observer("note", "review").stdout.startswith(f"{left} near pair")
