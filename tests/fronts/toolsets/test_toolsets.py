from __future__ import annotations

import subprocess
from itertools import combinations
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.core.errors import BadInput
from observer.memory.api import Memory
from observer.tools import registry
from observer.tools.registry import Toolset, chosen, tools_of, toolsets


def test_toolsets_are_chosen_by_name_each_once() -> None:
    assert chosen(" core, core ") == ("core",)


@pytest.mark.parametrize("names", ["", ",", "cor", "core,x"])
def test_an_unknown_choice_is_refused_with_the_known_ones(names: str) -> None:
    with pytest.raises(BadInput) as refused:
        chosen(names)
    assert "core" in refused.value.hint


def test_two_toolsets_with_one_name_for_a_tool_are_refused_together(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {**toolsets(), "other": Toolset("", toolsets()["core"].tools)}
    monkeypatch.setattr(registry, "toolsets", lambda: both)
    with pytest.raises(BadInput, match="'core' and 'other' both have a tool 'search'"):
        tools_of(("core", "other"), memory, str)


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
