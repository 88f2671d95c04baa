"""The commands that ask the memory. They are the MCP tools, with words for people around them."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from observer.cli.ask import ask
from observer.cli.options import named_project, narrowing
from observer.cli.output import json_option, limit_option
from observer.errors import BadInput
from observer.front.limits import LARGEST, MOST_AROUND, MOST_RESULTS

most_results = limit_option(10, "Most results of each kind.", most=MOST_RESULTS)
depth = partial(click.option, type=click.IntRange(0, MOST_AROUND), default=5, show_default=True)
project_option = named_project("Name, folder or remote of a project.")


@click.command("search", epilog='Example: observer search "title:auth* NOT oauth" -n 5')
@click.argument("query", nargs=-1)
@project_option
@most_results
@narrowing
@click.option("--failed", is_flag=True, help="Only commands and tool calls that failed.")
@click.option("--weak", is_flag=True, help="Weak hits too, which are only counted otherwise.")
@click.option("--explain", is_flag=True, help="Tell of every hit what spoke for it.")
@json_option
def search_command(
    *,
    query: tuple[str, ...],
    project: str | None,
    limit: int,
    weak: bool,
    explain: bool,
    as_json: bool,
    **narrowed: Any,  # noqa: ANN401 - the options of `narrowing`
) -> None:
    """Find earlier work, in all projects or the one named; without a query list the newest."""
    narrowed["files"] = list(narrowed["files"])
    asked = {"query": " ".join(query), "project": project, "limit": limit, **narrowed}
    if explain and not as_json:
        ask("search explained", as_json=False, **asked)
    else:
        ask("search", as_json=as_json, **asked, **_detail(in_full=as_json or weak))


def _detail(*, in_full: bool) -> dict[str, str]:
    """Return how much a tool is to tell; scripts that read JSON get all."""
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
    "--explain", is_flag=True, help="Tell why each line of a session's start is there, or is not."
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
@narrowing
@json_option
def recall_command(*, query: tuple[str, ...], as_json: bool, **narrow: Any) -> None:  # noqa: ANN401 - the options above
    """Find notes of a project, the one around the current folder unless one is named."""
    ask("recall", as_json=as_json, query=" ".join(query), **narrow)
