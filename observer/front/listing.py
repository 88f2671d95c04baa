"""Lists of what is known, as the command line prints them: sessions and projects."""

from __future__ import annotations

from typing import Any

import msgspec

from observer.memory import Memory
from observer.model import Item, Project, Session, iso

Row = dict[str, Any]  # printed as JSON, or as a line of a table


def sessions(memory: Memory, *, project: str | None, active: bool, limit: int) -> list[Row]:
    """Return sessions, last active first; `request` is what was asked, as far as anybody knows.

    Raises:
        NotFound, Ambiguous: the project.
    """
    found = memory.sessions(project=project, active=active, limit=limit)
    names = {known.id: known.name for known in memory.projects()}
    return [
        session_row(session, memory.summary(session.id), names.get(session.project_id, ""))
        for session in found
    ]


def projects(memory: Memory) -> list[Row]:
    """Return all projects, by id."""
    return [_project(project) for project in memory.projects()]


def session_row(session: Session, summary: Item | None, project: str) -> Row:
    """Return a session and, if there is one yet, which item its summary is."""
    told = summary.summary.request if summary and summary.summary else ""
    return {
        "id": session.id,
        "session": session.external,
        "client": session.client,
        "project": project,
        "status": session.status,
        "started_at": iso(session.started_ms),
        "last_at": iso(session.last_ms),
        "ended_at": iso(session.ended_ms) if session.ended_ms is not None else None,
        "prompts": session.prompts,
        "events": session.events,
        "branch": session.branch,
        "cwd": session.cwd,
        "request": told or session.first_prompt,
        "summary_id": summary.id if summary else None,
    }


def _project(project: Project) -> Row:
    fields = msgspec.structs.asdict(project)
    return {**fields, "created_at": iso(project.created_ms)}
