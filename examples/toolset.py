"""A toolset with one tool, `recent`; see "Add a toolset" in CONTRIBUTING.md."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from observer.tools import render
from observer.tools.tool import Row, ToolResult, Tools, offered

GUIDE = """\
recent lists what was recorded last in a project: use it when the user asks what is new.\
"""


class Newest(Tools):
    """The tools of one memory."""

    @offered("Newest items")
    def recent(self, limit: Annotated[int, Meta(ge=1, le=50)] = 10) -> ToolResult:
        """List what was recorded last in the project around the client's folder."""
        found = self._memory.search("", project=self._here() or None, limit=limit)
        rows: list[Row] = [{"id": hit.item.id, "title": hit.item.title} for hit in found.hits]
        lines = (f"#{row['id']} {render.one_line(row['title'])}" for row in rows)
        return ToolResult("\n".join(lines) or "nothing recorded yet", {"items": rows})
