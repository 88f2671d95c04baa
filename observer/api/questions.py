"""Answers to the questions of reading commands, from the daemon or in the asking process.

Both give the same answer. Most are MCP tools with additions for people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from observer.api import accounts
from observer.api.asking import CommandReply, CommandRequest, problem
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError, StoreUnavailable
from observer.core.paths import home
from observer.memory.accounts import uncommitted_at
from observer.memory.api import Memory
from observer.search.dates import day_start_ms
from observer.toolsets import rows
from observer.toolsets.registry import tools_of
from observer.views import explain, moment, render
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
    return question(memory, asked, **asked.arguments)


def _as_asked(asked: CommandRequest, answer: ToolResult[Any]) -> CommandReply:
    if asked.is_json:
        return CommandReply(msgspec.json.encode(answer.result).decode())
    return CommandReply(answer.text)


def _of_tool(
    memory: Memory, asked: CommandRequest, *, tool: str, toolset: str = "core", **arguments: object
) -> CommandReply:
    tools = tools_of((toolset,), memory, lambda: asked.folder)
    return _as_asked(asked, tools[tool].call(arguments))


def _explain_search(
    memory: Memory,
    _asked: CommandRequest,
    *,
    query: str,
    project: str | None,
    limit: int,
    **filters: Any,  # noqa: ANN401 - as `parse_filters` takes them
) -> CommandReply:
    """Answer a search with the score and signals of each hit."""
    wanted = parse_filters(**filters, now_ms=now_ms())
    found = memory.search(query, project=project, limit=limit, narrow=wanted)
    text = render.explained(found.hits, _names(memory))
    remarks = [f"({remark})" for remark in (found.notice, found.degraded) if remark]
    return CommandReply("\n".join([*remarks, text or "nothing found"]))


def _timeline(memory: Memory, asked: CommandRequest, *, anchor: str, **others: Any) -> CommandReply:  # noqa: ANN401 - of the tool
    return _of_tool(memory, asked, tool="timeline", anchor_id=memory.resolve(anchor), **others)


def _show(memory: Memory, asked: CommandRequest, *, handles: Sequence[str]) -> CommandReply:
    """Show the items of handles, and end with an error if a handle names none."""
    ids: list[int] = []
    unfit: list[ObserverError] = []
    for handle in handles:
        try:
            ids.append(memory.resolve(handle))
        except (NotFound, Ambiguous) as error:
            unfit.append(error)
    text = _items(memory, asked, ids) if ids else None
    if not unfit:
        return CommandReply(text)
    return CommandReply(text, problem(unfit[0] if len(unfit) == 1 else _combined(unfit)))


def _items(memory: Memory, asked: CommandRequest, ids: Sequence[int]) -> str | None:
    return _of_tool(memory, asked, tool="get_observations", ids=list(ids)).text


def _combined(problems: Sequence[ObserverError]) -> NotFound:
    """Return several errors as one, each hint once."""
    return NotFound(
        "; ".join(problem.message for problem in problems),
        hint="; ".join(dict.fromkeys(problem.hint for problem in problems)),
    )


def _explain_context(
    memory: Memory, asked: CommandRequest, *, project: str | None, client: str, tokens: int | None
) -> CommandReply:
    """Explain what a session start prints in that folder."""
    here = None if project else memory.project_at(asked.folder)
    found = here or memory.project(project or "")
    around = [root for root in found.roots if Path(asked.folder).is_relative_to(root)]
    root = max(around or found.roots[-1:], key=len, default="")
    start = Documents(memory, str).start(
        found,
        tokens=tokens or config.load(home()).context_tokens,
        client=client,
        uncommitted=uncommitted_at(found, asked.folder),
        exists=partial(existing, root),
    )
    explanation = explain.explained(start)
    return _as_asked(asked, ToolResult(explain.text(explanation), explanation))


def _recall(
    memory: Memory,
    asked: CommandRequest,
    *,
    query: str,
    project: str | None,
    limit: int,
    **filters: Any,  # noqa: ANN401 - as `parse_filters` takes them
) -> CommandReply:
    chosen = project or memory.place_of(asked.folder)
    wanted = parse_filters(**filters, now_ms=now_ms())
    found = memory.recall(query, limit=limit, project=chosen, narrow=wanted)
    name = _names(memory)
    text = render.hits(found.hits, name, remarks=(found.notice, found.degraded))
    result = rows.FullSearchResult(
        observations=[rows.observation(hit.item, name) for hit in found.hits],
        summaries=[],
        why=[rows.why(hit) for hit in found.hits],
        notice=found.notice or UNSET,
        degraded=found.degraded or UNSET,
    )
    return _as_asked(asked, ToolResult(text, result))


def _account(
    memory: Memory, asked: CommandRequest, *, days: int, project: str | None
) -> CommandReply:
    """Answer what happened in the last days, including today."""
    since_ms = day_start_ms(now_ms=now_ms(), ago=days - 1)
    account, name = memory.accounts.since(since_ms, project=project), _names(memory)
    if asked.is_json:
        return _as_json(accounts.since_rows(account, name))
    return CommandReply(accounts.since(account, name))


def _session(memory: Memory, asked: CommandRequest, *, session: str, limit: int) -> CommandReply:
    """Answer what a session did; without a handle, the last one of the project here."""
    timeline = memory.accounts.of_session(
        session or _last_session(memory, asked.folder), limit=limit
    )
    if asked.is_json:
        return _as_json(accounts.session_rows(timeline, _names(memory)))
    return CommandReply(accounts.of_session(timeline, _names(memory)))


def _last_session(memory: Memory, folder: str) -> str:
    here = memory.project_at(folder)
    last = memory.sessions(project=here.uuid, limit=1) if here else []
    if not last:
        raise NotFound(
            "no session is known in this folder", hint="name one; observer sessions lists them"
        )
    return str(last[0].id)


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


QUESTIONS: dict[str, Question] = {
    "search": partial(_of_tool, tool="search"),
    "search explained": _explain_search,
    "timeline": _timeline,
    "show": _show,
    "why": partial(_of_tool, tool="why", toolset="story"),
    "context": partial(_of_tool, tool="get_context"),
    "context explained": _explain_context,
    "recall": _recall,
    "account": _account,
    "session": _session,
    "sessions": partial(_rows, rows_of=accounts.sessions),
    "projects": partial(_rows, rows_of=accounts.projects),
}
"""Every question that a command asks; its arguments, JSON, are those of the function."""
