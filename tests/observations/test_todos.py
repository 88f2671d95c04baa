"""To-do lists as agents' tools keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import Edit, FileWrite, Prompt, SessionEnd, SessionStart, ToolUse
from observer.observations import todos
from observer.observations.session_state import Point, decode
from observer.observations.summary import summarize

Feed = Callable[..., Any]


def use(tool: str, given: str, output: str = "") -> ToolUse:
    return ToolUse(tool=tool, input=given, output=output)


def create(number: int, subject: str) -> ToolUse:
    task = f'{{"task": {{"id": "{number}", "subject": "{subject}"}}}}'
    return use("TaskCreate", f'{{"subject": "{subject}", "description": "long"}}', task)


def update(number: int, status: str) -> ToolUse:
    return use("TaskUpdate", f'{{"taskId": "{number}", "status": "{status}"}}', '{"success": true}')


def test_tasks_that_are_made_one_by_one_are_one_list(feed: Feed) -> None:
    fed = feed(
        create(1, "Round it"),
        create(2, "Test it"),
        Prompt(text="and tell Ana of the totals"),
        create(3, "Tell Ana"),
        update(1, "completed"),
        update(2, "in_progress"),
    )
    assert [item.type for item in fed.items.values()] == ["turn"]
    assert todos.steps_of(decode(fed.session.state)) == ("Test it", "Tell Ana")


def test_a_list_goes_on_when_its_session_is_resumed(feed: Feed) -> None:
    fed = feed(
        create(1, "Round it"),
        create(2, "Test it"),
        SessionEnd(),
        SessionStart(source="resume"),
        update(1, "completed"),
    )
    assert todos.steps_of(decode(fed.session.state)) == ("Test it",)


def test_what_follows_a_list_that_is_done_is_another(feed: Feed) -> None:
    fed = feed(create(1, "Round it"), update(1, "completed"), create(2, "Test it"))
    assert todos.steps_of(decode(fed.session.state)) == ("Test it",)


def test_a_sub_agents_list_is_its_own(feed: Feed, place: Callable[..., Any]) -> None:
    fed = feed(create(1, "Round it"), place(create(1, "Search it"), 2, agent="Explore/a"))
    assert todos.steps_of(decode(fed.session.state)) == ("Round it",)


A, B = Point(text="A", id="1"), Point(text="B", id="2", status="done")


@pytest.mark.parametrize(
    ("before", "tool_use", "after"),
    [
        pytest.param((A,), update(1, "deleted"), (), id="deleted"),
        pytest.param((A,), update(7, "completed"), (A,), id="unknown"),
        pytest.param(
            (A,),
            use("TaskUpdate", '{"taskId": "1", "subject": "Z"}'),
            (Point(text="Z", id="1"),),
            id="renamed",
        ),
        pytest.param(
            (), use("TaskUpdate", '{"taskId": "1", "subject": "A"}'), (A,), id="heard-of-late"
        ),
        pytest.param((), use("TaskCreate", '{"subject": "A"}', "Task #1 created"), (A,), id="text"),
        pytest.param((), use("TaskCreate", '{"subject": "A"}'), (A,), id="no-answer"),
        pytest.param((A,), use("TaskCreate", "{}"), None, id="no-subject"),
        pytest.param((), use("TaskCreated", '{"taskId": "1", "subject": "A"}'), (A,), id="hook"),
        pytest.param(
            (A,),
            use("TaskCompleted", '{"taskId": "1"}'),
            (Point(text="A", id="1", status="done"),),
            id="hook-of-its-end",
        ),
        pytest.param(
            (), use("TaskList", "{}", "#1 [pending] A\n#2 [completed] B"), (A, B), id="list-as-text"
        ),
        pytest.param(
            (A,),
            use(
                "TaskList",
                "{}",
                '{"tasks": [{"id": "1", "subject": "A"}, {"id": "2", "subject": "B",'
                ' "status": "completed"}]}',
            ),
            (A, B),
            id="list-as-json",
        ),
        pytest.param((A,), use("TaskList", "{}", "No tasks"), (A,), id="list-of-none"),
        pytest.param(
            (A,),
            use("TaskGet", "{}", '{"task": {"id": "2", "subject": "B", "status": "completed"}}'),
            (A, B),
            id="one",
        ),
        pytest.param(
            (),
            use("update_plan", '{"plan": [{"step": "A", "status": "in_progress"}]}'),
            (Point(text="A", status="active"),),
            id="codex",
        ),
        pytest.param(
            (A,),
            use(
                "todo_write",
                '{"merge": true, "todos": [{"id": "2", "content": "B", "status": "completed"}]}',
            ),
            (A, B),
            id="cursor-merges",
        ),
        pytest.param(
            (),
            use("todo_list", '{"command": "create", "tasks": [{"task_description": "A"}]}'),
            (Point(text="A"),),
            id="kiro",
        ),
        pytest.param(
            (A,),
            use("todo_list", '{"command": "complete", "completed_indices": [0]}'),
            (Point(text="A", id="1", status="done"),),
            id="kiro-checks-off",
        ),
        pytest.param((), use("todo_list", '{"completed_indices": [0]}'), None, id="of-nothing"),
        pytest.param((), use("TodoWrite", '{"todos": "A"}'), None, id="no-list"),
        pytest.param((), use("TodoWrite", '{"todos": [1, {}]}'), None, id="no-points"),
        pytest.param((), use("TodoWrite", "{"), None, id="broken"),
        pytest.param((), use("TodoWrite", "todos"), None, id="text"),
        pytest.param((), use("Skill", '{"todos": [{"content": "A"}]}'), None, id="another-tool"),
        pytest.param(
            (),
            ToolUse(tool="TodoWrite", input='{"todos": [{"content": "A"}]}', failed=True),
            None,
            id="failed",
        ),
    ],
)
def test_each_tool_changes_the_list_in_its_way(
    before: tuple[Point, ...], tool_use: ToolUse, after: tuple[Point, ...] | None
) -> None:
    assert todos.after(before, tool_use) == after


CHECKLIST = "# Plan: Totals\n\n- [x] Round\n- [ ] Test\n"


def write(**fields: Any) -> FileWrite:
    return FileWrite(**{"path": "docs/plan.md"} | fields)


@pytest.mark.parametrize(
    ("writes", "left"),
    [
        pytest.param((write(content=CHECKLIST),), (), id="nothing-done-of-it"),
        pytest.param(
            (write(content="- [ ] Round\n- [ ] Test"), write(content=CHECKLIST)),
            ("Test",),
            id="written",
        ),
        pytest.param(
            (
                write(content=CHECKLIST),
                write(edits=(Edit(old="- [ ] Test", new="- [x] Test\n- [ ] Ship"),)),
            ),
            ("Ship",),
            id="edited",
        ),
        pytest.param(
            (write(content=CHECKLIST), write(edits=(Edit(old="- [ ] Test\n"),))), (), id="removed"
        ),
        pytest.param(
            (
                write(content="- [ ] Round\n- [ ] Test"),
                write(content=CHECKLIST),
                write(content="- [ ] Ship", operation="append"),
            ),
            ("Test", "Ship"),
            id="appended",
        ),
        pytest.param((write(content=CHECKLIST), write(content="None")), (), id="written-anew"),
        pytest.param((write(content=CHECKLIST), write(operation="delete")), (), id="deleted"),
        pytest.param((write(operation="delete"),), (), id="deleted-unknown"),
        pytest.param((write(content="No boxes"),), (), id="no-boxes"),
        pytest.param((write(edits=(Edit(new="x"),)),), (), id="no-boxes-edited"),
        pytest.param((write(path="README.md", content=CHECKLIST),), (), id="no-plan"),
        pytest.param((write(content=CHECKLIST, error="refused"),), (), id="refused"),
        pytest.param(
            (write(path=".kiro/specs/cart/tasks.md", content="- [ ] 1. Round\n"),),
            ("1. Round",),
            id="spec",
        ),
    ],
)
def test_check_boxes_of_a_plan_file_are_a_list(
    feed: Feed, writes: tuple[FileWrite, ...], left: tuple[str, ...]
) -> None:
    assert todos.steps_of(decode(feed(*writes).session.state)) == left


PLAN = '{"plan": "# Plan: Round totals\\n\\nHalf even."}'
SAVED = FileWrite(path="/home/ana/.claude/plans/x.md", content="# Plan: Round totals\n")


@pytest.mark.parametrize(
    ("bodies", "left"),
    [
        pytest.param(
            (use("ExitPlanMode", PLAN),), ("Carry out the plan: Round totals",), id="shown"
        ),
        pytest.param(
            (use("ExitPlanMode", "{}", PLAN),), ("Carry out the plan: Round totals",), id="answer"
        ),
        pytest.param((SAVED,), ("Carry out the plan: Round totals",), id="saved"),
        pytest.param(
            (SAVED, FileWrite(path=SAVED.path, edits=(Edit(new="Half even"),))),
            ("Carry out the plan: Round totals",),
            id="edited",
        ),
        pytest.param(
            (SAVED, FileWrite(path="/tmp/x", content="")),
            ("Carry out the plan: Round totals",),
            id="work-elsewhere",
        ),
        pytest.param((SAVED, FileWrite(path="cart.py", content="")), (), id="begun"),
        pytest.param((use("ExitPlanMode", '{"plan": 1}'),), (), id="no-plan"),
    ],
)
def test_a_plan_that_is_not_begun_is_next(
    feed: Feed, bodies: tuple[Any, ...], left: tuple[str, ...]
) -> None:
    session = feed(Prompt(text="plan the rounded totals"), *bodies).session
    assert todos.steps_of(decode(session.state)) == left
    summary = summarize(session)
    assert summary
    assert summary.summary
    assert ("Planned: Round totals." in summary.summary.completed) is bool(left)


def test_a_plan_that_was_shown_is_reported_by_its_heading(feed: Feed) -> None:
    item = feed(use("ExitPlanMode", PLAN)).last
    assert (item.title, item.narrative) == (
        "Plan: Round totals",
        "# Plan: Round totals\n\nHalf even.",
    )


def test_a_list_that_is_written_whole_anew_replaces_the_one_before(feed: Feed) -> None:
    fed = feed(
        use("TodoWrite", '{"todos": [{"content": "A"}]}'),
        use("TodoWrite", '{"todos": [{"content": "B"}]}'),
    )
    assert todos.steps_of(decode(fed.session.state)) == ("B",)


@given(st.text(st.sampled_from('{}[]":,todstak#1 -x\n'), max_size=120))
def test_any_input_is_read(text: str) -> None:
    for tool in ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"):
        assert len(todos.after((), use(tool, text, text)) or ()) <= todos.MOST
    assert len(todos.in_file((), write(content=text))[0] or ()) <= todos.MOST
