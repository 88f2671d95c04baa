"""What a session was asked and plans to do: requests, to-do lists, and plans not yet begun.

Each function takes the state and one event and returns the new state.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.events import FileWrite, ToolUse
from observer.core.model import Recorded
from observer.core.text import distinct, relative
from observer.observations import prompts, todos, turns
from observer.observations.drafts import where_of
from observer.observations.session_state import SessionState, TodoList

LISTS = 6
_SPECS = "/.kiro/specs/"
"""Where Kiro keeps the tasks that it works through."""
_STEPS = 12
_PLAN_FILE = re.compile(r"(?:^|/)(?:\.\w+/plans/[^/]+|plans/[^/]+\.plan|[^/]+\.plan)\.md$")


def listed(before: SessionState, recorded: Recorded, use: ToolUse) -> SessionState | None:
    """Return the state after a change of a to-do list; None for other tools."""
    agent = recorded.event.agent[:100]
    known = _list_of(before, agent)
    points = todos.after(known.points if known else (), use)
    if points is None:
        return None
    return _with_list(before, TodoList(key=agent, points=points))


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
    after = _with_boxes(before, write, path)
    if _PLAN_FILE.search(path):
        text = write.content or (write.edits[0].new if write.edits else "")
        return replace(after, plan=prompts.heading_of(text) or after.plan)
    if path.startswith(("/", "~")):
        return after
    return replace(after, plan="")


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


def _with_boxes(before: SessionState, write: FileWrite, path: str) -> SessionState:
    known = _list_of(before, f"/{path}")
    points = todos.in_file(known.points if known else (), write)
    if points is None:
        return before
    before_it = known or TodoList(key="")
    is_done = before_it.is_worked_through or todos.ticks_off(before_it.points, write)
    return _with_list(before, TodoList(key=f"/{path}", points=points, is_worked_through=is_done))


def _list_of(known: SessionState, key: str) -> TodoList | None:
    return next((one for one in known.lists if one.key == key), None)


def _with_list(before: SessionState, kept: TodoList) -> SessionState:
    others = [one for one in before.lists if one.key != kept.key]
    return replace(before, lists=(*others, kept)[-LISTS:])
