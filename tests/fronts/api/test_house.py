"""Approved rules stand in the instructions of every server that starts, in either protocol era."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from observer.memory.api import Memory
from observer.notes.values import Note
from observer.serve.mcp.server import Rules


def keep(memory: Memory, content: str, **fields: object) -> int:
    note = Note(content=content, type="rule", **fields)  # type: ignore[arg-type] # a test's own
    return memory.notes.remember(note, project="my-api", author="person").item.id


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_rule_is_in_the_instructions_of_the_next_connection(
    stdio: StdioServerParameters, memory: Memory, mode: str
) -> None:
    async def instructions() -> str:
        async with asyncio.timeout(30), Client(stdio, mode=mode) as client:
            return client.instructions or ""

    assert "House Rules" not in asyncio.run(instructions())
    keep(memory, "Never push to main.", title="Pushing")
    shown = asyncio.run(instructions())
    assert shown.endswith("## House Rules\n\n### Pushing\nNever push to main.")
    assert shown.startswith("observer remembers")


def test_rules_hold_in_their_project(memory: Memory, tmp_path: Path) -> None:
    keep(memory, "Here only.")
    keep(memory, "Everywhere.", scope="team")
    house = Rules(memory, most_chars=1_000)
    assert "Here only." in house.rules(str(tmp_path / "my-api"))
    assert "Here only." not in house.rules(str(tmp_path / "other"))
    assert "Everywhere." in house.rules("")


def test_no_rule_is_cut(memory: Memory) -> None:
    keep(memory, "x" * 500, title="Long")
    keep(memory, "short", title="Short", scope="team")
    shown = Rules(memory, most_chars=100).rules("")
    assert shown == "## House Rules\n\n### Short\nshort"
    keep(memory, "y" * 500, scope="team")
    assert "1 more did not fit" in Rules(memory, most_chars=100).rules("")
    assert Rules(memory, most_chars=0).rules("") == ""
