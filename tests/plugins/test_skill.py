"""The skill is short, and every tool and parameter that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import make_plugins
import pytest

from observer.tools import render
from observer.tools.registry import toolsets

SKILL = (Path(__file__).parents[2] / "plugins" / "source" / "SKILL.md").read_text(encoding="utf-8")
MOST_TOKENS = 400
TOOLS = {
    tool.name: tool.input_schema["properties"]
    for name in make_plugins.TOOLSETS
    for tool in toolsets()[name].tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
}
CALLS = re.findall(r"`(\w+)\((.*?)\)`", SKILL)


def test_it_costs_little() -> None:
    assert render.tokens(SKILL) < MOST_TOKENS


def test_it_says_when_to_use_it() -> None:
    """The limits of name and description are those of the Agent Skills specification."""
    _, head, _ = SKILL.split("---\n", 2)
    name, description = (line.split(": ", 1)[1] for line in head.splitlines())
    assert name == "observer"
    assert len(description) <= 1024
    assert "Use before" in description


def test_it_teaches_to_search_to_ask_why_and_to_remember() -> None:
    called = [name for name, _ in CALLS]
    assert {"search", "get_context", "why", "memory"} <= set(called)


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_a_call_names_a_tool_and_its_parameters(tool: str, arguments: str) -> None:
    assert set(re.findall(r"(\w+)=", re.sub(r'"[^"]*"', '""', arguments))) <= set(TOOLS[tool])
