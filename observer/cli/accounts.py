"""The commands that show what happened: today, in a week, in a session."""

from __future__ import annotations

import click

from observer.cli.ask import ask
from observer.cli.options import named_project
from observer.cli.output import json_option, limit_option

WEEK = 7

project_option = named_project("Only this project: its name, folder or remote.")


@click.command("today", epilog="Example: observer today --project .")
@project_option
@json_option
def today_command(*, project: str | None, as_json: bool) -> None:
    """Show what happened today: sessions, commits, changed files, fixes and notes, by project."""
    ask("account", as_json=as_json, days=1, project=project)


@click.command("week", epilog="Example: observer week --project app")
@project_option
@json_option
def week_command(*, project: str | None, as_json: bool) -> None:
    """Show what happened in the last seven days, today being the last of them, by project."""
    ask("account", as_json=as_json, days=WEEK, project=project)


@click.command("session", epilog="Example: observer session 142")
@click.argument("session", required=False, default="", metavar="[ID]")
@limit_option(50, "Most items, the newest of the session.")
@json_option
def session_command(*, session: str, limit: int, as_json: bool) -> None:
    """Show what a session did: the one of that id, ours or the client's, or the last one here."""
    ask("session", as_json=as_json, session=session, limit=limit)
