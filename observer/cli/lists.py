"""Tables of what is known: sessions and projects."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from observer.cli.options import named_project
from observer.cli.output import emit, json_option, limit_option, table
from observer.cli.reach import open_memory
from observer.front import render
from observer.memory import Memory
from observer.model import Project, Session, iso


@click.command("sessions", epilog="Example: observer sessions --active")
@named_project("Name, folder or remote of a project.")
@click.option("--active", is_flag=True, help="Leave out sessions that are over.")
@limit_option(20, "Most sessions.")
@json_option
def sessions_command(*, project: str | None, active: bool, limit: int, as_json: bool) -> None:
    """List sessions of editors and shells, last active first."""
    with open_memory() as memory:
        found = memory.sessions(project=project, active=active, limit=limit)
        names = {known.id: known.name for known in memory.projects()}
        rows = [_session(memory, session, names.get(session.project_id, "")) for session in found]
    if as_json:
        emit(rows)
        return
    columns = ("id", "client", "project", "status", "last_at", "events", "request")
    table(columns, ([_short(row, name) for name in columns] for row in rows))


@click.command("projects", epilog="Example: observer projects --json")
@json_option
def projects_command(*, as_json: bool) -> None:
    """List the projects of which something is remembered."""
    with open_memory() as memory:
        projects = memory.projects()
    if as_json:
        emit([_project(project) for project in projects])
        return
    rows = ((p.name, " ".join(p.roots), " ".join(p.remotes), p.uuid) for p in projects)
    table(("name", "folders", "remotes", "uuid"), rows)


def _session(memory: Memory, session: Session, project: str) -> dict[str, Any]:
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


def _short(row: dict[str, Any], name: str) -> object:
    if name == "last_at":
        return row[name][:16].replace("T", " ")
    return render.one_line(row[name], 60) if name == "request" else row[name]


def _project(project: Project) -> dict[str, Any]:
    fields = msgspec.structs.asdict(project)
    return {**fields, "created_at": iso(project.created_ms)}
