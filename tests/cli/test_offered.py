"""`observer mcp list`: what may be offered to an agent, and at what price."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from observer.tools.registry import toolsets

Run = Callable[..., Any]


def test_all_toolsets_are_listed_with_what_each_tool_costs(run: Run) -> None:
    listed = run("mcp", "list", "--json").json
    assert [each["toolset"] for each in listed] == list(toolsets())
    for each in listed:
        costs = [tool["tokens"] for tool in each["tools"]]
        assert min(costs) > 20
        assert each["tokens"] == sum(costs) + -(-len(each["guide"]) // 4)


def test_a_table_has_a_line_for_each_toolset_and_tool(run: Run) -> None:
    lines = run("mcp", "list", "core").out.splitlines()
    rows = [re.split(" {2,}", line) for line in lines]
    assert rows[0] == ["toolset", "tool", "tokens", "what for"]
    assert rows[1][:2] == ["core", "(6 in all)"]
    assert rows[2][:2] == ["core", "search"]


def test_of_a_choice_the_sum_is_shown(run: Run) -> None:
    costs = {each["toolset"]: each["tokens"] for each in run("mcp", "list", "--json").json}
    assert f"{costs['core'] + costs['mem0']:,} tokens in all" in run("mcp", "list", "core,mem0").err


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        pytest.param("core,chatgpt", "'core' and 'chatgpt' both have a tool 'search'", id="twice"),
        pytest.param("core,x", "no toolset 'x'", id="unknown"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(run: Run, choice: str, reason: str) -> None:
    ran = run("mcp", "list", choice)
    assert ran.code == 2
    assert reason in ran.err
