"""A toolset with one tool, `recent`; see "Add a toolset" in CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from observer.memory import Memory
from observer.tools import render
from observer.tools.tool import ResultRow, Tool, ToolResult

GUIDE = """\
recent lists what was recorded last in a project: use it when the user asks what is new.\
"""


class RecentRow(ResultRow):
    """An item in one line; fetch the rest with get_observations."""

    id: int
    title: str


class Recent(ResultRow):
    """Result of `recent`, newest first."""

    items: list[RecentRow]


class Newest:
    """The tools of one memory; `here` returns the folder that the asking client works in."""

    def __init__(self, memory: Memory, here: Callable[[], str]) -> None:
        self._memory = memory
        self._here = here

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order in which clients list them."""
        return (Tool(run=self.recent, title="Newest items"),)

    def recent(self, limit: Annotated[int, Meta(ge=1, le=50)] = 10) -> ToolResult[Recent]:
        """List what was recorded last in the project around the client's folder."""
        found = self._memory.search("", project=self._here() or None, limit=limit)
        rows = [RecentRow(id=hit.item.id, title=hit.item.title) for hit in found.hits]
        lines = (f"#{row.id} {render.one_line(row.title)}" for row in rows)
        return ToolResult("\n".join(lines) or "nothing recorded yet", Recent(items=rows))
