"""The commands that read the memory: search, history of code, sessions, projects, accounts."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from observer.cli.ask import ask, rows_of, show
from observer.cli.options import filter_options, named_project
from observer.cli.output import json_option, limit_option, table
from observer.core.errors import BadInput
from observer.core.text import one_line
from observer.views.limits import LARGEST, MOST_AROUND, MOST_RESULTS
from observer.views.moment import minute_of


@click.command("why", epilog="Example: observer why src/auth.py::login")
@click.argument("target", metavar="FILE[:LINE|::NAME]")
@json_option
def why_command(*, target: str, as_json: bool) -> None:
    """Show the commits and sessions that made a piece of code, what was asked and tried."""
    ask("why", as_json=as_json, target=target)


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
    """List the projects that have memories."""
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


DAYS_OF_A_WEEK = 7

account_project_option = named_project("Only this project: its name, folder or remote.")


@click.command("today", epilog="Example: observer today --project .")
@account_project_option
@json_option
def today_command(*, project: str | None, as_json: bool) -> None:
    """Show what happened today: sessions, commits, changed files, fixes and notes, by project."""
    ask("account", as_json=as_json, days=1, project=project)


@click.command("week", epilog="Example: observer week --project app")
@account_project_option
@json_option
def week_command(*, project: str | None, as_json: bool) -> None:
    """Show what happened in the last seven days, today being the last of them, by project."""
    ask("account", as_json=as_json, days=DAYS_OF_A_WEEK, project=project)


@click.command("session", epilog="Example: observer session 142")
@click.argument("session", required=False, default="", metavar="[ID]")
@limit_option(50, "Most items, the newest of the session.")
@json_option
def session_command(*, session: str, limit: int, as_json: bool) -> None:
    """Show what a session did: the one of that id, ours or the client's, or the last one here."""
    ask("session", as_json=as_json, session=session, limit=limit)


most_results = limit_option(10, "Most results of each kind.", most=MOST_RESULTS)
depth = partial(click.option, type=click.IntRange(0, MOST_AROUND), default=5, show_default=True)
project_option = named_project("Name, folder or remote of a project.")


@click.command("search", epilog='Example: observer search "title:auth* NOT oauth" -n 5')
@click.argument("query", nargs=-1)
@project_option
@most_results
@filter_options
@click.option("--failed", is_flag=True, help="Only commands and tool calls that failed.")
@click.option("--weak", is_flag=True, help="Weak hits too, which are only counted otherwise.")
@click.option("--explain", is_flag=True, help="Show the score and signals of each hit.")
@json_option
def search_command(
    *,
    query: tuple[str, ...],
    project: str | None,
    limit: int,
    weak: bool,
    explain: bool,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 - the options of `filter_options`
) -> None:
    """Find earlier work, in all projects or the one named; without a query list the newest."""
    filters["files"] = list(filters["files"])
    asked = {"query": " ".join(query), "project": project, "limit": limit, **filters}
    if explain and not as_json:
        ask("search explained", as_json=False, **asked)
    else:
        ask("search", as_json=as_json, **asked, **_detail(in_full=as_json or weak))


def _detail(*, in_full: bool) -> dict[str, str]:
    """Return the detail option of a tool; scripts that read JSON get full rows."""
    return {"detail": "full"} if in_full else {}


@click.command("timeline", epilog="Example: observer timeline 142 --before 3 --after 3")
@click.argument("anchor")
@depth("--before", "-b", help="How many items before it.")
@depth("--after", "-a", help="How many items after it.")
@json_option
def timeline_command(*, anchor: str, before: int, after: int, as_json: bool) -> None:
    """Show what happened before and after an item in its project, oldest first."""
    depth = {"depth_before": before, "depth_after": after}
    ask("timeline", as_json=as_json, anchor=anchor, **depth, **_detail(in_full=as_json))


@click.command("show", epilog="Example: observer show 142 0197c2f1")
@click.argument("handles", nargs=-1, required=True, metavar="ID|UUID...")
@json_option
def show_command(*, handles: tuple[str, ...], as_json: bool) -> None:
    """Show items in full, by id, by uuid, or by the first 8 or more characters of one."""
    ask("show", as_json=as_json, handles=handles)


@click.command("context", epilog='Example: observer context --query "rate limiting" --tokens 1000')
@project_option
@click.option("--query", "-q", help="What you are about to do, to rank by relevance.")
@click.option(
    "--tokens", type=click.IntRange(1, LARGEST), help="Most tokens printed; 2000 if left out."
)
@click.option(
    "--explain", is_flag=True, help="Show why each line of a session's start is there, or is not."
)
@click.option("--client", default="", help="With --explain: whose session, e.g. cursor.")
@json_option
def context_command(
    *,
    project: str | None,
    query: str | None,
    tokens: int | None,
    explain: bool,
    client: str,
    as_json: bool,
) -> None:
    """Print what matters in a project, the one around the current folder unless one is named."""
    if explain and query:
        raise BadInput("a session's start has no query", hint="leave out --query or --explain")
    if client and not explain:
        raise BadInput("--client is of --explain alone", hint="add --explain")
    if explain:
        asked = {"project": project, "client": client, "tokens": tokens}
        ask("context explained", as_json=as_json, **asked)
        return
    asked = {"project": project, "query": query, "token_budget": tokens}
    ask("context", as_json=as_json, **asked, **_detail(in_full=as_json))


@click.command("recall", epilog='Example: observer recall "database choice" --type decision')
@click.argument("query", nargs=-1, required=True)
@click.option("--category", default="", help="Only notes of this category.")
@project_option
@most_results
@filter_options
@json_option
def recall_command(*, query: tuple[str, ...], as_json: bool, **filters: Any) -> None:  # noqa: ANN401 - the options above
    """Find notes of a project, the one around the current folder unless one is named."""
    ask("recall", as_json=as_json, query=" ".join(query), **filters)
