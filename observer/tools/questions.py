"""Answers to the questions of reading commands, from the daemon or in the asking process.

Both give the same answer. Most are MCP tools with additions for people.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from functools import partial
from textwrap import indent
from typing import Any

import msgspec
from msgspec.structs import replace

from observer.clients.registry import resume_command
from observer.core import moment
from observer.core.clock import now_ms
from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError, StoreUnavailable
from observer.core.model import UNASSIGNED, Item, iso
from observer.core.moment import minute, span
from observer.core.text import counted
from observer.memory.api import Memory
from observer.search.handles import SearchOptions
from observer.search.query import day_start_ms
from observer.search.timeline import Account, SessionRun, SessionTimeline, Share, has_failed, nested
from observer.tools import hook_output, note_api, render, rows
from observer.tools.asking import (
    FIRST_SESSION,
    NO_START,
    CommandReply,
    CommandRequest,
    nothing,
    problem,
    scope_line,
)
from observer.tools.parse_filters import parse_filters
from observer.tools.registry import tools_of
from observer.tools.render import (
    ProjectName,
    answers,
    detail,
    entry,
    heading,
    one_line,
    parts,
    said,
)
from observer.tools.tool import Row, ToolResult

Question = Callable[..., CommandReply]


NO_OPTIONS = SearchOptions()
REPLY_CHARS = 200
USUAL = 10
"""Hits of a search that names no number."""
MOST_SHOWN = 10
"""Most lines of each sort in the text of one project; the JSON has all."""
MOST_FILES = 5
LISTED_FIELDS = frozenset({"completed", "next_steps"})
"""The fields of a summary that are shown in a list of sessions."""
NO_PROJECT = "in no project"


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
    """Answer a question about the project that is named, else the one around the folder, or all."""
    if asked.is_local:
        moment.show_local()
    arguments = dict(asked.arguments)
    if "everywhere" not in arguments:
        return question(memory, asked, **arguments)
    handle, everywhere = arguments["project"], arguments.pop("everywhere")
    if handle and everywhere:
        raise BadInput("one project or all of them?", hint="leave out --project or --all")
    here = memory.project(handle) if handle else memory.project_at(asked.folder)
    here = None if everywhere else here
    found = question(memory, asked, **arguments | ({"project": here.uuid} if here else {}))
    return replace(found, scope=scope_line(here.name if here else ""))


def _as_asked(asked: CommandRequest, answer: ToolResult) -> CommandReply:
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
    scope: str = "home",
    **filters: Any,  # noqa: ANN401 - as `parse_filters` takes them
) -> CommandReply:
    """Answer a search; a number of hits that is asked for is filled up with weak ones."""
    wanted = parse_filters(**filters, now_ms=now_ms())
    if scope == "team" and (notes or wanted.category):
        raise BadInput("--scope team finds all kinds", hint="leave out --notes and --category")
    find = memory.recall if notes or wanted.category else memory.search
    find = memory.search_team if scope == "team" else find
    found = find(query, project=project, limit=limit or USUAL, narrow=wanted)
    found = replace(found, hits=found.hits[: limit or USUAL])
    name = memory.project_names()
    if asked.is_json:
        result = rows.search_result(found, name, render.excerpts(found.hits))
        reasons = {"why": [rows.why(hit) for hit in found.hits]} if explain else {}
        return _as_json(result | reasons)
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
        more = ", or ".join(tries) or "connect a client with: observer install"
        why = "nothing found"
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


def _related(
    memory: Memory, asked: CommandRequest, *, name: str, project: str | None, limit: int
) -> CommandReply:
    tool = tools_of(("core",), memory, lambda: asked.folder)["related"]
    answer = tool.call({"name": name, "project": project or "", "limit": limit})
    found = _as_asked(asked, answer)
    if asked.is_json:
        return found
    is_person = "person" in answer.result["kinds"]
    words = f"--by {shlex.quote(name)}" if is_person else f"{shlex.quote(name)} --type commit"
    more = f"more: observer show ID, or observer search {words}"
    return replace(found, text=f"{found.text}\n{more}")


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
    if len(unfit) < 2:
        return CommandReply(text, problem=problem(unfit[0]) if unfit else None)
    all_of_them = NotFound(
        "; ".join(each.message for each in unfit),
        hint="; ".join(dict.fromkeys(each.hint for each in unfit)),  # each once
    )
    return CommandReply(text, problem=problem(all_of_them))


def _shown(
    memory: Memory, ids: Sequence[int], sessions: Sequence[SessionTimeline], *, as_json: bool
) -> str:
    name = memory.project_names()
    items = memory.observations(ids).items if ids else ()
    if as_json:
        rows = {
            "observations": [_item_row(each, name) for each in items],
            "sessions": [session_rows(each, name) for each in sessions],
        }
        return msgspec.json.encode(rows).decode()
    texts = [
        note_api.detail(each, name) if each.kind == "note" else detail(each, name) for each in items
    ]
    return "\n\n".join([*texts, *(of_session(each, name) for each in sessions)])


def _item_row(item: Item, name: ProjectName) -> Row:
    """Return an item as tools name its fields, a note with those of notes."""
    fields = rows.observation(item, name)
    fields["session"] = f"s{item.session_id}" if item.session_id else None
    if item.kind == "note":
        fields |= msgspec.to_builtins(note_api.row(item, name))
    return fields


def _explain_context(
    memory: Memory, asked: CommandRequest, *, project: str | None, client: str
) -> CommandReply:
    """Explain what a session start prints in that folder."""
    start = hook_output.given(memory, asked.folder, project=project, client=client)
    if not (start.lines or start.omitted or asked.is_json):
        return CommandReply(NO_START)
    found = hook_output.explained(start)
    lines = ["{tokens_used:,} of {token_budget:,} tokens".format(**found)]
    for each in found["lines"]:
        lines += [each["text"], f"    {counted(each['tokens'], 'token')}"]
    lines += ["left out:"] * bool(found["left_out"])
    for one in found["left_out"]:
        handle = f"#{one['id']} " if one["id"] else ""
        lines.append(f"{handle}{one['title']}\n    why: {one['why']}")
    return _as_asked(asked, ToolResult("\n".join(lines), found))


def _account(
    memory: Memory, asked: CommandRequest, *, days: int, project: str | None
) -> CommandReply:
    """Answer what happened in the last days, including today."""
    since_ms = day_start_ms(now_ms=now_ms(), ago=days - 1)
    account, name = memory.accounts.since(since_ms, project=project), memory.project_names()
    if asked.is_json:
        projects = [
            {
                "project": name(share.project_id),
                "sessions": [_session_row(ran, name) for ran in share.sessions],
                "commits": [_item_row(item, name) for item in share.commits],
                "fixes": [_item_row(item, name) for item in share.fixes],
                "noted": [_item_row(item, name) for item in share.noted],
                "failed": share.failed,
                "files": share.files,
            }
            for share in account.shares
        ]
        about = {"since": iso(account.since_ms), "is_partial": account.is_partial}
        return _as_json(about | {"projects": projects})
    if not account.shares:
        why = f"nothing is recorded since {moment.minute(since_ms)}"
        return CommandReply(nothing(why, "look back with: --days 7", everywhere=not project))
    return CommandReply(since(account, name))


def _last_session(memory: Memory, folder: str) -> str:
    here = memory.project_at(folder)
    last = memory.sessions(project=here.uuid, limit=1) if here else []
    if not last:
        raise NotFound(
            "no session is known in this folder",
            hint=f"{FIRST_SESSION}; or name one of: observer sessions --all",
        )
    return f"s{last[0].id}"


def _as_json(value: object) -> CommandReply:
    return CommandReply(msgspec.json.encode(value).decode())


def _projects(memory: Memory, asked: CommandRequest) -> CommandReply:
    """Answer with the rows of the tool `projects`."""
    found = tools_of(("browse",), memory, lambda: asked.folder)["projects"].call({})
    return _as_json(found.result["projects"])


def since(account: Account, name: ProjectName) -> str:
    """Return an account as text: a block for each project."""
    lines = [f"since {minute(account.since_ms)}"]
    lines += ["(so much happened that the oldest of it is left out)"] * account.is_partial
    for share in account.shares:
        lines += ["", *_share(share, name)]
    return "\n".join(lines)


def of_session(timeline: SessionTimeline, name: ProjectName) -> str:
    """Return a session as text: its data, its summary, its items in order, sub-agents' indented."""
    session = timeline.ran.session
    about = [
        f"s{session.id}",
        f"{session.client} {one_line(session.external, 40)}",
        name(session.project_id),
        f"branch {one_line(session.branch)}" if session.branch else "",
        session.status,
        f"of session {one_line(session.parent, 40)}" if session.parent else "",
    ]
    counts = f"prompts: {session.prompts:,}, events: {session.events:,}"
    lines = [" · ".join(part for part in about if part), f"{_when(timeline.ran)} · {counts}"]
    if command := resume_command(session):
        lines.append(f"resume: {command}")
    if used := timeline.usage:
        figures = msgspec.structs.asdict(used).items()
        shown = (f"{number:,} {name.replace('_', ' ')}" for name, number in figures if number)
        lines.append(f"tokens: {', '.join(shown)}")
    if timeline.children:
        children = ", ".join(f"s{one.id}" for one in timeline.children)
        lines.append(f"sub-agents in sessions {children}")
    if timeline.ran.summary:
        lines += ["", detail(timeline.ran.summary)]
    lines += [""] * bool(timeline.items)
    lines += [f"({timeline.left_out:,} earlier left out)"] * bool(timeline.left_out)
    rows = nested(timeline.items, [session, *timeline.children])
    return "\n".join([*lines, *(indent(entry(row.item), "  " * row.depth) for row in rows)])


