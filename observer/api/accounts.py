"""Accounts of recent work and of single sessions, and lists of sessions and projects.

Each as text for people and as JSON for scripts, for the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent
from typing import Any

import msgspec

from observer.core.model import Item, Project, Session, iso
from observer.core.value import TokenUsage
from observer.memory.api import Memory
from observer.search.timeline import Account, SessionRun, SessionTimeline, Share, nested
from observer.toolsets.rows import observation
from observer.views.moment import minute, span
from observer.views.render import (
    ProjectName,
    answers,
    detail,
    entry,
    heading,
    one_line,
    project_names,
    said,
)

MOST_SHOWN = 10
"""Most lines of each sort in the text of one project; the JSON has all."""
MOST_FILES = 5
LISTED_FIELDS = frozenset({"completed", "next_steps"})
"""The fields of a summary that are shown in a list of sessions."""
NO_PROJECT = "in no project"


def since(account: Account, name: ProjectName) -> str:
    """Return an account as text: a block for each project."""
    lines = [f"since {minute(account.since_ms)}"]
    if account.is_partial:
        lines.append("(so much happened that the oldest of it is left out)")
    for share in account.shares:
        lines += ["", *_share(share, name)]
    return "\n".join(lines)


def since_rows(account: Account, name: ProjectName) -> Row:
    """Return an account as JSON."""
    return {
        "since": iso(account.since_ms),
        "is_partial": account.is_partial,
        "projects": [_share_row(share, name) for share in account.shares],
    }


def of_session(timeline: SessionTimeline, name: ProjectName) -> str:
    """Return a session as text: its data, its summary, and its items in order.

    What a sub-agent did is indented, below the delegation to it.
    """
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
    if timeline.usage:
        lines.append(f"tokens: {_tokens(timeline.usage)}")
    if timeline.children:
        lines.append(
            f"sub-agents in sessions {', '.join(f's{one.id}' for one in timeline.children)}"
        )
    if timeline.ran.summary:
        lines += ["", detail(timeline.ran.summary, _no_name)]
    if timeline.items:
        lines.append("")
    if timeline.left_out:
        lines.append(f"({timeline.left_out:,} earlier left out)")
    for row in nested(timeline.items, [session, *timeline.children]):
        lines.append(indent(entry(row.item, _no_name), "  " * row.depth))
    return "\n".join(lines)


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


def _tokens(usage: TokenUsage) -> str:
    counts = (
        ("input", usage.input),
        ("output", usage.output),
        ("cache read", usage.cache_read),
        ("cache write", usage.cache_write),
    )
    return ", ".join(f"{number:,} {label}" for label, number in counts if number)


def _no_name(_project_id: int | None) -> str:
    return ""


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
        yield f"  changed {_files(share.files)}"
    known = [ran for ran in share.sessions if _purpose(ran)]
    for ran in known[:MOST_SHOWN]:
        yield from _session_lines(ran)
    yield from _rest(len(known), "sessions")
    yield from _items(share.commits, "commits")
    yield from _items(share.fixes, "fixes")
    yield from _items(share.noted, "notes")


def _files(paths: Sequence[str]) -> str:
    shown = [one_line(path, 100) for path in paths[:MOST_FILES]]
    rest = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _session_lines(ran: SessionRun) -> Iterator[str]:
    session = ran.session
    yield f"  s{session.id} {session.client} · {_purpose(ran)} · {_when(ran)}"
    for field, text in said(ran.summary) if ran.summary else ():
        if field in LISTED_FIELDS:
            yield f"      {field}: {one_line(text)}"


def _purpose(ran: SessionRun) -> str:
    """Return the purpose of a session: its summary's title, else its first prompt."""
    return one_line(ran.summary.title if ran.summary else ran.session.first_prompt, 100)


def _when(ran: SessionRun) -> str:
    session = ran.session
    when = span(session.started_ms, session.last_ms)
    return f"{when}, goes on" if session.status == "active" else when


def _items(items: Sequence[Item], label: str) -> Iterator[str]:
    for item in items[:MOST_SHOWN]:
        yield f"  {heading(item)}"
    yield from _rest(len(items), label)


def _rest(number: int, label: str) -> Iterable[str]:
    return [f"  ({label}: {number - MOST_SHOWN:,} more)"] if number > MOST_SHOWN else []


def _share_row(share: Share, name: ProjectName) -> Row:
    return {
        "project": name(share.project_id),
        "sessions": [_session_row(ran, name) for ran in share.sessions],
        "commits": [_item_row(item, name) for item in share.commits],
        "fixes": [_item_row(item, name) for item in share.fixes],
        "noted": [_item_row(item, name) for item in share.noted],
        "failed": share.failed,
        "files": share.files,
    }


def _session_row(ran: SessionRun, name: ProjectName) -> Row:
    row = session_row(ran.session, ran.summary, name(ran.session.project_id))
    return {**row, "answers": dict(answers(ran.summary)) if ran.summary else {}}


def _item_row(item: Item, name: ProjectName) -> Row:
    row: Row = msgspec.to_builtins(observation(item, name))
    return row


Row = dict[str, Any]  # printed as JSON, or as a line of a table


def sessions(memory: Memory, *, project: str | None, active: bool, limit: int) -> list[Row]:
    """Return sessions, last active first; `request` is their summary's, else their first prompt.

    Raises:
        NotFound, Ambiguous: the project.
    """
    found = memory.sessions(project=project, active=active, limit=limit)
    name = project_names(memory.projects())
    return [
        session_row(session, memory.summary(session.id), name(session.project_id))
        for session in found
    ]


def projects(memory: Memory) -> list[Row]:
    """Return all projects, by id."""
    return [_project(project) for project in memory.projects()]


def session_row(session: Session, summary: Item | None, project: str) -> Row:
    """Return a session as JSON; `summary_id` is null until it has a summary."""
    request = summary.summary.request if summary and summary.summary else ""
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
        "request": request or session.first_prompt,
        "summary_id": summary.id if summary else None,
    }


def _project(project: Project) -> Row:
    fields = msgspec.structs.asdict(project)
    return {**fields, "created_at": iso(project.created_ms)}
