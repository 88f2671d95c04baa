"""What a person decided in a conversation: decisions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    FileWrite,
    Prompt,
    ToolUse,
)
from observer.core.model import Item, Link, item_id
from observer.observations.conversation import ANSWERED, CHOSEN

Feed = Callable[..., Any]


def of_type(fed: Any, kind: str) -> list[Item]:
    return [item for item in fed.items.values() if item.type == kind]


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


def test_a_chosen_option_is_a_decision(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Plan the session store"), ask(("Where do sessions go?", "Redis", "Postgres"))
    )
    (decision,) = of_type(fed, "decision")
    assert decision.title == "Where do sessions go?"
    assert decision.narrative == "Where do sessions go? Redis.\nNot chosen: Postgres."
    assert decision.facts == ("chosen: Redis: why", "not chosen: Postgres")
    assert decision.author == "person"
    assert decision.links == (Link(kind="answers", target=item_id(1)),)
    assert of_type(fed, "tool-use") == []


def test_each_of_four_choices_is_a_decision(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Plan the stores of it"),
        ask(*((f"Where goes {n}?", f"In {n}", "Out") for n in "abcd")),
    )
    decisions = of_type(fed, "decision")
    assert len({item.id for item in decisions}) == len({item.uuid for item in decisions}) == 4
    assert all(item.id // 4 == 2 for item in decisions)


def test_an_approved_plan_is_a_decision(feed: Feed) -> None:
    plan = json.dumps({"plan": "# Round half even\n\nTotals are cut.\n\n1. Use `quantize`"})
    fed = feed(ToolUse(tool="ExitPlanMode", input=plan, output="approved"))
    assert (fed.last.type, fed.last.title) == ("decision", "Plan: Round half even")
    assert fed.last.narrative.endswith("1. Use `quantize`")
    assert feed(ToolUse(tool="ExitPlanMode", input=plan, failed=True)).types == ["tool-use"]


def test_a_question_that_nobody_answered_becomes_a_tool(feed: Feed) -> None:
    fed = feed(replace(ask(("Where?", "Redis", "Postgres")), output="{}"))
    assert of_type(fed, "decision") == []


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    "body",
    [
        Command(command="sed -i s/a/b/ f", failed=True, output="{}"),
        ToolUse(tool="ExitPlanMode", failed=True, output="{}"),
        FileWrite(path="f", error="{}"),
    ],
)
def test_what_a_person_says_on_refusing_is_a_decision(feed: Feed, body: AnyBody) -> None:
    error = f"{REFUSED} To tell you how to proceed, the user said:\nnever use sed here, use Edit"
    name = "error" if isinstance(body, FileWrite) else "output"
    fed = feed(replace(body, **{name: error}))
    assert fed.types == ["decision"]
    assert fed.last.narrative == "never use sed here, use Edit"


@pytest.mark.parametrize("said", ["", "the user said:\nwhy?"])
def test_a_refused_call_never_ran(feed: Feed, said: str) -> None:
    assert feed(Command(command="make", failed=True, output=f"{REFUSED} {said}")).types == []


@pytest.mark.parametrize(
    ("said", "subtitle", "kind"),
    [
        pytest.param("Redis", CHOSEN, "observation", id="an option"),
        pytest.param("next one please", CHOSEN, "observation", id="too short to say what"),
        pytest.param("Redis, but with a prefix", ANSWERED, "observation", id="own words"),
        pytest.param("204 811", CHOSEN, "record", id="a passcode"),
    ],
)
def test_an_answer_says_whose_words_it_is(feed: Feed, said: str, subtitle: str, kind: str) -> None:
    asked = '{"questions": [{"question": "Which?", "options": ["Redis", "Postgres"]}]}'
    output = f'{{"answers": {{"Which?": "{said}"}}}}'
    made = feed(ToolUse(tool="AskUserQuestion", input=asked, output=output)).last
    assert (made.subtitle, made.kind) == (subtitle, kind)
