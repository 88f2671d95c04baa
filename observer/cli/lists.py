"""Tables of what is known: sessions and projects."""

from __future__ import annotations

from typing import Any

import click

from observer.cli.ask import rows_of, show
from observer.cli.options import named_project
from observer.cli.output import json_option, limit_option, table
from observer.front.moment import minute_of
from observer.interpret.wording import one_line


@click.command("sessions", epilog="Example: observer sessions --active")
@named_project("Name, folder or remote of a project.")
@click.option("--active", is_flag=True, help="Leave out sessions that are over.")
@limit_option(20, "Most sessions.")
@json_option
def sessions_command(*, project: str | None, active: bool, limit: int, as_json: bool) -> None:
    """List sessions of editors and shells, last active first."""
    text, rows = rows_of("sessions", project=project, active=active, limit=limit)
    if as_json:
        show(text, as_json=True)
        return
    columns = ("id", "client", "project", "status", "last_at", "events", "request")
    table(columns, ([_short(row, name) for name in columns] for row in rows))


@click.command("projects", epilog="Example: observer projects --json")
@json_option
def projects_command(*, as_json: bool) -> None:
    """List the projects of which something is remembered."""
    text, rows = rows_of("projects")
    if as_json:
        show(text, as_json=True)
        return
    lists = ("name", "roots", "remotes", "uuid")
    cells = ([_joined(row[name]) for name in lists] for row in rows)
    table(("name", "folders", "remotes", "uuid"), cells)


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _short(row: dict[str, Any], name: str) -> object:
    if name == "last_at":
        return minute_of(row[name])
    return one_line(row[name], 60) if name == "request" else row[name]
