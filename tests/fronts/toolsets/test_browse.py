"""The browse tools: which projects and sessions there are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from observer.core.errors import NotFound
from observer.memory.api import Memory
from observer.tools.registry import tools_of
from observer.tools.tool import Tool


@pytest.fixture
def tools(memory: Memory, tmp_path: Any) -> dict[str, Tool]:
    return tools_of(("browse",), memory, lambda: str(tmp_path / "my-api"))


def test_projects_are_listed_by_every_name_that_finds_them(tools: dict[str, Tool]) -> None:
    answer = tools["projects"].call({})
    rows = {row.name: row for row in answer.result.projects}
    assert set(rows) == {"my-api", "other"}
    assert rows["my-api"].uuid in answer.text


def test_sessions_are_listed_by_the_id_that_search_takes(tools: dict[str, Tool]) -> None:
    answer = tools["sessions"].call({})
    (row,) = msgspec.to_builtins(answer.result)["sessions"]
    assert (row["session"], row["client"], row["project"]) == (
        "session-abc", "claude-code", "my-api"
    )  # fmt: skip
    assert row["request"] == "add JWT login"
    assert "session-abc" in answer.text


def test_sessions_of_one_project(tools: dict[str, Tool]) -> None:
    assert tools["sessions"].call({"project": "."}).result.sessions
    none = tools["sessions"].call({"project": "other"})
    assert (none.text, none.result.sessions) == ("nothing recorded yet", [])


def test_where_nothing_is_recorded_yet_there_are_no_sessions(memory: Memory, tmp_path: Any) -> None:
    sessions = tools_of(("browse",), memory, lambda: str(tmp_path / "new"))["sessions"]
    assert sessions.call({"project": "."}).text == "nothing recorded yet"
    with pytest.raises(NotFound, match="no project 'new'"):
        sessions.call({"project": "new"})
