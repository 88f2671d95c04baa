"""A turn: what was asked, what tools did, and the final reply, as one item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Delegation,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    Reply,
    SessionEnd,
)
from observer.core.model import Item, item_id
from observer.observations.conversation import ANSWERED, CHOSEN
from observer.observations.project_reducer import ProjectReducer
from observer.observations.turns import item_without

Feed = Callable[..., Any]

ASKED = Prompt(text="Round the total up")
WRITE = FileWrite(path="cart.py", edits=(Edit(old="def a():\n    1\n", new="def a():\n    2\n"),))
COMMIT = Commit(hash="abc", subject="Round totals", files=(FileChange(path="cart.py"),))
GREEN = Command(command="pytest -q", output="3 passed in 0.10s", exit_code=0)


LOG = Prompt(text="The cart is not shown\n" + "[10:21:03] GET /cart\n" * 3)
NOTICE = Prompt(text="<task-notification>\nTests ended\n</task-notification>")


def turns(fed: Any) -> list[Item]:
    return [item for item in fed.items.values() if item.type == "turn"]


def test_a_turn_is_what_was_asked_and_said_last(feed: Feed) -> None:
    (turn,) = turns(feed(ASKED, Reply(text="Looking."), Reply(text="It rounds up now.")))
    assert (turn.id, turn.title, turn.narrative) == (
        item_id(1),
        "Round the total up",
        "It rounds up now.",
    )
    assert turn.author == "person"


@pytest.mark.parametrize(
    ("after", "reply"),
    [
        pytest.param((Reply(text="Noted."),), "It rounds up now.", id="noted"),
        pytest.param((Reply(text="It rounds half even now."),), "It rounds half even now.", id="x"),
        pytest.param((WRITE, Reply(text="Mended.")), "Mended.", id="went on"),
        pytest.param((COMMIT, Reply(text="Committed.")), "Committed.", id="committed"),
    ],
)
def test_an_answer_to_a_notice_is_not_the_reply(
    feed: Feed, after: tuple[AnyBody, ...], reply: str
) -> None:
    (turn,) = turns(feed(ASKED, Reply(text="It rounds up now."), NOTICE, *after))
    assert turn.narrative == reply


def test_a_turn_counts_what_tools_did(feed: Feed) -> None:
    (turn,) = turns(feed(ASKED, WRITE, GREEN, COMMIT))
    assert turn.subtitle == "changed 1 file, 1 commit, 1 check"
    assert turn.facts == ("Committed: Round totals", "cart.py (a)", "pytest -q: 3 passed in 100 ms")
    assert turn.files_modified == ("cart.py",)


def test_a_commit_is_no_check(feed: Feed) -> None:
    (turn,) = turns(feed(ASKED, Command(command="git commit -qam 'Round totals'", exit_code=0)))
    assert (turn.subtitle, turn.facts) == ("", ())


def test_a_turn_has_what_a_report_says_below_its_first_heading(feed: Feed) -> None:
    said = "I know it all. Here it is.\n\n# Found\n\nIt is in cart.py.\n\nx"
    report = Delegation(agent="Explore", task="Find it", result=said)
    (turn,) = turns(feed(ASKED, report, report, SessionEnd()))
    assert turn.facts == ("Explore: It is in cart.py.",)


@pytest.mark.parametrize(
    ("bodies", "title"),
    [
        pytest.param((ASKED, Prompt(text="go on")), "Round the total up", id="goes on"),
        pytest.param((ASKED, Prompt(text="commit"), COMMIT), "Round totals", id="committed"),
        pytest.param((Prompt(text="q"), Reply(text="# Hi\n\nNo cart.")), "No cart.", id="answered"),
        pytest.param((Prompt(text="/review"),), "/review", id="nothing better"),
        pytest.param((LOG, Reply(text="Why? `total` is None.")), "`total` is None.", id="a paste"),
        pytest.param((LOG, Reply(text="No idea.")), "The cart is not shown", id="of no answer"),
    ],
)
def test_a_short_prompt_is_titled_by_what_it_led_to(
    feed: Feed, bodies: tuple[AnyBody, ...], title: str
) -> None:
    assert turns(feed(*bodies))[-1].title == title


def test_a_session_that_dies_in_the_middle_has_its_turn(feed: Feed) -> None:
    (turn,) = turns(feed(ASKED, WRITE))
    assert turn.title == "Round the total up"


GO_ON = Prompt(text="Another agent has worked on your files, please continue now")
NAMED = Prompt(text="Round the total in cart.py")
LIST = Prompt(text="commit this and update changelog.md")
LISTED = FileWrite(path="CHANGELOG.md", edits=(Edit(old="", new="- rounds"),))
PUSH = Command(command="git status && git push | tail -1", output="main -> main", exit_code=0)


@pytest.mark.parametrize(
    ("bodies", "kind"),
    [
        pytest.param((ASKED,), "observation", id="goes on"),
        pytest.param((ASKED, SessionEnd()), "record", id="broken off"),
        pytest.param((ASKED, Prompt(text="no, stop it")), "record", id="broken off by a prompt"),
        pytest.param((GO_ON, WRITE, SessionEnd()), "record", id="changed what nobody names"),
        pytest.param((NAMED, WRITE, SessionEnd()), "observation", id="changed"),
        pytest.param(
            (LIST, LISTED, Reply(text="`total` stands in it. " * 30)), "record", id="a change log"
        ),
        pytest.param((ASKED, Reply(text="Sure, all is well.")), "record", id="a nod"),
        pytest.param((ASKED, Reply(text="`total` rounds.")), "observation", id="an answer"),
        pytest.param((ASKED, COMMIT, Reply(text="Done.")), "record", id="committed"),
        pytest.param((ASKED, PUSH, Reply(text="Pushed.")), "record", id="pushed"),
        pytest.param((ASKED, PUSH, GREEN, Reply(text="Pushed.")), "record", id="checked"),
        pytest.param((ASKED, COMMIT, Reply(text="Done. " * 70)), "observation", id="explained"),
    ],
)
def test_a_turn_that_adds_nothing_is_a_record(
    feed: Feed, bodies: tuple[AnyBody, ...], kind: str
) -> None:
    assert turns(feed(*bodies))[0].kind == kind


def test_the_next_prompt_ends_a_turn(feed: Feed) -> None:
    first, second = turns(feed(ASKED, WRITE, Prompt(text="Now round taxes down too")))
    assert first.files_modified == ("cart.py",)
    assert second.files_modified == ()


def test_what_a_sub_agent_says_is_not_the_reply(feed: Feed, place: Callable[..., Any]) -> None:
    said = place(Reply(text="I found it."), 2, agent="Explore")
    (turn,) = turns(feed(ASKED, said, replace(WRITE, path="a.py"), Reply(text="Done so.")))
    assert turn.narrative == "Done so."


def test_a_script_that_writes_a_file_is_a_record_of_its_own(feed: Feed) -> None:
    script = "python3 - <<'E'\nopen('a.txt', 'w').write('x')\nE"
    fed = feed(ASKED, Command(command=script, exit_code=0))
    titles = [item.title for item in fed.items.values() if item.type == "command"]
    assert titles == ["Wrote a.txt (python3 script)"]


def test_a_question_that_was_answered_before_belongs_to_a_procedure() -> None:
    project = ProjectReducer(b"")
    asked = Item(
        id=4, uuid="u", kind="observation", type="decision", title="Go on with 3?", subtitle=CHOSEN
    )
    again = replace(asked, id=8, title="Go on with 4?")
    assert [project.of_procedure(one) for one in (asked, again)] == [(), (8, 4)]
    assert project.of_procedure(replace(again, subtitle=ANSWERED)) == ()


def test_a_question_with_the_same_options_is_asked_again() -> None:
    facts = ("chosen: Ask me more of them", "not chosen: Go on")
    asked = Item(id=4, uuid="u", kind="observation", type="decision", title="?", subtitle=CHOSEN)
    project = ProjectReducer(b"")
    project.of_procedure(replace(asked, title="More on carts?", facts=facts))
    assert project.of_procedure(replace(asked, id=8, title="Prices?", facts=facts)) == (8, 4)


def test_a_turn_that_did_nothing_of_what_is_taken_back_stays_as_it_is(feed: Feed) -> None:
    (turn,) = turns(feed(ASKED, WRITE))
    assert item_without(turn, files=["other.py"], commits=["Other"]) is turn
