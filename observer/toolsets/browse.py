"""The browse toolset: which projects and sessions there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from observer.core.errors import NotFound
from observer.core.model import Project, Session
from observer.memory.api import Memory
from observer.toolsets.compact import minute
from observer.views import render
from observer.views.tool import ResultRow, Tool, ToolResult

GUIDE = """\
projects and sessions list what observer knows of: names to pass as `project`, ids to pass as \
`session` of search.\
"""


class ProjectRow(ResultRow, kw_only=True):
    """A project; each of its fields is a handle of it."""

    name: str
    uuid: str
    folders: list[str] | UnsetType = UNSET
    remotes: list[str] | UnsetType = UNSET


class Projects(ResultRow):
    """Result of `projects`."""

    projects: list[ProjectRow]


class SessionRow(ResultRow, kw_only=True):
    """A session; `request` is what was asked, `summary_id` the item with its summary."""

    session: str
    client: str
    project: str
    status: str
    started_at: str
    last_at: str
    branch: str | UnsetType = UNSET
    request: str | UnsetType = UNSET
    summary_id: int | UnsetType = UNSET


class Sessions(ResultRow):
    """Result of `sessions`, last active first."""

    sessions: list[SessionRow]


class Browse:
    """The tools of one memory; `here` returns the folder that the asking client works in."""

    def __init__(self, memory: Memory, here: Callable[[], str]) -> None:
        self._memory = memory
        self._here = here

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order in which clients list them."""
        return (
            Tool(run=self.projects, title="Known projects"),
            Tool(run=self.sessions, title="Known sessions"),
        )

    def projects(self) -> ToolResult[Projects]:
        """List the projects that have memories."""
        found = [_project_row(project) for project in self._memory.projects()]
        lines = (
            " · ".join(map(render.one_line, [row.name, *(row.folders or ()), row.uuid]))
            for row in found
        )
        return ToolResult("\n".join(lines) or "nothing recorded yet", Projects(projects=found))

    def sessions(
        self,
        project: Annotated[
            str, Meta(description='Name, folder or remote; "." is yours; default: all.')
        ] = "",
        limit: Annotated[int, Meta(ge=1, le=100)] = 20,
    ) -> ToolResult[Sessions]:
        """List sessions of editors and shells, last active first."""
        handle = self._here() if project == "." else project
        try:
            found = self._memory.sessions(project=handle or None, limit=limit)
        except NotFound:
            if project != ".":
                raise
            found = []  # of where the client works nothing is recorded yet
        name = render.project_names(self._memory.projects())
        rows = [self._session_row(each, name(each.project_id)) for each in found]
        lines = (
            " · ".join(
                part
                for part in (row.last_at, row.client, row.session, row.project, row.request)
                if part
            )
            for row in rows
        )
        return ToolResult("\n".join(lines) or "nothing recorded yet", Sessions(sessions=rows))

    def _session_row(self, session: Session, project: str) -> SessionRow:
        summary = self._memory.summary(session.id)
        asked = summary.summary.request if summary and summary.summary else session.first_prompt
        return SessionRow(
            session=session.external,
            client=session.client,
            project=project,
            status=session.status,
            started_at=minute(session.started_ms),
            last_at=minute(session.last_ms),
            branch=session.branch or UNSET,
            request=render.one_line(asked) or UNSET,
            summary_id=summary.id if summary else UNSET,
        )


def _project_row(project: Project) -> ProjectRow:
    return ProjectRow(
        name=project.name,
        uuid=project.uuid,
        folders=list(project.roots) or UNSET,
        remotes=list(project.remotes) or UNSET,
    )
