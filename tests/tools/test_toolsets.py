"""Which toolsets there are, browse and an example's among them."""

from __future__ import annotations

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from mcp import Client, StdioServerParameters

from observer.core.errors import BadInput, NotFound
from observer.memory.api import Memory
from observer.tools import registry
from observer.tools.registry import BUILT_IN, Toolset, chosen, tools_of, toolsets
from observer.tools.tool import Tool


def test_toolsets_are_chosen_by_name_each_once() -> None:
    assert chosen(" core, core ") == ("core",)
    for names in ("", ",", "cor", "core,x"):
        with pytest.raises(BadInput) as refused:
            chosen(names)
        assert "core" in refused.value.hint


def names_of(text: str, memory: Memory) -> list[str]:
    return list(tools_of(chosen(text), memory, str))


@pytest.mark.parametrize("text", ["core,mem0", "story,mem0,core", "chatgpt,mem0", "chatgpt,story"])
def test_toolsets_without_a_common_name_are_offered_together(
    text: str, memory: Memory, ask: Any
) -> None:
    apart = [name for one in chosen(text) for name in names_of(one, memory)]
    assert [tool.name for tool in ask(text, Client.list_tools).tools] == apart


@pytest.mark.parametrize(
    "pair", [pair for pair in combinations(toolsets(), 2) if "chatgpt" in pair], ids=",".join
)
def test_a_choice_is_refused_exactly_when_a_name_is_in_both(
    pair: tuple[str, str], memory: Memory
) -> None:
    one, other = (set(names_of(name, memory)) for name in pair)
    if one & other:
        with pytest.raises(BadInput, match=f"'{pair[0]}' and '{pair[1]}' both have a tool"):
            names_of(",".join(pair), memory)
    else:
        assert set(names_of(",".join(pair), memory)) == one | other


def test_colliding_toolsets_are_refused_at_start(stdio: StdioServerParameters) -> None:
    words = [stdio.command, *stdio.args, "--tools", "core,chatgpt"]
    ran = subprocess.run(
        words, input=b"", env=stdio.env, cwd=stdio.cwd, capture_output=True, timeout=30, check=False
    )
    assert ran.returncode == 2
    assert b"toolsets 'core' and 'chatgpt' both have a tool 'search'" in ran.stderr


@pytest.fixture
def tools(memory: Memory, tmp_path: Any) -> dict[str, Tool]:
    return tools_of(("browse",), memory, lambda: str(tmp_path / "my-api"))


def test_projects_are_listed_by_every_name_that_finds_them(tools: dict[str, Tool]) -> None:
    answer = tools["projects"].call({})
    rows = {row["name"]: row for row in answer.result.projects}
    assert set(rows) == {"my-api", "other"}
    assert rows["my-api"]["uuid"] in answer.text


def test_sessions_are_listed_by_the_id_that_search_takes(tools: dict[str, Tool]) -> None:
    answer = tools["sessions"].call({})
    (row,) = msgspec.to_builtins(answer.result)["sessions"]
    assert (row["session"], row["client"], row["project"]) == (
        "session-abc", "claude-code", "my-api"
    )  # fmt: skip
    assert row["request"] == "add JWT login"
    assert "session-abc" in answer.text


def test_sessions_of_one_project(tools: dict[str, Tool], memory: Memory, tmp_path: Any) -> None:
    assert tools["sessions"].call({"project": "."}).result.sessions
    none = tools["sessions"].call({"project": "other"})
    assert (none.text, none.result.sessions) == ("nothing recorded yet", [])
    sessions = tools_of(("browse",), memory, lambda: str(tmp_path / "new"))["sessions"]
    assert sessions.call({"project": "."}).text == "nothing recorded yet"
    with pytest.raises(NotFound, match="no project 'new'"):
        sessions.call({"project": "new"})


EXAMPLE = Path(__file__).parents[2] / "examples" / "toolset.py"


@pytest.fixture
def example() -> ModuleType:
    spec = spec_from_file_location("toolset", EXAMPLE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_offered_beside_core_and_answers(
    example: ModuleType, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Toolset(example.GUIDE, example.Newest.of)
    monkeypatch.setattr(registry, "toolsets", lambda: BUILT_IN | {"recent": row})
    tools = tools_of(("core", "recent"), memory, lambda: str(tmp_path / "my-api"))
    answer = tools["recent"].call({"limit": 2})
    assert len(answer.result.items) == 2
    assert answer.text.startswith(f"#{answer.result.items[0]['id']} ")
