"""The to-do lists that agents keep, with a tool or as check boxes in a plan file, and their plans.

Some tools give the whole list with each call (`TodoWrite`, `update_plan`), some change one point
(`TaskCreate`, `TaskUpdate`). A list is changed by functions that take its points and return them
anew, a session by those that take its state and one event and return the new state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from observer.core.events import FileWrite, ToolUse
from observer.core.json_text import object_in
from observer.core.model import Recorded
from observer.core.text import distinct, one_line, relative, word_set
from observer.observations import quoting
from observer.observations.drafts import FACT, where_of
from observer.observations.session_state import Point, SessionState, Status, TodoList

LISTS = 6
_SPECS = "/.kiro/specs/"
"""Where Kiro keeps the tasks that it works through."""
_STEPS = 12
_PLAN_FILE = re.compile(r"(?:^|/)(?:\.\w+/plans/[^/]+|plans/[^/]+\.plan|[^/]+\.plan)\.md$")


def listed(before: SessionState, recorded: Recorded, use: ToolUse) -> SessionState | None:
    """Return the state after a change of a to-do list; None for other tools."""
    agent = recorded.event.agent[:100]
    points = after(_list_of(before, agent).points, use)
    return None if points is None else _with_list(before, TodoList(key=agent, points=points))


def planned(before: SessionState, use: ToolUse) -> SessionState:
    """Return the state after a plan was presented."""
    heading = quoting.heading_of(plan_in(use))
    turn = before.turn
    if turn and heading:
        turn = replace(turn, plan=heading)
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
    known, after = _list_of(before, f"/{path}"), before
    points, is_ticked = in_file(known.points, write)
    if points is not None:
        is_done = known.is_worked_through or is_ticked
        after = _with_list(before, replace(known, points=points, is_worked_through=is_done))
    if _PLAN_FILE.search(path):
        text = write.content or "".join(edit.new for edit in write.edits[:1])
        return replace(after, plan=quoting.heading_of(text) or after.plan)
    return after if path.startswith(("/", "~")) else replace(after, plan="")


def steps_of(known: SessionState) -> tuple[str, ...]:
    """Return what a session left to do: by the main agent's list, files of to-dos, and its plan.

    A file of which nothing was ticked off is a plan or a roadmap: nobody works through it yet.
    """
    lists = (
        one
        for one in known.lists
        if not one.key or one.is_worked_through or one.key.startswith(_SPECS)
    )
    plan = (f"Carry out the plan: {known.plan}",) if known.plan else ()
    return distinct((*(text for one in lists for text in open_of(one.points)), *plan), _STEPS)


def _list_of(known: SessionState, key: str) -> TodoList:
    return next((one for one in known.lists if one.key == key), TodoList(key=key))


def _with_list(before: SessionState, kept: TodoList) -> SessionState:
    others = [one for one in before.lists if one.key != kept.key]
    return replace(before, lists=(*others, kept)[-LISTS:])


MOST = 60
"""Points of one list that are kept."""
_READ_CHARS = 100_000
_TEXTS = ("content", "subject", "step", "title", "text", "task_description", "task", "description")
_LISTS = ("todos", "plan", "todoList", "tasks", "new_tasks", "items")
_DONE = word_set("completed complete done finished closed")
_ACTIVE = word_set("in_progress in-progress active started doing")
_DROPPED = word_set("deleted removed cancelled canceled")
_LISTED = re.compile(
    r"^\s*#(?P<id>\w{1,20})[ .:]+\[(?P<status>[\w-]+)\]\s+(?P<text>.+)$", re.MULTILINE
)
_NUMBER = re.compile(r"#(\w{1,20})")
_BOX = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<text>\S.*)$", re.MULTILINE
)
_CHECKLIST = re.compile(
    r"(?:^|/)(?:[^/]*(?:plan|todo|task|roadmap|checklist)[^/]*|(?:plans|specs|tasks)/.*)\.(?:md|mdx|txt)$",
    re.IGNORECASE,
)
_PLAN_TOOLS = word_set("ExitPlanMode exit_plan_mode CreatePlan create_plan")
Row: TypeAlias = Mapping[str, Any]
Points: TypeAlias = tuple[Point, ...]


def after(points: Points, use: ToolUse) -> Points | None:
    """Return a list after the use of a tool; None if the tool does not keep or show lists."""
    change = _TOOLS.get(use.tool)
    if change is None or use.failed:
        return None
    changed = change(points, object_in(use.input), use.output)
    return None if changed is None else changed[-MOST:]


def in_file(points: Points, write: FileWrite) -> tuple[Points | None, bool]:
    """Return the check boxes of a plan file after a write, and whether an open one was ticked off.

    None for a file that has none.
    """
    if not _CHECKLIST.search(write.path.replace("\\", "/")):
        return None, False
    if write.operation == "delete":
        return () if points else None, False
    texts = [(edit.old, edit.new) for edit in write.edits] or [("", write.content or "")]
    boxes = [(_boxes(old), _boxes(new)) for old, new in texts]
    was_open = {*open_of(points), *(text for old, _ in boxes for text in open_of(old))}
    is_ticked = any(
        one.status == "done" and one.text in was_open for _, new in boxes for one in new
    )
    if write.content is not None and write.operation != "append":
        return boxes[0][1] or (() if points else None), is_ticked
    changed = points
    for old, new in boxes:  # a part of the file was replaced by another
        gone, there = {one.text for one in old}, {one.text: one for one in new}
        kept = [there.pop(one.text, one) for one in changed if one.text not in gone - there.keys()]
        changed = (*kept, *there.values())
    return None if changed == points else changed[:MOST], is_ticked


def open_of(points: Iterable[Point]) -> tuple[str, ...]:
    """Return the texts of the points that are not done."""
    return tuple(one.text for one in points if one.status != "done")


def plan_in(use: ToolUse) -> str:
    """Return the text of a plan that a tool presented to the person; "" for other tools."""
    if use.tool not in _PLAN_TOOLS:
        return ""
    texts = (object_in(text).get("plan") for text in (use.input, use.output))
    return next((text for text in texts if isinstance(text, str)), "")


def _whole(points: Points, given: Row, _output: str) -> Points | None:
    rows = next((rows for name in _LISTS if isinstance(rows := given.get(name), list)), None)
    done = given.get("completed_indices")  # places in the list
    if rows is None and isinstance(done, list) and points:
        return tuple(
            replace(one, status="done") if at in done else one for at, one in enumerate(points)
        )
    found = _points(rows or ())
    is_part = given.get("merge") is True or given.get("command") == "add"
    return _merged(points if is_part else (), found) if found else None


def _created(points: Points, given: Row, output: str) -> Points | None:
    answer = object_in(output).get("task")
    named = answer if isinstance(answer, dict) else {}
    number = named.get("id") or given.get("taskId") or next(iter(_NUMBER.findall(output[:200])), "")
    (made,) = _points([{**given, "id": number or str(len(points) + 1)}]) or (None,)
    if made is None:
        return None
    # A list of which all is done is over; the next point begins another.
    is_over = bool(points) and not open_of(points)
    return (made,) if is_over else _merged(points, (made,))


def _updated(points: Points, given: Row, _output: str) -> Points | None:
    number = str(given.get("taskId") or given.get("task_id") or "")
    known = next((one for one in points if one.id == number), None)
    if known is None:
        return _merged(points, found) if (found := _points([{**given, "id": number}])) else points
    status = given.get("status")
    if status in _DROPPED:
        return tuple(one for one in points if one is not known)
    text = _text(given) if "subject" in given else ""
    changed = replace(
        known, text=text or known.text, status=_status(given) if status else known.status
    )
    return tuple(changed if one is known else one for one in points)


def _shown(points: Points, _given: Row, output: str) -> Points | None:
    """Return a list as printed by a tool that shows it or one of its points."""
    answer = object_in(output)
    if isinstance(rows := answer.get("tasks"), list):
        return _points(rows) or points
    if isinstance(row := answer.get("task"), dict):
        return _merged(points, _points([row]))
    found = tuple(
        Point(text=one_line(row["text"], FACT), status=_status(row.groupdict()), id=row["id"])
        for row in _LISTED.finditer(output[:_READ_CHARS])
    )
    return found or points


_WHOLE = """
TodoWrite todo_write todowrite todo_list write_todos update_plan manage_todo_list update_todos
update_todo_list
"""
_TOOLS: Mapping[str, Callable[[Points, Row, str], Points | None]] = {
    **dict.fromkeys(_WHOLE.split(), _whole),
    "TaskCreate": _created,
    "TaskCreated": _created,
    "TaskUpdate": _updated,
    "TaskCompleted": lambda points, given, output: _updated(
        points, {**given, "status": "completed"}, output
    ),
    "TaskList": _shown,
    "TaskGet": _shown,
}


def _points(rows: Iterable[Any]) -> Points:
    live = (row for row in rows if isinstance(row, dict) and row.get("status") not in _DROPPED)
    return tuple(
        Point(text=text, status=_status(row), id=one_line(str(row.get("id") or ""), 40))
        for row in live
        if (text := _text(row))
    )


def _text(row: Row) -> str:
    said = next((row[name] for name in _TEXTS if isinstance(row.get(name), str) and row[name]), "")
    return one_line(said, FACT).rstrip(".")


def _status(row: Row) -> Status:
    status = str(row.get("status") or "").lower().replace(" ", "_")
    is_done = status in _DONE or row.get("completed") is True
    return "done" if is_done else "active" if status in _ACTIVE else "open"


def _merged(points: Points, more: Points) -> Points:
    return tuple({one.id or one.text: one for one in (*points, *more)}.values())


def _boxes(text: str) -> Points:
    return tuple(
        Point(
            text=one_line(found["text"], FACT).rstrip("."),
            status="open" if found["mark"] == " " else "done",
        )
        for found in _BOX.finditer(text[:_READ_CHARS])
    )[:MOST]