def session_rows(timeline: SessionTimeline, name: ProjectName) -> Row:
    """Return a session as JSON, its items in order; `children` says which are sub-agents'."""
    return {
        **_session_row(timeline.ran, name),
        "items": [_item_row(item, name) for item in timeline.items],
        "left_out": timeline.left_out,
        "usage": msgspec.structs.asdict(timeline.usage) if timeline.usage else None,
        "children": [
            {
                "id": child.id,
                "session": child.external,
                "parent": child.parent,
                "items": [item.id for item in timeline.items if item.session_id == child.id],
            }
            for child in timeline.children
        ],
    }


def _share(share: Share, name: ProjectName) -> Iterator[str]:
    counts = (
        ("sessions", len(share.sessions)),
        ("commits", len(share.commits)),
        ("changed files", len(share.files)),
        ("failures", share.failed),
    )
    counted = ", ".join(f"{label}: {number:,}" for label, number in counts if number)
    title = one_line(name(share.project_id) or NO_PROJECT)
    yield f"{title} · {counted}" if counted else title
    if share.files:
        paths = [one_line(path, 100) for path in share.files[:MOST_FILES]]
        rest = len(share.files) - len(paths)
        yield f"  changed {', '.join(paths)}" + (f" and {rest:,} more" if rest else "")
    known = [ran for ran in share.sessions if one_line(ran.title, 100)]
    for ran in known[:MOST_SHOWN]:
        session = ran.session
        yield f"  s{session.id} {session.client} · {one_line(ran.title, 100)} · {_when(ran)}"
        for field, text in said(ran.summary) if ran.summary else ():
            if field in LISTED_FIELDS:
                yield f"      {field}: {one_line(text)}"
    yield from _rest(len(known), "sessions")
    lists = (("commits", share.commits), ("fixes", share.fixes), ("notes", share.noted))
    for label, items in lists:
        yield from (f"  {heading(item)}" for item in items[:MOST_SHOWN])
        yield from _rest(len(items), label)


