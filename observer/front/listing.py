"""Lists of what is known, as the command line prints them: sessions and projects."""

from __future__ import annotations

from typing import Any

import msgspec

from observer.memory import Memory
from observer.model import Project, Session, iso

Row = dict[str, Any]  # printed as JSON, or as a line of a table


def sessions(memory: Memory, *, project: str | None, active: bool, limit: int) -> list[Row]:
    """Return sessions, last active first; `request` is what was asked, as far as anybody knows.

    Raises:
        NotFound, Ambiguous: the project.
    """
    found = memory.sessions(project=project, active=active, limit=limit)
    names = {known.id: known.name for known in memory.projects()}
    return [_session(memory, session, names.get(session.project_id, "")) for session in found]


def projects(memory: Memory) -> list[Row]:
    """Return all projects, by id."""
    return [_project(project) for project in memory.projects()]


def _session(memory: Memory, session: Session, project: str) -> Row:
    summary = memory.summary(session.id)
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
