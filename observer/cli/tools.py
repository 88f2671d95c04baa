"""`observer tools`: what an MCP client can be offered, and what that costs an agent's context.

What toolsets offer, and what being offered them costs an agent's context.

Counted is what clients hand to a model: names, descriptions and parameters, and the guide. The
schemas of results are not, since clients keep those to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import click
import orjson

from observer.cli.output import emit, json_option, note, table
from observer.memory.api import Memory
from observer.toolsets.registry import chosen, tools_of, toolsets
from observer.views import render
from observer.views.tool import ResultRow, Tool

_NO_MEMORY = cast("Memory", None)  # the tools are looked at, not called


class ToolOffer(ResultRow):
    """One tool; `tokens` are about 4 characters each."""

    name: str
    title: str
    description: str
    tokens: int


class ToolsetOffer(ResultRow):
    """One toolset; `tokens` is the sum, its guide included."""

    toolset: str
    guide: str
    tokens: int
    tools: list[ToolOffer]


def offers() -> list[ToolsetOffer]:
    """Return every toolset."""
    return [_offer(name) for name in toolsets()]


def together(names: Sequence[str]) -> list[ToolsetOffer]:
    """Return the toolsets of a choice.

    Raises:
        BadInput: two of them have a tool of the same name.
    """
    tools_of(tuple(names), _NO_MEMORY, str)
    return [_offer(name) for name in names]


def _offer(name: str) -> ToolsetOffer:
    toolset = toolsets()[name]
    tools = [_tool(tool) for tool in toolset.tools(_NO_MEMORY, str)]
    return ToolsetOffer(
        toolset=name,
        guide=toolset.guide,
        tokens=render.tokens(toolset.guide) + sum(tool.tokens for tool in tools),
        tools=tools,
    )


def _tool(tool: Tool) -> ToolOffer:
    listed = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return ToolOffer(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        tokens=render.tokens(orjson.dumps(listed).decode()),
    )


GUIDE_CHARS = 60


@click.command("tools", epilog="Example: observer tools core,mem0")
@click.argument("toolsets", required=False)
@json_option
def tools_command(*, toolsets: str | None, as_json: bool) -> None:
    """List all toolsets and tools, or those of a choice, with the tokens that each costs."""
    found = together(chosen(toolsets)) if toolsets else offers()
    if as_json:
        emit(found)
        return
    rows = (row for each in found for row in _rows(each))
    table(("toolset", "tool", "tokens", "what for"), rows)
    if toolsets:
        note(f"{sum(each.tokens for each in found):,} tokens in all")
    note("choose with: observer mcp --tools NAME,NAME (core if left out), over HTTP with /mcp/NAME")


def _rows(offer: ToolsetOffer) -> Iterator[tuple[str, str, str, str]]:
    about = render.one_line(offer.guide, GUIDE_CHARS)
    yield (offer.toolset, f"({len(offer.tools)} in all)", f"{offer.tokens:,}", about)
    for tool in offer.tools:
        yield (offer.toolset, tool.name, f"{tool.tokens:,}", tool.title)
