"""The commands that ask the memory. They are the MCP tools, with words for people around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
from msgspec import UNSET

from observer import config
from observer.cli.output import emit, json_option, limit_option, say
from observer.cli.reach import named_project, open_memory, project_here
from observer.clock import now_ms
from observer.errors import Ambiguous, BadInput, NotFound, ObserverError
from observer.front import explaining, render
from observer.front.documents import Documents
from observer.front.narrowing import narrow
from observer.front.session_context import existing
from observer.front.tool import Answer
from observer.front.toolsets import rows, tools_of
from observer.front.toolsets.core import LARGEST, MOST_AROUND, MOST_RESULTS
from observer.memory import Memory
from observer.memory.work_tree import uncommitted_at
from observer.paths import home, working_folder
from observer.recall.search import Found

most_results = limit_option(10, "Most results of each kind.", most=MOST_RESULTS)
depth = partial(click.option, type=click.IntRange(0, MOST_AROUND), default=5, show_default=True)
project_option = named_project("Name, folder or remote of a project.")


def narrowing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that restrict what is found."""
    for option in (
        click.option("--until", default="", help="Only before then."),
        click.option("--since", default="", help="Only from then on: 2026-11-21, or 7d for ago."),
        click.option("--branch", default="", help="Only of this git branch."),
        click.option("--session", default="", help="Only of this session, by its id."),
        click.option(
            "--file", "files", multiple=True, help="Only what touched this file or folder."
        ),
        click.option("--type", "type", default="", help="Only these types, e.g. commit,decision."),
    ):
        command = option(command)
    return command


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
    text = " ".join(query)
    with open_memory() as memory:
        if explain and not as_json:
            wanted = narrow(**narrowed, now_ms=now_ms())
            found = memory.search(text, project=project, limit=limit, narrow=wanted)
            _explain(memory, found)
            return
        files = list(narrowed.pop("files"))
        arguments = {"query": text, "project": project, "limit": limit, "files": files, **narrowed}
        _print(_ask(memory, "search", arguments, in_full=as_json or weak), as_json=as_json)


def _explain(memory: Memory, found: Found) -> None:
    for remark in filter(None, (found.notice, found.degraded)):
        say(f"({remark})")
    told = render.explained(found.hits, rows.project_names(memory.projects()))
    say(told or "nothing found")


@click.command("timeline", epilog="Example: observer timeline 142 --before 3 --after 3")
@click.argument("anchor")
@depth("--before", "-b", help="How many items before it.")
@depth("--after", "-a", help="How many items after it.")
@json_option
def timeline_command(*, anchor: str, before: int, after: int, as_json: bool) -> None:
    """Show what happened before and after an item in its project, oldest first."""
    with open_memory() as memory:
        arguments = {
            "anchor_id": memory.resolve(anchor),
            "depth_before": before,
            "depth_after": after,
        }
        _print(_ask(memory, "timeline", arguments, in_full=as_json), as_json=as_json)


@click.command("show", epilog="Example: observer show 142 0197c2f1")
@click.argument("handles", nargs=-1, required=True, metavar="ID|UUID...")
@json_option
def show_command(*, handles: tuple[str, ...], as_json: bool) -> None:
    """Show items in full, by id, by uuid, or by the first 8 or more characters of one."""
    ids: list[int] = []
    unfit: list[ObserverError] = []
    with open_memory() as memory:
        for handle in handles:
            try:
                ids.append(memory.resolve(handle))
            except (NotFound, Ambiguous) as problem:
                unfit.append(problem)
        if ids:
            _print(_ask(memory, "get_observations", {"ids": ids}), as_json=as_json)
        if not as_json:
            for item, known in sorted(memory.usage.of(ids).items()):
                say(f"\nuse of #{item}: {explaining.usefulness(known)}")
    if unfit:
        raise unfit[0] if len(unfit) == 1 else _together(unfit)


def _together(problems: Sequence[ObserverError]) -> NotFound:
    """Return several errors as one, each hint once."""
    return NotFound(
        "; ".join(problem.message for problem in problems),
        hint="; ".join(dict.fromkeys(problem.hint for problem in problems)),
    )


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
    with open_memory() as memory:
        if explain:
            told = _explained(memory, project, client=client, tokens=tokens)
            _print(Answer(explaining.text(told), told), as_json=as_json)
            return
        arguments = {"project": project, "query": query, "token_budget": tokens}
        _print(_ask(memory, "get_context", arguments, in_full=as_json), as_json=as_json)


def _explained(
    memory: Memory, handle: str | None, *, client: str, tokens: int | None
) -> explaining.Explanation:
    """Explain what a session start prints here."""
    project = (None if handle else project_here(memory)) or memory.project(handle or "")
    here = [root for root in project.roots if working_folder().is_relative_to(root)]
    root = max(here or project.roots[-1:], key=len, default="")
    start = Documents(memory, str).start(
        project,
        tokens=tokens or config.load(home()).context_tokens,
        client=client,
        uncommitted=uncommitted_at(project, str(working_folder())),
        exists=partial(existing, root),
    )
    return explaining.explained(start, memory)


@click.command("recall", epilog='Example: observer recall "database choice" --type decision')
@click.argument("query", nargs=-1, required=True)
@click.option("--category", default="", help="Only notes of this category.")
@project_option
@most_results
@narrowing
@json_option
def recall_command(*, query: tuple[str, ...], as_json: bool, **narrow: Any) -> None:  # noqa: ANN401 - the options above
    """Find notes of a project, the one around the current folder unless one is named."""
    with open_memory() as memory:
        _recall(memory, " ".join(query), as_json=as_json, **narrow)


def _recall(
    memory: Memory,
    query: str,
    *,
    project: str | None,
    limit: int,
    as_json: bool,
    **narrowed: Any,  # noqa: ANN401 - the options of `narrowing`
) -> None:
    here = project_here(memory)
    chosen = project or (here.uuid if here else None)
    wanted = narrow(**narrowed, now_ms=now_ms())
    found = memory.recall(query, limit=limit, project=chosen, narrow=wanted)
    name = rows.project_names(memory.projects())
    text = render.hits(found.hits, name, remarks=(found.notice, found.degraded))
    result = rows.Found(
        observations=[rows.observation(hit.item, name) for hit in found.hits],
        summaries=[],
        why=[rows.why(hit) for hit in found.hits],
        notice=found.notice or UNSET,
        degraded=found.degraded or UNSET,
    )
    _print(Answer(text, result), as_json=as_json)


def _ask(
    memory: Memory, tool: str, arguments: dict[str, Any], *, in_full: bool = False
) -> Answer[Any]:
    """Ask a tool; scripts that read JSON get all detail."""
    arguments = {**arguments, "detail": "full"} if in_full else arguments
    tools = tools_of(("core",), memory, lambda: str(working_folder()))
    return tools[tool].call(arguments)


def _print(answer: Answer[Any], *, as_json: bool) -> None:
    if as_json:
        emit(answer.result)
    else:
        say(answer.text)