def _when(ran: SessionRun) -> str:
    session = ran.session
    when = span(session.started_ms, session.last_ms)
    return f"{when}, goes on" if session.status == "active" else when


def _rest(number: int, label: str) -> list[str]:
    return [f"  ({label}: {number - MOST_SHOWN:,} more)"] if number > MOST_SHOWN else []


def _sessions(
    memory: Memory, _asked: CommandRequest, *, project: str | None, active: bool, limit: int
) -> CommandReply:
    """List sessions, last active first."""
    found = memory.sessions(project=project, active=active, limit=limit)
    name = memory.project_names()
    return _as_json([_session_row(ran, name) for ran in memory.accounts.runs(found)])


def _session_row(ran: SessionRun, name: ProjectName) -> Row:
    """Return a session as JSON; its own title, if it has one, is its `request`."""
    session, summary = ran.session, ran.summary
    request = summary.summary.request if summary and summary.summary else ""
    return {
        "id": session.id,
        "session": session.external,
        "client": session.client,
        "project": name(session.project_id),
        "status": session.status,
        "started_at": iso(session.started_ms),
        "last_at": iso(session.last_ms),
        "ended_at": iso(session.ended_ms) if session.ended_ms is not None else None,
        "prompts": session.prompts,
        "events": session.events,
        "branch": session.branch,
        "cwd": session.cwd,
        "request": ran.named or request or session.first_prompt,
        "summary_id": summary.id if summary else None,
        "resume": resume_command(session),
        "answers": dict(answers(summary)) if summary else {},
    }


