"""The items that a conversation gives: findings, and decisions that are proposed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    Delegation,
    Edit,
    FileWrite,
    Prompt,
    Reply,
    ToolUse,
)
from observer.core.model import Item, Link, item_id

Feed = Callable[..., Any]
Place = Callable[..., Any]

CAUSE = "The totals differ because `cart.py` rounds prices before the discount in app/sale.py."


def of_type(fed: Any, kind: str) -> list[Item]:
    return [item for item in fed.items.values() if item.type == kind]


def test_a_finding_names_its_prompt_and_its_files(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Why do the totals differ by a cent?"),
        FileWrite(path="shop/cart.py", edits=(Edit(new="x"),)),
        Reply(text=f"All done.\n\n{CAUSE} See ./shop/cart.py and README.md."),
    )
    (found,) = of_type(fed, "finding")
    assert found.title == CAUSE
    assert found.subtitle == "asked: Why do the totals differ by a cent?"
    assert found.links == (Link(kind="answers", target=item_id(1)),)
    assert found.files_read == ("shop/cart.py", "app/sale.py")
    assert "totals" in found.concepts


def test_findings_of_one_reply_have_ids_of_their_own(feed: Feed) -> None:
    reply = f"{CAUSE}\n\nThe worker hangs because the lock is taken twice by `open`.\n"
    fed = feed(Reply(text=reply))
    assert [item.id for item in of_type(fed, "finding")] == [item_id(1), item_id(1, "arc")]
    assert len({item.uuid for item in fed.items.values()}) == 2
    assert of_type(fed, "finding")[0].links == ()


def test_what_was_said_in_this_session_is_not_said_again(feed: Feed) -> None:
    assert len(of_type(feed(Reply(text=CAUSE), Reply(text=CAUSE)), "finding")) == 1


def test_paths_are_reported_from_the_root(feed: Feed) -> None:
    fed = feed(Reply(text="The lock in /home/ana/shop/app/a.py is taken twice, so it hangs."))
    assert fed.last.title == "The lock in app/a.py is taken twice, so it hangs."
    assert fed.last.files_read == ("app/a.py",)


def test_where_no_root_is_known_paths_stay(feed: Feed, place: Place) -> None:
    fed = feed(replace(place(Reply(text=CAUSE)), root=""))
    assert fed.last.title == CAUSE


def test_consent_is_not_what_a_reply_answers(feed: Feed) -> None:
    fed = feed(Prompt(text="Why do the totals differ?"), Prompt(text="yes, go"), Reply(text=CAUSE))
    assert of_type(fed, "finding")[0].subtitle == "asked: Why do the totals differ?"


def test_what_is_remembered_is_not_found_twice(feed: Feed) -> None:
    fed = feed(Prompt(text="What did we decide about the totals?"), Reply(text=CAUSE))
    assert of_type(fed, "finding") == []


def test_a_sub_agents_result_is_reported_by_its_passages(feed: Feed) -> None:
    result = f"Perfect! Now I have all I need.\n\n## Summary\n\n```py\nx = 1\n```\n{CAUSE}"
    fed = feed(Delegation(task="Look into the totals", agent="Explore", result=result))
    assert [item.type for item in fed.items.values()] == ["delegation"]
    assert "Perfect" not in fed.last.narrative
    assert "x = 1" not in fed.last.narrative
    assert CAUSE[:40] in fed.last.narrative


def test_a_heading_stands_before_its_finding(feed: Feed) -> None:
    fed = feed(Reply(text="## Root cause\n\nThe lock is taken twice, so one worker waits forever."))
    assert fed.last.title.startswith("Root cause: The lock")


def test_a_persons_decision_is_proposed_with_its_prompt(feed: Feed, place: Place) -> None:
    body = Prompt(text="Fix the cart. Never round prices twice.")
    fed = feed(place(body, author="person"))
    prompt, decision = fed.items.values()
    assert (decision.type, decision.status, decision.approval) == ("decision", "candidate", "")
    assert (decision.title, decision.author) == ("Never round prices twice.", "person")
    assert decision.links == (Link(kind="evidence", target=prompt.id),)
    assert of_type(feed(place(body, author="agent")), "decision") == []


def ask(*questions: tuple[str, str, str]) -> ToolUse:
    """A question tool with (question, chosen, other option) each."""
    given = {
        "questions": [
            {"question": q, "options": [{"label": a, "description": "why"}, {"label": o}]}
            for q, a, o in questions
        ]
    }
    output = json.dumps({"answers": {q: a for q, a, _ in questions}})
    return ToolUse(tool="AskUserQuestion", input=json.dumps(given), output=output)


def test_a_chosen_option_is_a_proposed_decision(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Plan the session store"), ask(("Where do sessions go?", "Redis", "Postgres"))
    )
    (decision,) = of_type(fed, "decision")
    assert decision.title == "Where do sessions go?"
    assert decision.narrative == "Where do sessions go? Redis.\nNot chosen: Postgres."
    assert decision.facts == ("chosen: Redis: why", "not chosen: Postgres")
    assert (decision.status, decision.author) == ("candidate", "person")
    assert decision.links == (Link(kind="answers", target=item_id(1)),)
    assert of_type(fed, "tool-use") == []


def test_each_of_four_choices_is_a_decision(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Plan it"), ask(*((f"Where goes {n}?", f"In {n}", "Out") for n in "abcd"))
    )
    decisions = of_type(fed, "decision")
    assert len({item.id for item in decisions}) == len({item.uuid for item in decisions}) == 4
    assert all(item.id // 4 == 2 for item in decisions)


def test_leave_that_was_given_becomes_question_and_answer(feed: Feed) -> None:
    fed = feed(ask(("May I delete tmp?", "Yes, delete it", "No")))
    assert (fed.last.type, fed.last.title) == ("tool-use", "May I delete tmp?")
    assert fed.last.narrative.startswith("May I delete tmp? Yes, delete it.")


def test_a_question_that_nobody_answered_becomes_a_tool(feed: Feed) -> None:
    fed = feed(replace(ask(("Where?", "Redis", "Postgres")), output="{}"))
    assert fed.types == ["tool-use"]


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    "body",
    [
        Command(command="sed -i s/a/b/ f", failed=True, output="{}"),
        ToolUse(tool="ExitPlanMode", failed=True, output="{}"),
        FileWrite(path="f", error="{}"),
    ],
)
def test_what_a_person_says_on_refusing_is_a_proposed_decision(feed: Feed, body: AnyBody) -> None:
    error = f"{REFUSED} To tell you how to proceed, the user said:\nnever use sed here, use Edit"
    name = "error" if isinstance(body, FileWrite) else "output"
    fed = feed(replace(body, **{name: error}))
    assert fed.types == ["decision"]
    assert fed.last.narrative == "never use sed here, use Edit"


@pytest.mark.parametrize("said", ["", "the user said:\nwhy?", "the user said:\nhm, it is late now"])
def test_a_refused_call_never_ran(feed: Feed, said: str) -> None:
    assert feed(Command(command="make", failed=True, output=f"{REFUSED} {said}")).types == []
