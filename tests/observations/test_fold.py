"""How the events of a session become items: bursts, pairs, ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Delegation,
    Edit,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Search,
    SessionEnd,
    ToolUse,
)
from observer.core.model import Recorded, item_id
from observer.observations.session_lifecycle import begin
from observer.observations.session_reducer import SessionReducer
from observer.observations.session_state import decode
from observer.observations.summary import summarize

Tell = Callable[..., Any]
Place = Callable[..., Recorded]

RED = Command(command="pytest", output="1 failed in 0.10s", exit_code=1)
GREEN = Command(command="pytest", output="1 passed in 0.10s", exit_code=0)


def save(path: str = "a.py", old: str = "", new: str = "x = 1\n") -> FileWrite:
    return FileWrite(path=path, edits=(Edit(old=old, new=new),), tool="Edit")


def test_ten_saves_of_one_file_are_one_item(tell: Tell) -> None:
    told = tell(*(save(new=f"x = {number}\n") for number in range(10)))
    assert told.types == ["file-write"]
    assert told.last.id == item_id(1)
    assert told.last.folded == 10
    assert told.last.narrative.startswith("Modified a.py: 10 edits, 10 lines added.")
    assert told.last.updated_ms - told.last.created_ms == 90_000


def test_symbols_of_folded_saves_merge(tell: Tell) -> None:
    told = tell(save(new="def f():\n    1\n"), save(new="def g():\n    1\n"))
    assert told.last.facts[1:3] == ("added f", "added g")


def test_saves_six_minutes_apart_are_two_items(tell: Tell, place: Place) -> None:
    assert tell(place(save(), 1), place(save(), 2, at_s=10 + 301)).types == ["file-write"] * 2


def test_saves_of_two_files_are_two_items(tell: Tell) -> None:
    assert tell(save("a.py"), save("b.py"), save("a.py")).types == ["file-write"] * 2


def test_two_sub_agents_do_not_fold_together(tell: Tell, place: Place) -> None:
    assert len(tell(place(save(), 1, agent="A"), place(save(), 2, agent="B")).items) == 2


def test_a_failed_write_folds_with_nothing(tell: Tell) -> None:
    told = tell(save(), FileWrite(path="a.py", error="no"), save())
    assert [item.folded for item in told.items.values()] == [2, 1]


def test_a_deletion_stands_alone(tell: Tell) -> None:
    told = tell(save(), FileWrite(path="a.py", operation="delete"), save())
    assert [item.title for item in told.items.values()] == [
        "Modified a.py",
        "Deleted a.py",
        "Modified a.py",
    ]


def test_a_created_file_that_is_edited_stays_created(tell: Tell) -> None:
    told = tell(FileWrite(path="a.py", operation="create", content="x\n"), save())
    assert told.last.subtitle == "create a.py, 2 edits"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Prompt(text="now the next thing"), id="prompt"),
        pytest.param(Commit(hash="abc", subject="x"), id="commit"),
        pytest.param(Checkout(branch="b"), id="checkout"),
        pytest.param(RED, id="failure"),
    ],
)
def test_a_turn_of_the_story_ends_a_burst(tell: Tell, body: AnyBody) -> None:
    assert tell(save(), body, save()).types.count("file-write") == 2


def test_a_passing_test_between_saves_does_not_end_a_burst(tell: Tell) -> None:
    assert tell(save(), GREEN, save()).types.count("file-write") == 1


def test_an_edit_between_failure_and_success_stays_between_them(tell: Tell) -> None:
    told = tell(save(), RED, save(), GREEN, save())
    assert told.types == ["file-write", "command", "file-write", "command", "file-write"]


def test_the_same_command_with_the_same_outcome_folds(tell: Tell) -> None:
    told = tell(GREEN, GREEN, GREEN)
    assert told.last.narrative.startswith("Ran pytest 3 times: 1 passed")


def test_a_changed_outcome_never_folds(tell: Tell) -> None:
    told = tell(RED, GREEN, GREEN, RED)
    assert [item.folded for item in told.items.values()] == [1, 2, 1]


def test_a_failure_carries_the_signature_of_its_error(tell: Tell) -> None:
    told = tell(Command(command="make", output="KeyError: 'total'", exit_code=2), GREEN)
    assert [bool(item.signature) for item in told.items.values()] == [True, False]


@pytest.mark.parametrize(
    "command",
    ["ls", "git status", "cat a", "git log --oneline -5 && git diff --stat", "git add -A",
     "cd web && git add a.ts && git status", "git -C /src/shop add a.ts"],
)  # fmt: skip
def test_looking_around_and_staging_is_no_observation(tell: Tell, command: str) -> None:
    assert tell(Command(command=command, output="a", exit_code=0)).types == []


@pytest.mark.parametrize("command", ["ls nowhere", "git add ignored.txt"])
def test_a_routine_command_that_fails_is_one(tell: Tell, command: str) -> None:
    assert tell(Command(command=command, exit_code=2, output="fatal: no such")).types == ["command"]


@pytest.mark.parametrize("command", ["git add -A && git commit -m x", "git add a && make"])
def test_staging_before_something_else_is_told_with_it(tell: Tell, command: str) -> None:
    assert tell(Command(command=command, exit_code=0)).types == ["command"]


@pytest.mark.parametrize(
    "error",
    [
        "String to replace not found in file.",
        "Sibling tool call errored",
        "File has not been read yet. Read it first before writing to it.",
        "File has been modified since read, either by the user or by a linter.",
        "Found 3 matches of the string to replace, but replace_all is false.",
        "No changes to make: old_string and new_string are exactly the same.",
    ],
)
def test_an_edit_that_a_tool_refused_is_no_observation(tell: Tell, error: str) -> None:
    assert tell(FileWrite(path="a.py", error=error)).types == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(FileRead(paths=("a.py",)), id="read"),
        pytest.param(Search(query="total", output="cart.py:3:def total"), id="search-of-code"),
        pytest.param(Search(query="*.csv", where="files", output="a.csv"), id="search-of-names"),
    ],
)
def test_looking_around_is_no_observation(tell: Tell, body: AnyBody) -> None:
    assert tell(body).types == []


def test_what_was_read_and_looked_for_stands_in_the_summary(tell: Tell) -> None:
    told = tell(
        Prompt(text="Why are totals off?"),
        FileRead(paths=("a.py",)),
        FileRead(paths=("src/b.py",), lines="1-9"),
        Search(query="total", output="cart.py:3:def total"),
    )
    summary = summarize(told.session)
    assert summary is not None
    assert summary.files_read == ("a.py", "src/b.py")
    assert "total" in summary.narrative + str(summary.summary)


@pytest.mark.parametrize("text", ["commit", "ok, go on", "thanks!", "commit and push then"])
def test_a_mere_yes_is_no_observation(tell: Tell, text: str) -> None:
    assert tell(Prompt(text=text)).types == []
    assert tell(Prompt(text=text, files=("a.py",))).types == ["prompt"]


def test_a_search_of_the_web_stands_alone(tell: Tell) -> None:
    told = tell(*(Search(query=f"word{number}", where="web") for number in range(2)))
    assert told.types == ["research", "research"]


def test_a_search_for_nothing_is_no_observation(tell: Tell) -> None:
    assert tell(Search(query=" ")).types == []


def test_what_a_sub_agent_brings_back_joins_its_task(tell: Tell) -> None:
    told = tell(
        Delegation(task="Find callers", agent="Explore"),
        Delegation(task="Read docs", agent="Explore"),
        Delegation(result="Three", agent="Explore"),
        Delegation(task="Read docs", result="Nothing", agent="Explore"),
    )
    assert [item.narrative for item in told.items.values()] == [
        "Handed to Explore: Find callers. Explore came back with: Three",
        "Handed to Explore: Read docs. Explore came back with: Nothing",
    ]


def test_a_delegation_told_by_agent_and_tool_is_one(tell: Tell) -> None:
    told = tell(
        Delegation(result="Three callers.", agent="Explore"),
        Delegation(task="Find callers\nList all.", result="Three callers.", agent="Explore"),
        Delegation(result="Three callers.", agent="Explore"),
    )
    assert [item.title for item in told.items.values()] == ["Find callers"]
    assert summarize(told.session).summary.investigated == "Delegated Find callers."


def test_a_result_nobody_waits_for_stands_alone(tell: Tell) -> None:
    assert tell(Delegation(result="Three", agent="Explore")).last.folded == 1


def test_events_of_no_session_do_not_fold(place: Place) -> None:
    fold = SessionReducer(None)
    items = [item for seq in (1, 2) for item in fold.add(place(save(), seq))]
    assert [item.folded for item in items] == [1, 1]
    assert fold.session() is None


def test_a_session_stands_where_its_last_event_left_it(place: Place) -> None:
    fold = SessionReducer(begin(place(save(), 1)))
    fold.add(place(save(), 1))
    fold.add(place(SessionEnd(), 2))
    standing, stored = fold.current(), fold.session()
    assert standing is not None
    assert stored is not None
    assert (standing.status, standing.events, standing.state) == ("ended", 2, b"")
    assert stored.state


ASKED: list[tuple[str, Intent, Outcome, str]] = [
    (
        "command",
        Intent(tool="shell", of=Command(command="pytest", description="Test")),
        Outcome(tool="shell", output="2 passed in 0.10s\n\nExit Code: 0"),
        "Ran pytest: 2 passed in 100 ms (exit 0). Purpose: Test.",
    ),
    (
        "write",
        Intent(tool="fs_write", of=FileWrite(path="a.py", operation="create", content="x\ny\n")),
        Outcome(tool="fs_write", output="Created the a.py file."),
        "Created a.py: 2 lines.",
    ),
    (
        "failed-write",
        Intent(tool="fs_write", of=save()),
        Outcome(tool="fs_write", output="", failed=True),
        "Could not edit a.py: failed",
    ),
    (
        "write-with-a-bad-exit-code",
        Intent(tool="fs_write", of=save()),
        Outcome(tool="fs_write", output="no", exit_code=1),
        "Could not edit a.py: no",
    ),
    (
        "search",
        Intent(tool="web", of=Search(query="total", where="web", tool="web")),
        Outcome(tool="web", output="A total is a sum."),
        "Searched the web for total: A total is a sum.",
    ),
    (
        "tool",
        Intent(tool="mcp", of=ToolUse(tool="mcp", input="q")),
        Outcome(tool="mcp", output="r"),
        "Used mcp with q: r",
    ),
]


@pytest.mark.parametrize(
    ("intent", "outcome", "narrative"), [case[1:] for case in ASKED], ids=[c[0] for c in ASKED]
)
def test_a_result_is_told_with_what_was_asked(
    tell: Tell, intent: Intent, outcome: Outcome, narrative: str
) -> None:
    told = tell(intent, outcome)
    assert [item.narrative for item in told.items.values()] == [narrative]
    assert told.last.id == item_id(2)


def test_a_read_file_is_no_item_also_where_its_result_comes_apart(tell: Tell) -> None:
    asked = Intent(tool="fs_read", of=FileRead(paths=("a.py",)))
    told = tell(asked, Outcome(tool="fs_read", output="x = 1"))
    assert told.items == {}
    assert decode(told.session.state).pending == ()


def test_a_read_that_is_told_whole_makes_what_was_asked_superfluous(tell: Tell) -> None:
    told = tell(
        Intent(tool="fs_read", of=FileRead(paths=("a.py",))),
        Intent(tool="fs_read", of=FileRead(paths=("b.py",))),
        FileRead(paths=("b.py",)),
    )
    (left,) = decode(told.session.state).pending
    assert left.call == FileRead(paths=("a.py",))


def test_results_go_to_the_oldest_intent_of_their_tool(tell: Tell) -> None:
    told = tell(
        Intent(tool="shell", of=Command(command="first")),
        Intent(tool="other", of=Command(command="elsewhere")),
        Intent(tool="shell", of=Command(command="second")),
        Outcome(tool="shell", output="a"),
        Outcome(tool="shell", output="b"),
    )
    assert [item.narrative for item in told.items.values()] == ["Ran first: a.", "Ran second: b."]


FULL: list[tuple[str, Intent, AnyBody]] = [
    ("command", Intent(tool="shell", of=Command(command="make")), Command(command="make")),
    ("write", Intent(tool="Edit", of=save("b.py")), save("b.py")),
    ("other-subject", Intent(tool="Edit", of=save("b.py")), save("c.py")),
    (
        "search",
        Intent(tool="s", of=Search(query="a", where="web")),
        Search(query="a", where="web"),
    ),
    ("tool", Intent(tool="t", of=ToolUse(tool="t")), ToolUse(tool="t")),
]


@pytest.mark.parametrize(("intent", "body"), [c[1:] for c in FULL], ids=[c[0] for c in FULL])
def test_a_full_report_settles_its_intent(tell: Tell, intent: Intent, body: AnyBody) -> None:
    assert len(tell(intent, body, SessionEnd()).items) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ToolUse(tool="t"), id="other-kind"),
        pytest.param(Command(command="other"), id="other-command"),
    ],
)
def test_another_report_leaves_an_intent_waiting(tell: Tell, body: AnyBody) -> None:
    told = tell(Intent(tool="shell", of=Command(command="make")), body, SessionEnd())
    assert told.last.subtitle == "started, no result"


def test_intents_left_at_the_end_are_told_as_started(tell: Tell) -> None:
    told = tell(
        Intent(tool="shell", of=Command(command="npm run dev")),
        Intent(tool="fs_write", of=save(new="def f():\n    1\n")),
        Intent(tool="fs_read", of=FileRead(paths=("a.py",))),
        SessionEnd(),
    )
    assert [(item.id, item.narrative) for item in told.items.values()] == [
        (item_id(1), "Started npm run dev; no result was reported."),
        (item_id(2), "Began to edit a.py; no result was reported."),
    ]
    assert told.last.facts[1] == "added f"
