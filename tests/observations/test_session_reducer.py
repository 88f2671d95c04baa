"""How the events of a session become items: groups, pairs, ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Compaction,
    Delegation,
    Edit,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)
from observer.core.model import Recorded, item_id
from observer.observations import session_state
from observer.observations.session_reducer import GROUPS, SessionReducer
from observer.observations.session_state import CommandState, SessionState, begin, decode
from observer.observations.summary import summarize

Feed = Callable[..., Any]
Place = Callable[..., Recorded]

RED = Command(command="pytest", output="1 failed in 0.10s", exit_code=1)
GREEN = Command(command="pytest", output="1 passed in 0.10s", exit_code=0)


def save(path: str = "a.py", old: str = "", new: str = "x = 1\n") -> FileWrite:
    return FileWrite(path=path, edits=(Edit(old=old, new=new),), tool="Edit")


def test_ten_saves_of_one_file_are_one_item(feed: Feed) -> None:
    fed = feed(*(save(new=f"x = {number}\n") for number in range(10)))
    assert fed.types == ["file-write"]
    assert fed.last.id == item_id(1)
    assert fed.last.folded == 10
    assert fed.last.facts == ("+10 -0 lines",)
    assert fed.last.updated_ms - fed.last.created_ms == 90_000


def test_symbols_of_folded_saves_merge(feed: Feed) -> None:
    fed = feed(save(new="def f():\n    1\n"), save(new="def g():\n    1\n"))
    assert fed.last.facts[:2] == ("added f", "added g")


def test_saves_half_an_hour_apart_are_two_items(feed: Feed, place: Place) -> None:
    assert feed(place(save(), 1), place(save(), 2, at_s=10 + 1801)).types == ["file-write"] * 2


def test_two_files_and_two_sub_agents_do_not_fold_together(feed: Feed, place: Place) -> None:
    first, other = place(save(), 1, agent="A"), place(save("b.py"), 3, agent="A")
    assert len(feed(first, place(save(), 2, agent="B"), other).items) == 3


@pytest.mark.parametrize(
    "failed",
    [
        pytest.param((FileWrite(path="a.py", error="no"),), id="at once"),
        pytest.param(
            (
                Intent(tool="fs_write", of=FileWrite(path="a.py")),
                Outcome(tool="fs_write", failed=True),
            ),
            id="in two halves",
        ),
    ],
)
def test_a_write_that_failed_changes_and_records_nothing(
    feed: Feed, failed: tuple[AnyBody, ...]
) -> None:
    fed = feed(save(), *failed, save())
    assert [item.folded for item in fed.items.values()] == [2]
    assert decode(fed.session.state).files["a.py"].writes == 2


def test_a_deletion_stands_alone(feed: Feed) -> None:
    fed = feed(save(), FileWrite(path="a.py", operation="delete"), save())
    assert [item.title for item in fed.items.values()] == [
        "Modified a.py",
        "Deleted a.py",
        "Modified a.py",
    ]


def test_a_created_file_that_is_edited_stays_created(feed: Feed) -> None:
    fed = feed(FileWrite(path="a.py", operation="create", content="x\n"), save())
    assert fed.last.subtitle == "create a.py, 2 edits"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Prompt(text="now the next thing"), id="prompt"),
        pytest.param(Commit(hash="abc", subject="x"), id="commit"),
        pytest.param(Checkout(branch="b"), id="checkout"),
    ],
)
def test_a_turn_of_the_story_ends_a_group(feed: Feed, body: AnyBody) -> None:
    assert feed(save(), body, save()).types.count("file-write") == 2


@pytest.mark.parametrize("run", [RED, GREEN], ids=["red", "green"])
def test_a_run_between_saves_does_not_end_a_group(feed: Feed, run: Command) -> None:
    assert feed(save(), run, save()).types.count("file-write") == 1


def test_the_same_failure_again_folds(feed: Feed) -> None:
    assert [item.folded for item in feed(RED, GREEN, RED, RED).items.values()] == [1, 1, 2]


def test_commands_that_did_not_fail_are_one_record_of_their_turn(feed: Feed) -> None:
    fed = feed(Command(command="make"), RED, GREEN, Command(command="make"))
    (calls,) = [item for item in fed.items.values() if item.category == ""]
    assert (calls.id, calls.folded, calls.kind) == (item_id(1), 3, "record")
    assert calls.title == "commands: 3 calls on pytest and make"
    assert calls.facts == ("$ pytest", "$ make")


def test_calls_of_one_server_are_one_record(feed: Feed) -> None:
    opened = [
        ToolUse(tool="mcp__browser__navigate", input=f'{{"url": "/{page}"}}')
        for page in ("login", "cart", "cart")
    ]
    fed = feed(*opened, ToolUse(tool="mcp__browser__snapshot"), ToolUse(tool="Skill"))
    assert [item.title for item in fed.items.values()] == [
        "browser: 4 calls on navigate: /login, navigate: /cart and snapshot",
        "Skill",
    ]


def test_a_call_that_failed_is_a_record_of_its_own(feed: Feed) -> None:
    fed = feed(ToolUse(tool="Skill"), ToolUse(tool="Skill", output="no such", failed=True))
    assert [item.facts for item in fed.items.values()] == [(), ("no such",)]


@pytest.mark.parametrize("command", ["git checkout -- cart.py", "git reset --hard"])
def test_what_takes_back_work_is_a_record_of_its_own(feed: Feed, command: str) -> None:
    fed = feed(*[Command(command=command, exit_code=0)] * 2, GREEN)
    assert [item.folded for item in fed.items.values()] == [1, 1, 1]


def test_what_a_person_typed_is_a_record_of_its_own(feed: Feed, place: Place) -> None:
    typed = place(Command(command="make"), 1)
    typed = msgspec.structs.replace(
        typed, event=msgspec.structs.replace(typed.event, author="person")
    )
    assert [item.title for item in feed(typed, GREEN).items.values()] == ["make", "pytest"]


@pytest.mark.parametrize(
    "command", ["ls", "git status", "cat a", "git log --oneline -5 && git diff --stat"]
)
def test_a_command_that_looks_around_is_no_observation(feed: Feed, command: str) -> None:
    assert feed(Command(command=command, output="a", exit_code=0)).types == []


@pytest.mark.parametrize("command", ["ls nowhere", "git add ignored.txt"])
def test_a_routine_command_that_fails_is_one(feed: Feed, command: str) -> None:
    assert feed(Command(command=command, exit_code=2, output="fatal: no such")).types == ["command"]


@pytest.mark.parametrize("command", ["git add -A && git commit -m x", "git add a && make"])
def test_staging_before_something_else_is_reported_with_it(feed: Feed, command: str) -> None:
    assert feed(Command(command=command, exit_code=0)).types == ["command"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(FileRead(paths=("a.py",)), id="read"),
        pytest.param(Search(query="total", output="cart.py:3:def total"), id="search-of-code"),
        pytest.param(Search(query="*.csv", where="files", output="a.csv"), id="search-of-names"),
    ],
)
def test_looking_around_is_no_observation(feed: Feed, body: AnyBody) -> None:
    assert feed(body).types == []


def test_what_was_read_and_looked_for_stands_in_the_summary(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Why are totals off?"),
        FileRead(paths=("a.py",)),
        FileRead(paths=("src/b.py",), lines="1-9"),
        Search(query="total", output="cart.py:3:def total"),
    )
    summary = summarize(fed.session)
    assert summary is not None
    assert summary.files_read == ("a.py", "src/b.py")
    assert "total" in summary.narrative + str(summary.summary)


def test_searches_of_the_web_are_one_record(feed: Feed) -> None:
    fed = feed(*(Search(query=f"word{number}", where="web") for number in range(2)))
    assert fed.types == ["research"]
    assert fed.last.title == "web search: 2 calls on word0 and word1"


def test_what_a_sub_agent_brings_back_joins_its_task(feed: Feed) -> None:
    fed = feed(
        Delegation(task="Find callers", agent="Explore"),
        Delegation(task="Read docs", agent="Explore"),
        Delegation(result="Three", agent="Explore"),
        Delegation(task="Read docs", result="Nothing", agent="Explore"),
    )
    assert [item.narrative for item in fed.items.values()] == [
        "Handed to Explore: Find callers.\nExplore came back with: Three",
        "Handed to Explore: Read docs.\nExplore came back with: Nothing",
    ]


def test_what_a_client_kept_of_a_compacted_context_is_an_item(feed: Feed) -> None:
    summary = "1. Primary request: mend the retries.\n2. Backoff doubled twice, so we halved it."
    fed = feed(Compaction(trigger="auto"), Compaction(trigger="auto", summary=summary))
    (item,) = fed.items.values()
    assert (item.type, item.subtitle) == ("compaction", "context compacted auto")
    assert item.narrative == summary


def test_a_compacted_context_is_titled_below_its_heading(feed: Feed) -> None:
    said = "1. Request and intent:\n   The retries are to be halved. Then tests."
    assert feed(Compaction(summary=said)).last.title == "The retries are to be halved."


def test_a_delegation_reported_by_agent_and_tool_is_one(feed: Feed) -> None:
    fed = feed(
        Delegation(result="Three callers.", agent="Explore"),
        Delegation(task="Find callers\nList all.", result="Three callers.", agent="Explore"),
        Delegation(result="Three callers.", agent="Explore"),
    )
    assert [item.title for item in fed.items.values()] == ["Find callers"]


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
        "pytest",
    ),
    (
        "write",
        Intent(tool="fs_write", of=FileWrite(path="a.py", operation="create", content="x\ny\n")),
        Outcome(tool="fs_write", output="Created the a.py file."),
        "Created a.py",
    ),
    (
        "search",
        Intent(tool="web", of=Search(query="total", where="web", tool="web")),
        Outcome(tool="web", output="A total is a sum."),
        "total",
    ),
    (
        "tool",
        Intent(tool="mcp", of=ToolUse(tool="mcp", input="q")),
        Outcome(tool="mcp", output="r"),
        "mcp: q",
    ),
]


@pytest.mark.parametrize(
    ("intent", "outcome", "title"), [case[1:] for case in ASKED], ids=[c[0] for c in ASKED]
)
def test_a_result_is_reported_with_what_was_asked(
    feed: Feed, intent: Intent, outcome: Outcome, title: str
) -> None:
    fed = feed(intent, outcome)
    assert [item.title for item in fed.items.values()] == [title]
    assert fed.last.id == item_id(2)


def test_a_read_file_is_no_item_also_where_its_result_comes_apart(feed: Feed) -> None:
    asked = Intent(tool="fs_read", of=FileRead(paths=("a.py",)))
    fed = feed(asked, Outcome(tool="fs_read", output="x = 1"))
    assert fed.items == {}
    assert decode(fed.session.state).pending == ()


def test_a_read_that_is_reported_whole_makes_what_was_asked_superfluous(feed: Feed) -> None:
    fed = feed(
        Intent(tool="fs_read", of=FileRead(paths=("a.py",))),
        Intent(tool="fs_read", of=FileRead(paths=("b.py",))),
        FileRead(paths=("b.py",)),
    )
    (left,) = decode(fed.session.state).pending
    assert left.call == FileRead(paths=("a.py",))


def test_results_go_to_the_oldest_intent_of_their_tool(feed: Feed) -> None:
    fed = feed(
        Intent(tool="shell", of=Command(command="first")),
        Intent(tool="other", of=Command(command="elsewhere")),
        Intent(tool="shell", of=Command(command="second")),
        Outcome(tool="shell", output="a", exit_code=1),
        Outcome(tool="shell", output="b", exit_code=1),
    )
    assert [item.title for item in fed.items.values()] == ["first", "second"]


FULL: list[tuple[str, Intent, AnyBody]] = [
    ("command", Intent(tool="shell", of=Command(command="make")), Command(command="make")),
    ("write", Intent(tool="Edit", of=save("b.py")), save("b.py")),
    ("other-subject", Intent(tool="Edit", of=save("b.py")), save("c.py")),
    ("search", Intent(tool="s", of=Search(query="a", where="web")), Search(query="a", where="web")),
    ("tool", Intent(tool="t", of=ToolUse(tool="t")), ToolUse(tool="t")),
]


@pytest.mark.parametrize(("intent", "body"), [c[1:] for c in FULL], ids=[c[0] for c in FULL])
def test_a_full_report_settles_its_intent(feed: Feed, intent: Intent, body: AnyBody) -> None:
    assert len(feed(intent, body, SessionEnd()).items) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ToolUse(tool="t"), id="other-kind"),
        pytest.param(Command(command="other"), id="other-command"),
    ],
)
def test_another_report_leaves_an_intent_waiting(feed: Feed, body: AnyBody) -> None:
    fed = feed(Intent(tool="shell", of=Command(command="make")), body)
    assert len(decode(fed.session.state).pending) == 1


def test_what_has_no_result_at_the_end_is_no_record(feed: Feed) -> None:
    asked = Intent(tool="shell", of=Command(command="npm run dev"))
    assert feed(asked, SessionEnd()).items == {}


def test_groups_are_bounded(feed: Feed) -> None:
    fed = feed(*(save(f"{number}.py") for number in range(2 * GROUPS)))
    assert len(decode(fed.session.state).grouped) == GROUPS


def test_every_part_is_bounded() -> None:
    known = SessionState()
    for number in range(300):
        known = session_state.with_reads(known, (f"{number}.py",))
        known = session_state.with_command(known, f"cmd {number}", CommandState(ok=True))
    assert len(known.files) == session_state.FILES
    assert len(known.commands) == session_state.COMMANDS
    assert "299.py" in known.files


def test_long_keys_are_short_and_differ() -> None:
    first, second = (session_state.key_of("command", end * 500) for end in "ab")
    assert first != second
    assert max(len(first), len(second)) < 60


END, IDLE = SessionEnd(reason="exit"), SessionEnd(reason="idle")
WORK = ToolUse(tool="x")


def test_a_session_has_its_id_from_whatever_event_is_left_of_it(place: Place) -> None:
    session = session_state.begin(place(WORK, 5))
    assert (session.id, session.external, session.client) == (1, "s1", "claude-code")
    assert (session.project_id, session.branch, session.events) == (7, "main", 0)


def test_prompts_are_counted_and_the_first_is_kept(feed: Feed) -> None:
    session = feed(Prompt(text="first\nmore"), Prompt(text=" "), Prompt(text="second")).session
    assert (session.prompts, session.first_prompt, session.events) == (2, "first", 3)


def test_a_parent_is_noted(feed: Feed) -> None:
    assert feed(SessionStart(parent_session="p1")).session.parent == "p1"


def test_a_client_ends_its_session(feed: Feed) -> None:
    session = feed(WORK, END).session
    assert session.status == "ended"
    assert session.ended_ms == session.last_ms


def test_an_idle_session_ended_with_its_last_sign_of_life(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(IDLE, 2, at_s=3600)).session
    assert session.status == "idle"
    assert session.ended_ms == session.last_ms == session.started_ms


def test_an_ended_session_comes_back(feed: Feed) -> None:
    session = feed(WORK, END, WORK).session
    assert (session.status, session.ended_ms) == ("active", None)


def test_a_straggler_does_not_wake_an_ended_session(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(END, 2), place(WORK, 3, at_s=15)).session
    assert session.status == "ended"


def test_an_event_from_before_the_first_moves_the_start(feed: Feed, place: Place) -> None:
    session = feed(place(WORK, 1), place(WORK, 2, at_s=1)).session
    assert session.last_ms - session.started_ms == 9000


CONTINUED = [
    ("a-real-id-resumes", (WORK, END), "s1", WORK, 99, True),
    ("a-made-id-goes-on", (WORK,), "ppid:7@h", WORK, 99, True),
    ("a-made-id-after-its-end", (WORK, END), "ppid:7@h", WORK, 99, False),
    ("a-straggler", (WORK, END), "ppid:7@h", WORK, 15, True),
    ("a-process-id-used-again", (WORK,), "ppid:7@h", WORK, 50_000, False),
    ("a-new-start", (Prompt(text="x"),), "ppid:7@h", SessionStart(), 99, False),
    ("a-resume", (Prompt(text="x"),), "ppid:7@h", SessionStart(source="resume"), 99, True),
    ("a-late-first-start", (WORK,), "ppid:7@h", SessionStart(), 99, True),
]


@pytest.mark.parametrize("case", CONTINUED, ids=[case[0] for case in CONTINUED])
def test_an_event_goes_on_with_its_session_or_begins_one(
    feed: Feed, place: Place, case: tuple[Any, ...]
) -> None:
    _, bodies, external, body, at_s, expected = case
    event = place(body, 9, at_s=at_s, session=external).event
    assert not session_state.continues(None, event)
    assert session_state.continues(feed(*bodies).session, event) is expected
