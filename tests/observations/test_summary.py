"""What a session is summed up as, and what it leaves to the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Compaction,
    Custom,
    Delegation,
    Edit,
    FileChange,
    FileRead,
    FileWrite,
    Prompt,
    Remember,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)
from observer.core.model import Item, SummaryFields, item_id
from observer.observations import session_commits, session_state, todos
from observer.observations.session_state import decode
from observer.observations.summary import summarize

Feed = Callable[..., Any]

RED = Command(
    command="pytest -q t.py", output="FAILED t.py::a - AssertionError: 2\n1 failed in 0.10s"
)
GREEN = Command(command="pytest -q", output="3 passed in 0.10s", exit_code=0)
WRITE = FileWrite(
    path="api/cart.py", edits=(Edit(old="def a():\n    1\n", new="def a():\n    2\n"),)
)
COMMIT = Commit(
    hash="abcdef0123456", subject="Round totals", files=(FileChange(path="api/cart.py"),)
)
LONGER = replace(COMMIT, subject="Round totals of whole carts half even")
OPENED = Command(command="gh pr create -t 'Round the total'", exit_code=0)
PASTED = """Look at this one here: [10:21:03] GET /cart
[10:21:04] GET /cart/total
File "cart.py", line 4, in total
"""


def save(path: str) -> FileWrite:
    return FileWrite(path=path, edits=(Edit(new="x = 1\n"),), tool="Edit")


def summary(feed: Feed, *bodies: AnyBody) -> SummaryFields:
    item = summarize(feed(*bodies).session)
    assert item is not None
    assert item.summary is not None
    return item.summary


def test_the_request_is_what_prompts_that_name_something_asked(feed: Feed) -> None:
    fields = summary(
        feed,
        Prompt(text="/clear"),
        Prompt(text="Round the total up"),
        Prompt(text="ok, go"),
        Prompt(text="test it in euros"),
    )
    assert fields.request == "Round the total up; test it in euros"


def test_of_many_requests_the_first_and_the_last_are_reported(feed: Feed) -> None:
    prompts = [Prompt(text=f"Round the total of cart number {number}") for number in range(50)]
    request = summary(feed, *prompts).request
    assert request.startswith("Round the total of cart number 26; ")
    assert "more)" in request
    assert request.endswith("cart number 49")


def test_without_prompts_the_request_is_the_commit(feed: Feed) -> None:
    assert summary(feed, COMMIT).request == "Round totals"


def test_without_prompts_and_commits_the_request_is_the_branch(feed: Feed) -> None:
    session = feed(GREEN).session
    item = summarize(replace(session, branch="fix/timeout"))
    assert item is not None
    assert item.title == "Work on fix/timeout"


@pytest.mark.parametrize(
    ("bodies", "title"),
    [
        pytest.param(
            (Prompt(text="Round the total up"), Prompt(text="Then test all of it")),
            "Round the total up",
            id="asked-first",
        ),
        pytest.param((WRITE, GREEN), "Changed api/cart.py (a)", id="done-first"),
        pytest.param((FileRead(paths=("a.py",)),), "Read a.py", id="looked-at"),
        pytest.param((Custom(name="-"),), "-", id="nothing-better"),
        pytest.param(
            (Prompt(text="fix them"), WRITE, COMMIT), "Round totals (cart.py)", id="a-commit"
        ),
        pytest.param((Prompt(text="fix it"), WRITE), "Changed api/cart.py (a)", id="the-files"),
        pytest.param((Prompt(text="hide this one:"), COMMIT), "Round totals", id="a-picture"),
        pytest.param(
            (Prompt(text="all of this is to be rounded, in totals too"), WRITE, LONGER),
            f"all of this is to be rounded, in totals too · {LONGER.subject} (cart.py)",
            id="better-said",
        ),
        pytest.param(
            (Prompt(text=PASTED), WRITE, Reply(text="All is well. The cause was `cents`.")),
            "The cause was `cents`.",
            id="pasted",
        ),
        pytest.param(
            (Prompt(text=PASTED), WRITE, COMMIT), "Round totals (cart.py)", id="pasted-done"
        ),
        pytest.param(
            (Prompt(text=f"the total {'of this cart ' * 20}is cut"), COMMIT),
            f"the total {'of this cart ' * 7}of… · Round totals",
            id="a-long-request",
        ),
        pytest.param(
            (Prompt(text="what `keep` does is lost"), COMMIT),
            "what `keep` does is lost · Round totals",
            id="no-word-of-it",
        ),
        pytest.param(
            (Prompt(text="it is red when I run that"), WRITE, WRITE),
            "it is red when I run that · cart.py (a)",
            id="no-word-of-the-file",
        ),
        pytest.param(
            (
                Prompt(text="Round totals of carts"),
                COMMIT,
                replace(COMMIT, hash="b" * 9, subject="Translate messages"),
            ),
            "Round totals of carts",
            id="a-second-work",
        ),
        pytest.param(
            (
                Prompt(text="Hello there, how are you?"),
                Prompt(text="Make what we did to the cart better"),
                WRITE,
                Prompt(text="Thanks a lot for all of that"),
            ),
            "Make what we did to the cart better \u00b7 cart.py (a)",
            id="the-request-for-the-work",
        ),
        pytest.param(
            (
                Prompt(text="run the queue"),
                Delegation(task="Migrate", agent="worker", result="Moved `users` to UUIDs."),
                Reply(text="Both tasks of the queue are done."),
            ),
            "Moved `users` to UUIDs.",
            id="work-of-sub-agents",
        ),
        pytest.param(
            (Prompt(text="/ship 59"), OPENED), "/ship 59 · Round the total", id="a-pull-request"
        ),
        pytest.param(
            (
                Prompt(text="open carts"),
                ToolUse(tool="ExitPlanMode", input='{"plan": "# Open carts anew\\n\\nx"}'),
            ),
            "Plan: Open carts anew",
            id="planned",
        ),
        pytest.param((Prompt(text="fix it"), FileRead(paths=("a",))), "fix it", id="asked-only"),
        pytest.param(
            (COMMIT, replace(COMMIT, hash="b" * 9, subject="Test")),
            "Round totals and 1 more",
            id="two-commits",
        ),
    ],
)
def test_the_title_is_what_was_asked_else_done(
    feed: Feed, bodies: tuple[AnyBody, ...], title: str
) -> None:
    item = summarize(feed(*bodies).session)
    assert item is not None
    assert item.title == title


def test_reads_and_delegations_were_investigated(feed: Feed) -> None:
    fields = summary(
        feed,
        FileRead(paths=("a.py",)),
        Search(query="half even"),
        Delegation(task="Find callers", agent="Explore"),
    )
    assert fields.investigated == ("Read a.py.")


def test_notes_were_learned_and_nothing_else(feed: Feed) -> None:
    fields = summary(
        feed,
        Prompt(text="Plan the session store"),
        Remember(content="Use Decimal", type="decision"),
        Compaction(summary="# Summary\n\nThe cart was the culprit in the end."),
        Reply(text="It failed because the rounding was wrong."),
    )
    assert fields.learned == "decision: Use Decimal."


def test_what_was_said_last_was_completed(feed: Feed) -> None:
    fields = summary(
        feed,
        Prompt(text="Round the total up"),
        RED,
        WRITE,
        replace(GREEN, command=RED.command),
        Reply(text="It rounds up now.\n\nMore below."),
    )
    assert fields.completed.endswith("cart.py (a). It rounds up now.")


def test_what_was_said_of_the_work_is_not_lost_behind_later_words(feed: Feed) -> None:
    asked, said = Prompt(text="Round the total up"), Reply(text="It rounds up now.")
    later = (Prompt(text="ok now it works for me"), Reply(text="Glad it works!"))
    assert "It rounds up now." in summary(feed, asked, WRITE, said, *later).completed


def test_a_reply_to_what_names_nothing_counts_once_something_was_done(feed: Feed) -> None:
    said = (Prompt(text="then mend it"), Reply(text="It rounds up now."))
    assert "It rounds up now." not in summary(feed, *said, RED).completed
    assert "It rounds up now." in summary(feed, *said, WRITE).completed


def test_commits_files_tests_and_customs_were_completed(feed: Feed) -> None:
    fields = summary(
        feed,
        WRITE,
        FileWrite(path="new.md", operation="create", content="# New\n"),
        FileWrite(path="old", operation="delete"),
        GREEN,
        COMMIT,
        Custom(name="deploy", text="staging"),
    )
    assert fields.completed == (
        "Committed Round totals (abcdef0123). Changed old, new.md (New) and api/cart.py (a)."
        " deploy: staging."
    )


def test_the_raw_payload_of_an_unknown_event_was_not_completed(feed: Feed) -> None:
    fields = summary(feed, WRITE, Custom(name="pi:turn_start", text='{"turnIndex":1}'))
    assert fields.completed == "Changed api/cart.py (a)."


@pytest.mark.parametrize(
    ("bodies", "completed"),
    [
        pytest.param((WRITE,), None, id="all of it"),
        pytest.param((FileWrite(path="api/cart.py", operation="delete"),), None, id="a deletion"),
        pytest.param((WRITE, COMMIT, WRITE), "(a).", id="since the last commit"),
    ],
)
def test_what_git_took_back_was_not_completed(
    feed: Feed, bodies: tuple[AnyBody, ...], completed: str | None
) -> None:
    fields = summary(feed, *bodies, Command(command="git restore api", exit_code=0))
    assert fields.completed.endswith(completed) if completed else not fields.completed


@pytest.mark.parametrize(
    ("parents", "completed"),
    [
        pytest.param(("1" * 40, "2" * 40), "Committed Merge branch 'x' (abcdef0123).", id="merge"),
        pytest.param(("1" * 40,), "", id="fast-forward"),
    ],
)
def test_what_a_pull_brought_was_not_completed_here(
    feed: Feed, parents: tuple[str, ...], completed: str
) -> None:
    merged = replace(COMMIT, action="merge", subject="Merge branch 'x'", parents=parents)
    assert summary(feed, Prompt(text="Update the main branch"), merged).completed == completed


def test_failing_checks_dirty_files_and_plans_are_next(feed: Feed) -> None:
    fields = summary(
        feed,
        RED,
        Command(command="frobnicate", exit_code=1),
        WRITE,
        ToolUse(tool="TodoWrite", input='{"todos": [{"content": "Add a test"}]}'),
    )
    assert fields.next_steps == (
        "pytest -q t.py failed at 2027-01-15 08:00 UTC:"
        ' 1 failed in 100 ms - "t.py::a - AssertionError: 2".'
        " No commit known at 2027-01-15 08:00 UTC: api/cart.py. Add a test."
    )


LINT = Command(command="ruff check .", exit_code=1, output="api/cart.py:3:1: F401 `os` unused\n")


@pytest.mark.parametrize(
    ("bodies", "is_next"),
    [
        pytest.param((WRITE, RED), True, id="a test"),
        pytest.param((WRITE, RED, COMMIT), False, id="committed though it was red"),
        pytest.param((WRITE, COMMIT, RED), True, id="red since the commit"),
        pytest.param((WRITE, LINT), True, id="a linter, of a file that was written"),
        pytest.param(
            (WRITE, LINT, Command(command="ruff check --fix .", exit_code=0)), False, id="mended"
        ),
    ],
)
def test_a_red_check_is_next_unless_it_was_accepted_or_is_old(
    feed: Feed, bodies: tuple[AnyBody, ...], is_next: bool
) -> None:
    assert (" failed at " in summary(feed, *bodies).next_steps) is is_next


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(f"It rounds up. {'Nobody knows why ' * 40}.", " It rounds up…", id="cut"),
        pytest.param(f"It rounds up {'and so on ' * 60}.", "", id="no end"),
    ],
)
def test_what_was_completed_ends_with_a_sentence(feed: Feed, reply: str, said: str) -> None:
    fields = summary(feed, Prompt(text="Round the total up"), WRITE, Reply(text=reply))
    assert fields.completed == f"Changed api/cart.py (a).{said}"


def test_of_many_things_completed_whole_ones_are_there(feed: Feed) -> None:
    commits = [
        replace(COMMIT, hash=f"{at}" * 40, subject=f"Round {f'number {at} ' * 18}")
        for at in range(5)
    ]
    fields = summary(
        feed, Prompt(text="Round the total up"), WRITE, *commits, Reply(text="`a` is up.")
    )
    assert fields.completed == "Changed api/cart.py (a). `a` is up."


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((SessionStart(), SessionEnd()), id="only-start-and-end"),
        pytest.param((Command(command="ls"),), id="only-looking"),
        pytest.param((Reply(text="Hello there, how are you today"),), id="only-a-reply"),
    ],
)
def test_a_session_without_substance_has_no_summary(
    feed: Feed, bodies: tuple[AnyBody, ...]
) -> None:
    assert summarize(feed(*bodies).session) is None


@pytest.mark.parametrize(
    ("end", "subtitle"),
    [
        ((), "claude-code session, open"),
        ((SessionEnd(),), "claude-code session, ended"),
        ((SessionEnd(reason="idle"),), "claude-code session, ended idle"),
    ],
)
def test_the_subtitle_says_whether_it_is_final(
    feed: Feed, end: tuple[AnyBody, ...], subtitle: str
) -> None:
    item = summarize(feed(WRITE, *end).session)
    assert item is not None
    assert item.subtitle == subtitle


def test_a_plan_that_was_begun_elsewhere_still_names_its_session(feed: Feed) -> None:
    plan = ToolUse(tool="ExitPlanMode", input='{"plan": "# Open carts anew\\n\\nx"}')
    session = feed(Prompt(text="open carts"), plan).session
    begun = todos.begun(session_state.decode(session.state))
    item = summarize(replace(session, state=session_state.encode(begun)))
    assert item
    assert item.title == "Plan: Open carts anew"


def test_a_summary_keeps_its_id_and_is_of_the_sessions_last_moment(feed: Feed) -> None:
    early, late = summarize(feed(WRITE).session), summarize(feed(WRITE, GREEN).session)
    assert isinstance(early, Item)
    assert isinstance(late, Item)
    assert early.id == late.id == item_id(1, "summary")
    assert early.uuid == late.uuid
    assert early.created_ms < late.created_ms == late.updated_ms


def test_a_commit_from_outside_takes_in_what_was_done(feed: Feed) -> None:
    session = feed(Prompt(text="fix it"), WRITE).session
    taken = session_commits.with_later_commit(
        session_state.decode(session.state), "Round totals (abcdef0123)", ("api/cart.py",)
    )
    item = summarize(replace(session, state=session_state.encode(taken)))
    assert item
    assert item.summary
    assert item.summary.completed.endswith("Taken in by later commits: Round totals (abcdef0123).")
    assert item.summary.next_steps == ""


def commit(*paths: str) -> Commit:
    return Commit(hash="abc", subject="x", files=tuple(FileChange(path=path) for path in paths))


@pytest.mark.parametrize(
    ("command", "dirty"),
    [
        pytest.param("git restore a.py", ("new.py", "src/b.py"), id="a file"),
        pytest.param("git checkout -- src", ("new.py", "a.py"), id="a folder"),
        pytest.param("git reset --hard", ("new.py",), id="all that git knows"),
        pytest.param("git clean -f", ("src/b.py", "a.py"), id="what it does not know"),
        pytest.param("git stash", ("new.py", "src/b.py", "a.py"), id="set aside is not done"),
    ],
)
def test_what_git_took_back_is_not_left(feed: Feed, command: str, dirty: tuple[str, ...]) -> None:
    new = FileWrite(path="new.py", operation="create", content="x")
    fed = feed(save("a.py"), save("src/b.py"), new, Command(command=command, exit_code=0))
    assert session_commits.open_files(decode(fed.session.state)) == dirty


@pytest.mark.parametrize("left", [(), ("a.py",), ("b.py",), ("a.py", "b.py")])
def test_what_git_says_at_the_end_holds_both_ways(feed: Feed, left: tuple[str, ...]) -> None:
    taken = Commit(hash="a" * 40, subject="Say it", files=(FileChange(path="a.py"),))
    fed = feed(save("a.py"), save("b.py"), taken, SessionEnd(uncommitted=left))
    assert sorted(session_commits.open_files(decode(fed.session.state))) == list(left)


def test_a_new_file_is_gits_once_it_is_committed(feed: Feed) -> None:
    new = FileWrite(path="new.py", operation="create", content="x")
    restore = Command(command="git restore .", exit_code=0)
    fed = feed(new, commit("new.py"), save("new.py"), restore)
    assert session_commits.open_files(decode(fed.session.state)) == ()
