"""Another user's memories, by a real daemon: imported, asked for, deleted for good, restored."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home
from tests.support import Observer, Until
from tests.upkeep.purge.conftest import holding

pytestmark = pytest.mark.slow(waits=True)

Call = Callable[..., str]
CANARY = "zebrafink"
AT = "2026-05-28T20:26:40Z"
MEMORIES = [
    {"id": "a", "memory": f"Keeps a {CANARY}", "user_id": "bob", "created_at": AT},
    {"id": "b", "memory": f"Feeds the {CANARY} seeds", "user_id": "bob", "agent_id": CANARY,
     "metadata": {"bird": CANARY}, "created_at": AT, "updated_at": "2026-05-29T20:26:40Z"},
    {"id": "c", "memory": "Likes cats", "user_id": "eve", "created_at": AT},
]  # fmt: skip
RELATIONS = [{"source": "bob", "relationship": "keeps", "target": CANARY, "user_id": "bob"}]


@pytest.fixture
def call() -> Call:
    """Call a tool of mem0 as an agent does, through the pump; returns its text."""

    def run(name: str, **arguments: Any) -> str:
        async def asked() -> str:
            server = StdioServerParameters(
                command=sys.executable,
                args=["-m", "observer", "mcp", "--tools", "mem0"],
                env={name: os.environ[name] for name in ("HOME", "OBSERVER_HOME", "PATH")},
            )
            async with asyncio.timeout(120), Client(server) as client:
                return str((await client.call_tool(name, arguments)).content[0].text)

        return asyncio.run(asked())

    return run


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"results": MEMORIES, "relations": RELATIONS}))
    return path


def test_an_imported_memory_is_its_users_alone(within: Observer, call: Call, export: Path) -> None:
    within("up")
    assert within("import", "mem0", str(export)).returncode == 0
    assert f"Keeps a {CANARY}" in call("search_memories", query=f"{CANARY} kept", user_id="bob")
    assert f"bob keeps {CANARY}" in call("get_all_memories", user_id="bob")
    assert "Found 1 memories for agent" in call("get_all_memories", agent_id=CANARY)
    assert CANARY not in call("search_memories", query=f"{CANARY} seeds", user_id="eve")
    assert CANARY not in call("search_memories", query=f"{CANARY} seeds")
    assert CANARY not in within("search", CANARY).stdout


def test_without_grace_no_byte_of_the_home_holds_what_was_deleted(
    within: Observer, call: Call, export: Path, home: Home, until: Until
) -> None:
    within("up", OBSERVER_FORGET_GRACE_HOURS="0")
    within("import", "mem0", str(export))
    call("add_memory", messages=[{"role": "user", "content": f"{CANARY}s sing"}], user_id="bob")
    call("search_memories", query="birds", user_id="bob")
    within("backup")
    copies = [f"backups/{path.name}" for path in home.backups.glob("*.db")]
    assert {"observer.db-wal", *copies} <= {*holding(home, CANARY)}
    answer = call("delete_all_memories", user_id="bob")
    assert "Deleted 4 memories for user bob\nFinal now" in answer
    until(lambda: not holding(home, CANARY), wait_s=50)
    assert "Likes cats" in call("get_all_memories", user_id="eve")
    again = within("import", "mem0", str(export.rename(export.with_name("again.json"))))
    assert "purged" in again.stdout
    assert "Found 0 memories" in call("get_all_memories", user_id="bob")
    within("down")
    within("doctor", "--rebuild")
    assert holding(home, CANARY) == []


def test_within_the_grace_the_owner_of_the_machine_alone_brings_all_back(
    within: Observer, call: Call, export: Path
) -> None:
    within("up")
    within("import", "mem0", str(export))
    answer = call("delete_all_memories", user_id="bob")
    assert "until then its owner brings it back with: observer note deleted --undo" in answer
    waits = json.loads(within("note", "deleted", "--json").stdout)
    assert {one["owner"] for one in waits} == {"bob"}
    for words in (("deleted", "--undo"), ("undo", str(waits[0]["id"]))):  # not for an agent
        assert within("note", *words, CLAUDECODE="1").returncode != 0
    assert "Found 0 memories" in call("get_all_memories", user_id="bob")
    listed = within("note", "deleted", "--of", "bob", "--undo").stdout
    assert f"of bob: Keeps a {CANARY} (until " in listed
    assert "Found 3 memories" in call("get_all_memories", user_id="bob")
    assert "no agent's deletion waits" in within("note", "deleted").stdout
