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

Tell = Callable[..., Any]
Place = Callable[..., Any]

CAUSE = "The totals differ because `cart.py` rounds prices before the discount in app/sale.py."


def of_type(told: Any, kind: str) -> list[Item]:
    return [item for item in told.items.values() if item.type == kind]


def test_a_finding_names_its_prompt_and_its_files(tell: Tell) -> None:
    told = tell(
        Prompt(text="Why do the totals differ by a cent?"),
        FileWrite(path="shop/cart.py", edits=(Edit(new="x"),)),
        Reply(text=f"All done.\n\n{CAUSE} See ./shop/cart.py and README.md."),
    )
    (found,) = of_type(told, "finding")
    assert found.title == CAUSE
    assert found.subtitle == "asked: Why do the totals differ by a cent?"
    assert found.links == (Link(kind="answers", target=item_id(1)),)
    assert found.files_read == ("shop/cart.py", "app/sale.py")
    assert "totals" in found.concepts


def test_findings_of_one_reply_have_ids_of_their_own(tell: Tell) -> None:
    reply = f"{CAUSE}\n\nThe worker hangs because the lock is taken twice by `open`.\n"
    told = tell(Reply(text=reply))
    assert [item.id for item in of_type(told, "finding")] == [item_id(1), item_id(1, "arc")]
    assert len({item.uuid for item in told.items.values()}) == 2
    assert of_type(told, "finding")[0].links == ()


def test_what_was_said_in_this_session_is_not_said_again(tell: Tell) -> None:
    assert len(of_type(tell(Reply(text=CAUSE), Reply(text=CAUSE)), "finding")) == 1


def test_paths_are_told_from_the_root(tell: Tell) -> None:
    told = tell(Reply(text="The lock in /home/ana/shop/app/a.py is taken twice, so it hangs."))
    assert told.last.title == "The lock in app/a.py is taken twice, so it hangs."
    assert told.last.files_read == ("app/a.py",)


def test_where_no_root_is_known_paths_stay(tell: Tell, place: Place) -> None:
    told = tell(replace(place(Reply(text=CAUSE)), root=""))
    assert told.last.title == CAUSE


def test_consent_is_not_what_a_reply_answers(tell: Tell) -> None:
    told = tell(Prompt(text="Why do the totals differ?"), Prompt(text="yes, go"), Reply(text=CAUSE))
    assert of_type(told, "finding")[0].subtitle == "asked: Why do the totals differ?"


def test_what_is_remembered_is_not_found_twice(tell: Tell) -> None:
    told = tell(Prompt(text="What did we decide about the totals?"), Reply(text=CAUSE))
    assert of_type(told, "finding") == []


def test_a_sub_agents_result_is_told_by_its_passages(tell: Tell) -> None:
    result = f"Perfect! Now I have all I need.\n\n## Summary\n\n```py\nx = 1\n```\n{CAUSE}"
    told = tell(Delegation(task="Look into the totals", agent="Explore", result=result))
    assert [item.type for item in told.items.values()] == ["delegation"]
    assert "Perfect" not in told.last.narrative
    assert "x = 1" not in told.last.narrative
    assert CAUSE[:40] in told.last.narrative


def test_a_heading_stands_before_its_finding(tell: Tell) -> None:
    told = tell(
        Reply(text="## Root cause\n\nThe lock is taken twice, so one worker waits forever.")
    )
    assert told.last.title.startswith("Root cause: The lock")


def test_a_persons_decision_is_proposed_with_its_prompt(tell: Tell, place: Place) -> None:
    body = Prompt(text="Fix the cart. Never round prices twice.")
    told = tell(place(body, author="person"))
    prompt, decision = told.items.values()
    assert (decision.type, decision.status, decision.approval) == ("decision", "candidate", "")
    assert (decision.title, decision.author) == ("Never round prices twice.", "person")
    assert decision.links == (Link(kind="evidence", target=prompt.id),)
    assert of_type(tell(place(body, author="agent")), "decision") == []


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


def test_a_chosen_option_is_a_proposed_decision(tell: Tell) -> None:
    told = tell(
        Prompt(text="Plan the session store"), ask(("Where do sessions go?", "Redis", "Postgres"))
    )
    (decision,) = of_type(told, "decision")
    assert decision.title == "Where do sessions go?"
    assert decision.narrative == "Where do sessions go? Redis.\nNot chosen: Postgres."
    assert decision.facts == ("chosen: Redis: why", "not chosen: Postgres")
    assert (decision.status, decision.author) == ("candidate", "person")
    assert decision.links == (Link(kind="answers", target=item_id(1)),)
    assert of_type(told, "tool-use") == []


def test_each_of_four_choices_is_a_decision(tell: Tell) -> None:
    told = tell(
        Prompt(text="Plan it"), ask(*((f"Where goes {n}?", f"In {n}", "Out") for n in "abcd"))
    )
    decisions = of_type(told, "decision")
    assert len({item.id for item in decisions}) == len({item.uuid for item in decisions}) == 4
    assert all(item.id // 4 == 2 for item in decisions)


def test_leave_that_was_given_is_told_as_question_and_answer(tell: Tell) -> None:
    told = tell(ask(("May I delete tmp?", "Yes, delete it", "No")))
    assert (told.last.type, told.last.title) == ("tool-use", "May I delete tmp?")
    assert told.last.narrative.startswith("May I delete tmp? Yes, delete it.")


def test_a_question_that_nobody_answered_is_told_as_a_tool(tell: Tell) -> None:
    told = tell(replace(ask(("Where?", "Redis", "Postgres")), output="{}"))
    assert told.types == ["tool-use"]


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    "body",
    [
        Command(command="sed -i s/a/b/ f", failed=True, output="{}"),
        ToolUse(tool="ExitPlanMode", failed=True, output="{}"),
        FileWrite(path="f", error="{}"),
    ],
)
def test_what_a_person_says_on_refusing_is_a_proposed_decision(tell: Tell, body: AnyBody) -> None:
    error = f"{REFUSED} To tell you how to proceed, the user said:\nnever use sed here, use Edit"
    name = "error" if isinstance(body, FileWrite) else "output"
    told = tell(replace(body, **{name: error}))
    assert told.types == ["decision"]
    assert told.last.narrative == "never use sed here, use Edit"


@pytest.mark.parametrize("said", ["", "the user said:\nwhy?", "the user said:\nhm, it is late now"])
def test_a_refused_call_never_ran(tell: Tell, said: str) -> None:
    assert tell(Command(command="make", failed=True, output=f"{REFUSED} {said}")).types == []