def _happened(
    memory: Memory,
    _asked: CommandRequest,
    *,
    project: str | None,
    limit: int,
    records: bool = False,
    until_ms: int | None = None,
    before_id: int = 0,
) -> CommandReply:
    """List what happened before a time, or an item of then, newest first; with records if asked."""
    kinds = ("observation", "note", *(("record",) if records else ()))
    wanted = SearchOptions(kinds=kinds, until_ms=until_ms, before_id=before_id)
    found = memory.accounts.happened(wanted, project=project, limit=limit)
    name = memory.project_names()
    return _as_json([_happened_row(item, name) for item in found])


def _happened_row(item: Item, name: ProjectName) -> Row:
    """Return an item of a list; `reply` is what a turn ended with so far, and when."""
    said = one_line(parts(item)[1], REPLY_CHARS) if item.type == "turn" else ""
    at_ms = item.updated_ms
    reply = {"title": said, "created_at": rows.minute(at_ms), "at_ms": at_ms} if said else None
    return {
        **rows.item_line(item, name),
        "at_ms": item.created_ms,
        "failed": has_failed(item),
        "reply": reply,
    }


def _pairs(
    memory: Memory, _asked: CommandRequest, *, project: str | None, limit: int
) -> CommandReply:
    """List near pairs of notes that nobody has settled, of a project or of all, nearest first."""
    places = [one for one in memory.projects() if one.id != UNASSIGNED]
    found = [memory.pairs.open(one, limit=limit) for one in places if project in {None, one.uuid}]
    name = memory.project_names()
    pairs = sorted((pair for one in found for pair in one.pairs), key=lambda pair: -pair.cosine)

    def shown(note: Item) -> Row:
        about = {"id": note.id, "title": note.title, "content": note.narrative}
        return {**about, "shown": note_api.detail(note, name)}

    said = {
        "pairs": [{"newer": shown(p.newer), "older": shown(p.older)} for p in pairs[:limit]],
        "total": sum(one.total for one in found),
        "degraded": "; ".join(filter(None, (one.degraded for one in found))),
    }
    return _as_json(said)


QUESTIONS: dict[str, Question] = {
    "search": _search,
    "timeline": _timeline,
    "show": _show,
    "why": partial(_of_tool, tool="why", toolset="story"),
    "related": _related,
    "context explained": _explain_context,
    "account": _account,
    "sessions": _sessions,
    "projects": _projects,
    "happened": _happened,
    "pairs": _pairs,
}
"""Every question that a command asks; its arguments, JSON, are those of the function."""
