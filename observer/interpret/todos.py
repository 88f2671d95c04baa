"""The to-do list that an agent keeps with a tool, such as Claude Code's `TodoWrite`.

Part of interpretation (step 6). Each call gives the whole list, so the last one counts; what is
open in it is the nearest thing to a plan that a session leaves behind.
"""

from __future__ import annotations

from typing import Any

import msgspec

from observer.events import ToolUse, Value
from observer.interpret import concepts
from observer.interpret.told import FACT, FACTS, NARRATIVE, Told
from observer.interpret.wording import distinct, listed, one_line, word_set

_TOOLS = word_set("TodoWrite todo_write todowrite todo_list")
_MOST = 30
_DONE = word_set("completed complete done cancelled")
_DECODER = msgspec.json.Decoder(dict[str, Any])  # a tool's input may be anything


class Todos(Value):
    """A list's points in order, parted by whether they are done."""

    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def read(use: ToolUse) -> Todos | None:
    """Return the list that a tool was given; None if this is no such tool or holds no points."""
    if use.tool not in _TOOLS or use.failed:
        return None
    try:
        points = _DECODER.decode(use.input).get("todos")
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    if not isinstance(points, list):
        return None
    found = [(_said(point), point.get("status")) for point in points if isinstance(point, dict)]
    done = distinct((said for said, status in found if status in _DONE), _MOST)
    return Todos(
        done=done,
        open=distinct((said for said, status in found if said not in done), _MOST),
    )


def tell(todos: Todos) -> Told:
    """Tell how far a list has come."""
    count = len(todos.done) + len(todos.open)
    said = [f"Done: {listed(todos.done, _MOST)}."] if todos.done else []
    said += [f"Open: {listed(todos.open, _MOST)}."] if todos.open else []
    marked = (*(f"[ ] {one}" for one in todos.open), *(f"[x] {one}" for one in todos.done))
    return Told(
        type="tool-use",
        title=f"To-do list: {len(todos.done)} of {count} done",
        narrative=one_line(" ".join(said), NARRATIVE),
        facts=tuple(one_line(line, FACT) for line in marked[:FACTS]),
        concepts=concepts.of_text("\n".join((*todos.open, *todos.done)), 6),
        chars=sum(map(len, (*todos.done, *todos.open))),
    )


def _said(point: dict[str, Any]) -> str:
    content = point.get("content") or point.get("task_description") or ""
    return one_line(content, FACT).rstrip(".") if isinstance(content, str) else ""
