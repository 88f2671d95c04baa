"""What toolsets offer, and what being offered them costs an agent's context.

Counted is what clients hand to a model: names, descriptions and parameters, and the guide. The
schemas of results are not, since clients keep those to themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from observer.front import render
from observer.front.tool import Row, Tool
from observer.front.toolsets import TOOLSETS, tools_of
from observer.memory import Memory

_NOBODYS = cast("Memory", None)  # the tools are looked at, not called


class ToolOffer(Row):
    """One tool; `tokens` are about 4 characters each."""

    name: str
    title: str
    description: str
    tokens: int


class ToolsetOffer(Row):
    """One toolset; `tokens` is the sum, its guide included."""

    toolset: str
    guide: str
    tokens: int
    tools: list[ToolOffer]


def offers() -> list[ToolsetOffer]:
    """Return every toolset."""
    return [_offer(name) for name in TOOLSETS]


def together(names: Sequence[str]) -> list[ToolsetOffer]:
    """Return the toolsets of a choice.

    Raises:
        BadInput: two of them have a tool of the same name.
    """
    tools_of(tuple(names), _NOBODYS, str)
    return [_offer(name) for name in names]


def _offer(name: str) -> ToolsetOffer:
    toolset = TOOLSETS[name]
    tools = [_tool(tool) for tool in toolset.tools(_NOBODYS, str)]
    return ToolsetOffer(
        toolset=name,
        guide=toolset.guide,
        tokens=render.tokens(toolset.guide) + sum(tool.tokens for tool in tools),
        tools=tools,
    )


def _tool(tool: Tool) -> ToolOffer:
    told = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return ToolOffer(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        tokens=render.tokens(msgspec.json.encode(told).decode()),
    )
