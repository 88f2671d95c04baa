"""`observer tools`: what an MCP client can be offered, and what that costs an agent's context."""

from __future__ import annotations

from collections.abc import Iterator

import click

from observer.cli.output import emit, json_option, note, table
from observer.front import render
from observer.front.offer import ToolsetOffer, offers, together
from observer.front.toolsets import chosen

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
