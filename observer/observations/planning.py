"""What a session was asked and plans to do: requests, to-do lists, and plans not yet begun.

Each function takes the state and one event and returns the new state. A to-do list is one
observation, however often it changes.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.events import FileWrite, ToolUse
from observer.core.model import Item, Recorded
from observer.core.text import distinct, relative
from observer.observations import prompts, todos, turns
from observer.observations.drafts import (
    item,
    origin_of,
    where_of,
)
from observer.observations.session_state import SessionState, TodoList

LISTS = 6
_SPECS = "/.kiro/specs/"
"""Where Kiro keeps the tasks that it works through."""
_STEPS = 12
_PLAN_FILE = re.compile(r"(?:^|/)(?:\.\w+/plans/[^/]+|plans/[^/]+\.plan|[^/]+\.plan)\.md$")


def listed(
    before: SessionState, recorded: Recorded, use: ToolUse
) -> tuple[SessionState, Item] | None:
    """Return the state after a change of a to-do list, and the list; None for other tools."""
    agent = recorded.event.agent[:100]
    known = _list_of(before, agent)
    points = todos.after(known.points if known else (), use)
    if points is None:
        return None
    if known is None or todos.begins_anew(known.points, points):
        kept = TodoList(key=agent, origin=origin_of(recorded), points=points)
    else:
        kept = replace(known, points=points, times=known.times + 1)
    draft = todos.draft_of(points)
    kept = replace(kept, chars=kept.chars + len(use.input))
    made = item(draft, recorded, origin=kept.origin, times=kept.times, chars=kept.chars)
    return _with_list(before, kept), made


def planned(before: SessionState, use: ToolUse) -> SessionState:
    """Return the state after a plan was presented."""
    heading = prompts.heading_of(todos.plan_in(use))
    turn = before.turn and turns.with_plan(before.turn, heading)
    return replace(before, plan=heading or before.plan, turn=turn)


def begun(before: SessionState) -> SessionState:
    """Return the state after another session began this session's plan."""
    return replace(before, plan="", begun_plan=before.plan)


def written(before: SessionState, recorded: Recorded, write: FileWrite) -> SessionState:
    """Return the state after a file was written, which may be a plan, or begin the work on one."""
    if write.error:
        return before
    where = where_of(recorded)
    path = relative(write.path, where.root, where.cwd)
    after = _with_boxes(before, recorded, write, path)
    if _PLAN_FILE.search(path):
        text = write.content or (write.edits[0].new if write.edits else "")
        return replace(after, plan=prompts.heading_of(text) or after.plan)
    if path.startswith(("/", "~")):
        return after
    return replace(after, plan="")


def is_scratch(path: str) -> bool:
    """Return True for a file outside of the project in which a client keeps a plan."""
    return path.startswith(("/", "~")) and _PLAN_FILE.search(path) is not None


def open_points(known: SessionState) -> tuple[str, ...]:
    """Return the open points of the main agent's list, and of files of which points were done.

    A file of which nothing was ticked off is a plan or a roadmap: nobody works through it yet.
    """
    lists = (
        one
        for one in known.lists
        if not one.key or one.is_worked_through or one.key.startswith(_SPECS)
    )
    return tuple(text for one in lists for text in todos.open_of(one.points))


def steps_of(known: SessionState) -> tuple[str, ...]:
    """Return what a session left to do, by its to-do lists and its plan."""
    plan = (f"Carry out the plan: {known.plan}",) if known.plan else ()
    return distinct((*open_points(known), *plan), _STEPS)


def _with_boxes(
    before: SessionState, recorded: Recorded, write: FileWrite, path: str
) -> SessionState:
    known = _list_of(before, f"/{path}")
    points = todos.in_file(known.points if known else (), write)
    if points is None:
        return before
    origin = known.origin if known else origin_of(recorded)
    before_it = known or TodoList(key="", origin=origin)
    is_done = before_it.is_worked_through or todos.ticks_off(before_it.points, write)
    kept = TodoList(key=f"/{path}", origin=origin, points=points, is_worked_through=is_done)
    return _with_list(before, kept)


def _list_of(known: SessionState, key: str) -> TodoList | None:
    return next((one for one in known.lists if one.key == key), None)


def _with_list(before: SessionState, kept: TodoList) -> SessionState:
    others = [one for one in before.lists if one.key != kept.key]
    return replace(before, lists=(*others, kept)[-LISTS:])
