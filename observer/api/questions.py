"""Answers to the questions of reading commands, from the daemon or in the asking process.

Both give the same answer. Most are MCP tools with additions for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from observer.api import accounts
from observer.api.asking import NO_START, CommandReply, CommandRequest, nothing, problem, scope_line
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError, StoreUnavailable
from observer.core.model import Item
from observer.core.paths import home
from observer.memory.accounts import uncommitted_at
from observer.memory.api import Memory
from observer.search.dates import day_start_ms
from observer.search.handles import SearchOptions
from observer.search.timeline import SessionTimeline
from observer.toolsets import compact, rows
from observer.toolsets.registry import tools_of
from observer.views import explain, moment, note_api, render
from observer.views.documents import Documents
from observer.views.hook_output import existing
from observer.views.parse_filters import parse_filters
from observer.views.tool import ToolResult

Question = Callable[..., CommandReply]


def reply(memory: Memory, asked: CommandRequest) -> CommandReply:
    """Answer a question; errors of the question are part of the reply.

    Raises:
        BadInput: there is no such question.
        StoreUnavailable: the memory cannot be read here.
    """
    question = QUESTIONS.get(asked.question)
    if question is None:
        raise BadInput(f"no question {asked.question[:80]!r}", hint="restart the daemon")
    try:
        return copy_context().run(_answered, question, memory.at(asked.folder), asked)
    except StoreUnavailable:
        raise
    except ObserverError as error:
        return CommandReply(problem=problem(error))


def _answered(question: Question, memory: Memory, asked: CommandRequest) -> CommandReply:
    if asked.is_local:
        moment.show_local()
    if "everywhere" not in asked.arguments:
        return question(memory, asked, **asked.arguments)
    arguments, scope = _scoped(memory, asked)
    found = question(memory, asked, **arguments)
    return replace(found, scope=scope)


def _scoped(memory: Memory, asked: CommandRequest) -> tuple[dict[str, Any], str]:
    """Return the arguments with the project that a question is about, and the line that says it.

    That is the one named, else the one around the folder; none if all are asked for.
    """
    arguments = dict(asked.arguments)
    handle, everywhere = arguments["project"], arguments.pop("everywhere")
    if handle and everywhere:
        raise BadInput("one project or all of them?", hint="leave out --project or --all")
    here = memory.project(handle) if handle else memory.project_at(asked.folder)
    if everywhere or here is None:
        return arguments, scope_line("")
    return arguments | {"project": here.uuid}, scope_line(here.name)


def _as_asked(asked: CommandRequest, answer: ToolResult[Any]) -> CommandReply:
    if asked.is_json:
        return CommandReply(msgspec.json.encode(answer.result).decode())
    return CommandReply(answer.text)


def _of_tool(
    memory: Memory, asked: CommandRequest, *, tool: str, toolset: str = "core", **arguments: object
) -> CommandReply:
    tools = tools_of((toolset,), memory, lambda: asked.folder)
    return _as_asked(asked, tools[tool].call(arguments))


def _search(  # noqa: PLR0913 - one of each option
    memory: Memory,
    asked: CommandRequest,
    *,
    query: str,
    project: str | None,
    limit: int | None,
    notes: bool,
    weak: bool,
    explain: bool,
    **filters: Any,  # noqa: ANN401 - as `parse_filters` takes them
) -> CommandReply:
    """Answer a search; a number of hits that is asked for is filled up with weak ones."""
    wanted = parse_filters(**filters, now_ms=now_ms())
    find = memory.recall if notes or wanted.category else memory.search
    found = find(query, project=project, limit=limit or USUAL, narrow=wanted)
    found = replace(found, hits=found.hits[: limit or USUAL])
    name = _names(memory)
    if asked.is_json:
        result = compact.search_result(found, name, render.excerpts(found.hits))
        reasons = {"why": [rows.why(hit) for hit in found.hits]} if explain else {}
        return _as_json(msgspec.to_builtins(result) | reasons)
    shown = found if weak or limit or explain else found.above_floor()
    remarks: Sequence[str] = (shown.notice, shown.degraded)
    if shown.hits and not explain:
        return CommandReply(render.hits(shown.hits, name, remarks=remarks))
    is_narrow = bool(query) and not shown.hits and wanted != NO_OPTIONS
    elsewhere = find(query, project=project, limit=1).hits if is_narrow else ()
    if any(hit.signals.terms for hit in elsewhere):
        why, more, remarks = "the options leave out what holds these words", "leave one out", ()
    else:
        tries = ["try other words"] * bool(query) + ["leave out an option"] * (wanted != NO_OPTIONS)
        why, more = (
            "nothing found",
            ", or ".join(tries) or "connect a client with: observer install",
        )
    lines = [f"({remark})" for remark in remarks if remark]
    empty = nothing(why, more, everywhere=not project)
    return CommandReply("\n".join([*lines, render.explained(shown.hits, name) or empty]))


def _timeline(memory: Memory, asked: CommandRequest, *, anchor: str, **others: Any) -> CommandReply:  # noqa: ANN401 - of the tool
    try:
        found = memory.resolve(anchor)
    except NotFound as error:
        if not re.fullmatch(r"s\d+", anchor):
            raise
        raise NotFound(
            error.message, hint=f"a session is shown by: observer show {anchor}"
        ) from error
    return _of_tool(memory, asked, tool="timeline", anchor_id=found, **others)


def _show(
    memory: Memory, asked: CommandRequest, *, handles: Sequence[str], limit: int
) -> CommandReply:
    """Show items, notes and sessions; end with an error if a handle names none of them."""
    ids: list[int] = []
    sessions: list[SessionTimeline] = []
    unfit: list[ObserverError] = []
    for handle in handles or [_last_session(memory, asked.folder)]:
        try:
            ids.append(memory.resolve(handle))
        except (NotFound, Ambiguous) as error:
            if isinstance(error, Ambiguous) or handle.removeprefix("#").isdecimal():
                unfit.append(error)  # of a session it would be s142
                continue
            try:
                sessions.append(memory.accounts.of_session(handle, limit=limit))
            except NotFound:
                hint = "search for it, or list sessions: observer sessions"
                unfit.append(NotFound(f"no item or session {handle[:80]!r}", hint=hint))
    text = _shown(memory, ids, sessions, as_json=asked.is_json) if ids or sessions else None
    if not unfit:
        return CommandReply(text)
    return CommandReply(text, problem=problem(unfit[0] if len(unfit) == 1 else _combined(unfit)))


def _shown(
    memory: Memory, ids: Sequence[int], sessions: Sequence[SessionTimeline], *, as_json: bool
) -> str:
    name = _names(memory)
    items = memory.observations(ids).items if ids else ()
    if as_json:
        rows = {
            "observations": [_item_row(each, name) for each in items],
            "sessions": [accounts.session_rows(each, name) for each in sessions],
        }
        return msgspec.json.encode(rows).decode()
    texts = [
        note_api.detail(each, name) if each.kind == "note" else render.detail(each, name)
        for each in items
    ]
    return "\n\n".join([*texts, *(accounts.of_session(each, name) for each in sessions)])


def _item_row(item: Item, name: render.ProjectName) -> dict[str, Any]:
    """Return an item as tools name its fields, a note with those of notes."""
    fields: dict[str, Any] = msgspec.to_builtins(rows.observation(item, name))
    if item.kind == "note":
        fields |= msgspec.to_builtins(note_api.row(item, name))
    return fields


def _combined(problems: Sequence[ObserverError]) -> NotFound:
    """Return several errors as one, each hint once."""
    return NotFound(
        "; ".join(problem.message for problem in problems),
        hint="; ".join(dict.fromkeys(problem.hint for problem in problems)),
    )


def _explain_context(
    memory: Memory, asked: CommandRequest, *, project: str | None, client: str
) -> CommandReply:
    """Explain what a session start prints in that folder."""
    here = None if project else memory.project_at(asked.folder)
    found = here or memory.project(project or "")
    around = [root for root in found.roots if Path(asked.folder).is_relative_to(root)]
    root = max(around or found.roots[-1:], key=len, default="")
    start = Documents(memory, str).start(
        found,
        tokens=config.load(home()).context_tokens,
        client=client,
        uncommitted=uncommitted_at(found, asked.folder),
        exists=partial(existing, root),
    )
    if not (start.lines or start.omitted or asked.is_json):
        return CommandReply(NO_START)
    explanation = explain.explained(start)
    return _as_asked(asked, ToolResult(explain.text(explanation), explanation))


def _account(
    memory: Memory, asked: CommandRequest, *, days: int, project: str | None
) -> CommandReply:
    """Answer what happened in the last days, including today."""
    since_ms = day_start_ms(now_ms=now_ms(), ago=days - 1)
    account, name = memory.accounts.since(since_ms, project=project), _names(memory)
    if asked.is_json:
        return _as_json(accounts.since_rows(account, name))
    if not account.shares:
        why = f"nothing is recorded since {moment.minute(since_ms)}"
        return CommandReply(nothing(why, "look back with: --days 7", everywhere=not project))
    return CommandReply(accounts.since(account, name))


def _last_session(memory: Memory, folder: str) -> str:
    here = memory.project_at(folder)
    last = memory.sessions(project=here.uuid, limit=1) if here else []
    if not last:
        raise NotFound(
            "no session is known in this folder",
            hint="name one of: observer sessions --all, or connect a client: observer install",
        )
    return f"s{last[0].id}"


def _names(memory: Memory) -> render.ProjectName:
    return render.project_names(memory.projects())


def _as_json(value: object) -> CommandReply:
    return CommandReply(msgspec.json.encode(value).decode())


def _rows(
    memory: Memory,
    _asked: CommandRequest,
    *,
    rows_of: Callable[..., list[accounts.Row]],
    **arguments: object,
) -> CommandReply:
    return _as_json(rows_of(memory, **arguments))


NO_OPTIONS = SearchOptions()
USUAL = 10
"""Hits of a search that names no number."""

QUESTIONS: dict[str, Question] = {
    "search": _search,
    "timeline": _timeline,
    "show": _show,
    "why": partial(_of_tool, tool="why", toolset="story"),
    "context explained": _explain_context,
    "account": _account,
    "sessions": partial(_rows, rows_of=accounts.sessions),
    "projects": partial(_rows, rows_of=accounts.projects),
}
"""Every question that a command asks; its arguments, JSON, are those of the function."""
