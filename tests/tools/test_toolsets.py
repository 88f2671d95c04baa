"""Which toolsets there are, browse and an example's among them; kept answers are current."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations, count
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import StdioServerParameters
from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.model import Session, item_id
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.store.database import SqliteStore
from observer.tools import registry
from observer.tools.core import CACHED, LONGEST, Asking, ResponseCache
from observer.tools.registry import BUILT_IN, Toolset, chosen, tools_of, toolsets
from observer.tools.tool import Tool, ToolResult


def test_toolsets_are_chosen_by_name_each_once() -> None:
    assert chosen(" core, core ") == ("core",)
    for names in ("", ",", "cor", "core,x"):
        with pytest.raises(BadInput) as refused:
            chosen(names)
        assert "core" in refused.value.hint


def names_of(text: str, memory: Memory) -> list[str]:
    return list(tools_of(chosen(text), memory, str))


def test_a_choice_is_refused_exactly_when_a_name_is_in_both(memory: Memory) -> None:
    for pair in combinations(toolsets(), 2):
        one, other = (names_of(name, memory) for name in pair)
        if set(one) & set(other):
            with pytest.raises(BadInput, match=f"'{pair[0]}' and '{pair[1]}' both have a tool"):
                names_of(",".join(pair), memory)
        else:
            assert names_of(",".join(pair), memory) == [*one, *other]


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
    rows = {row["name"]: row for row in answer.result["projects"]}
    assert set(rows) == {"my-api", "other"}
    assert rows["my-api"]["uuid"] in answer.text


def test_sessions_are_listed_by_the_id_that_search_takes(tools: dict[str, Tool]) -> None:
    answer = tools["sessions"].call({})
    (row,) = answer.result["sessions"]
    assert (row["session"], row["client"], row["project"]) == (
        "session-abc", "claude-code", "my-api"
    )  # fmt: skip
    assert row["request"] == "add JWT login"
    assert "session-abc" in answer.text


def test_sessions_of_one_project(tools: dict[str, Tool], memory: Memory, tmp_path: Any) -> None:
    assert tools["sessions"].call({"project": "."}).result["sessions"]
    none = tools["sessions"].call({"project": "other"})
    assert (none.text, none.result["sessions"]) == ("nothing recorded yet", [])
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
    assert len(answer.result["items"]) == 2
    assert answer.text.startswith(f"#{answer.result['items'][0]['id']} ")


NOW_MS = 1_742_050_000_000
MINUTE_MS = 60_000
SESSION = Session(id=14, external="session-abc", client="claude-code", project_id=2)

_numbers = count()


def made(*texts: str) -> Mock:
    """Return what makes one answer after the other."""
    return Mock(side_effect=[ToolResult(text, {}) for text in texts])


@pytest.fixture
def kept(memory: Memory) -> ResponseCache:
    return ResponseCache(memory, lambda: NOW_MS)


def test_an_answer_is_made_once_while_nothing_changes_for_a_minute(memory: Memory) -> None:
    clock = Mock(return_value=NOW_MS)
    kept, make = ResponseCache(memory, clock), made("one", "two", "three")
    assert [kept.answer(asked, make).text for asked in "xxy"] == ["one", "one", "two"]
    clock.return_value += MINUTE_MS
    assert kept.answer("x", make).text == "three"


def test_whatever_is_written_drops_it_also_while_it_is_made(
    kept: ResponseCache, store: SqliteStore
) -> None:
    def make(_: Asking) -> ToolResult:
        end(kept._memory, store)
        return ToolResult("one", {})

    kept.answer("x", make)
    later = made("two", "three")
    assert kept.answer("x", later).text == "two"
    end(kept._memory, store)
    assert kept.answer("x", later).text == "three"


def test_it_is_dropped_once_git_says_otherwise(kept: ResponseCache) -> None:
    shown = iter((frozenset("a"), frozenset("a"), None))

    def make(heard: Asking) -> ToolResult:
        ask = heard(lambda _: next(shown))
        return ToolResult(str(ask(["a", "b"])), {})

    assert kept.answer("x", make).text == kept.answer("x", made()).text
    assert kept.answer("x", made("anew")).text == "anew"


def test_few_are_kept_and_no_long_one(kept: ResponseCache) -> None:
    kept.answer("x", made("one"))
    kept.answer("long", made("x" * (LONGEST + 1)))
    assert kept.answer("long", made("anew")).text == "anew"
    for number in range(CACHED - 1):
        kept.answer(number, made("more"))
    assert kept.answer("x", made("two")).text == "two"


def remember(memory: Memory, _: SqliteStore) -> None:
    memory.notes.remember(Note(content=f"Keep {next(_numbers)}"), project="my-api")


def end(_: Memory, store: SqliteStore) -> None:
    with store.write() as writer:
        writer.put_session(replace(SESSION, branch=f"b{next(_numbers)}"))


def change(_: Memory, store: SqliteStore) -> None:
    with store.read() as reader:
        (item,) = reader.items([item_id(12)])
    with store.write() as writer:
        writer.put_items([replace(item, title=f"Modified {next(_numbers)}")])


def ask_only(_memory: Memory, _store: SqliteStore) -> None:
    """Change nothing."""


@given(st.lists(st.sampled_from([remember, end, change, ask_only]), max_size=6))
def test_a_context_is_the_same_bytes_as_one_that_is_made_anew(
    memory: Memory, store: SqliteStore, steps: Sequence[Callable[[Memory, SqliteStore], None]]
) -> None:
    kept = tools_of(("core",), memory, lambda: "")
    for step in steps:
        step(memory, store)
        arguments = {"project": "my-api"}
        fresh = tools_of(("core",), memory, lambda: "")["get_context"].call(arguments)
        answer = kept["get_context"].call(arguments)
        assert answer.text == fresh.text
        assert msgspec.json.encode(answer.result) == msgspec.json.encode(fresh.result)
