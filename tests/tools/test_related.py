"""What the tool `related` says, and `observer graph` after it."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.errors import NotFound
from observer.memory.api import Memory
from observer.store.database import SqliteStore
from observer.tools.asking import CommandRequest, surroundings
from observer.tools.questions import reply
from observer.tools.registry import tools_of
from observer.tools.tool import ToolResult
from tests.tools.conftest import an_item

USES = '{"relations": [{"source": "auth.ts", "relation": "uses", "destination": "jose"}]}'


@pytest.fixture
def related(memory: Memory, store: SqliteStore) -> Any:
    shared = {"kind": "note", "type": "decision", "person": "bea"}
    with store.write() as writer:
        writer.put_items([an_item(30, "auth.ts checks the issuer", metadata=USES, **shared)])
    tool = tools_of(("core",), memory, str)["related"]
    return lambda name, **asked: tool.call({"name": name, **asked})


def test_an_answer_names_files_people_and_items_by_id(related: Any) -> None:
    found: ToolResult[Any] = related("auth.ts")
    lines = found.text.splitlines()
    assert lines[0].startswith("auth.ts · file and entity · 3 items, last ")
    assert "files: src/auth.ts 2" in lines
    assert any(line.startswith("people: you 2, ") and "; bea 1, " in line for line in lines)
    assert any(line.startswith("  #120 decision · auth.ts checks the issuer") for line in lines)
    assert "  #120 auth.ts -uses-> jose" in lines


def test_the_json_says_the_same(related: Any) -> None:
    result = related("auth.ts").result
    assert [(one.name, one.count) for one in result.people] == [("you", 2), ("bea", 1)]
    assert [one.sort for one in result.groups][:2] == ["decisions", "edits"]
    assert result.relations[0].destination == "jose"


def test_more_than_is_shown_is_counted(related: Any) -> None:
    assert "edits (3, the newest 1):" in related("jwt", limit=1).text


def test_nothing_is_an_error_with_what_to_try(related: Any) -> None:
    with pytest.raises(NotFound, match="nothing names 'zebra'"):
        related("zebra")


def test_the_command_says_what_to_call_next(memory: Memory) -> None:
    asked = CommandRequest(
        question="related",
        arguments={"name": "auth.ts", "project": None, "everywhere": True, "limit": 3},
        folder="/",
        is_json=False,
        is_local=False,
        surroundings=surroundings(),
    )
    text = reply(memory, asked).text or ""
    assert text.splitlines()[-1].startswith("more: observer show ID, or observer search auth.ts")
