"""What a person decided, was asked and chose, and how it is quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Command,
    FileWrite,
    Prompt,
    ToolUse,
)
from observer.core.model import Item, Link, item_id
from observer.observations.conversation import ANSWERED, CHOSEN, AnsweredQuestion, answers_in
from observer.observations.quoting import matter, names, opening, quoted

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


OPTIONS = [
    {"label": "Redis", "description": "Fast, one more service"},
    {"label": "Postgres", "description": "There already"},
]
ASKED = {
    "questions": [{"question": "Where do sessions go?", "header": "Store", "options": OPTIONS}]
}


def answers(given: Any, output: Any, tool: str = "AskUserQuestion") -> tuple[AnsweredQuestion, ...]:
    text = output if isinstance(output, str) else json.dumps(output)
    return answers_in(ToolUse(tool=tool, input=json.dumps(given), output=text))


@pytest.mark.parametrize(
    ("given", "output", "tool"),
    [
        (ASKED, {**ASKED, "answers": {"Where do sessions go?": "Postgres"}}, "AskUserQuestion"),
        (ASKED, {"answers": {"Store": ["Postgres"]}}, "AskUserQuestion"),
        (ASKED, 'Answered: "Where do sessions go?"="Postgres".', "AskUserQuestion"),
        (
            {"questions": [{"id": "s", "prompt": "Where do sessions go?", "options": OPTIONS}]},
            {"answers": [{"questionId": "s", "selectedOptions": [{"label": "Postgres"}]}]},
            "AskQuestion",
        ),
        (
            {"questions": [{"id": "s", "question": "Where do sessions go?", "options": OPTIONS}]},
            {"answers": {"s": {"answers": ["Postgres"]}}},
            "request_user_input",
        ),
        (
            {"question": "Where do sessions go?", "choices": ["Redis", "Postgres"]},
            "User responded: Postgres",
            "ask_user",
        ),
    ],
)  # fmt: skip
def test_an_answer_is_read_in_every_clients_spelling(given: Any, output: Any, tool: str) -> None:
    (fed,) = answers(given, output, tool)
    assert (fed.question, fed.chosen) == ("Where do sessions go?", ("Postgres",))
    assert [label for label, _ in fed.rejected] == ["Redis"]


def test_what_was_noted_beside_the_choice_is_kept() -> None:
    question = "Where do sessions go?"
    output = {
        "answers": {question: "Postgres"},
        "annotations": {question: {"notes": "but in a table of their own"}},
    }
    assert answers(ASKED, output)[0].chosen == ("Postgres", "but in a table of their own")


@pytest.mark.parametrize(
    "use",
    [
        ToolUse(tool="Skill", input=json.dumps(ASKED), output="Postgres"),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output="error", failed=True),
        ToolUse(tool="AskUserQuestion", input="not JSON", output="Postgres"),
        ToolUse(tool="AskUserQuestion", input='{"questions": [3, {"header": "x"}]}', output="{}"),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output='{"answers": 3}'),
        ToolUse(tool="AskUserQuestion", input=json.dumps(ASKED), output='{"answers": {"x": null}}'),
    ],
)
def test_nothing_is_read_where_nothing_was_answered(use: ToolUse) -> None:
    assert answers_in(use) == ()


def test_whole_paragraphs_are_kept_up_to_the_one_that_reaches_the_length() -> None:
    assert quoted("One two.\n\nThree four.\n\nFive.", 10) == "One two.\n\nThree four."
    assert quoted("One two.\n\nThree four.\n\nFive.", 5) == "One two."


def test_no_quotation_ends_after_a_colon() -> None:
    assert quoted("It is:\n\n- cut\n- red\n\nMore.", 6) == "It is:\n\n- cut\n- red"
    assert quoted("It is:", 3) == "It is:"


def test_of_code_and_tables_the_first_lines_stay() -> None:
    code = "\n".join(("```py", *(f"a{n} = {n}" for n in range(9)), "", "b = 1", "```"))
    assert quoted(f"See:\n\n{code}", 300) == "See:\n\n```py\na0 = 0\na1 = 1\na2 = 2\n…\n```"
    table = "\n".join(("| a | b |", "|---|---|", *(f"| {n} | {n} |" for n in range(9))))
    assert quoted(table, 300) == "| a | b |\n|---|---|\n| 0 | 0 |\n| 1 | 1 |\n…"


def test_a_code_block_that_does_not_end_is_kept() -> None:
    assert quoted("See:\n\n```py\nx = 1", 300).rstrip() == "See:\n\n```py\nx = 1"


def test_a_long_paragraph_is_cut_between_words() -> None:
    assert quoted("word " * 100, 20) == "word word word word word word word…"
    assert quoted("x" * 100, 20) == f"{'x' * 39}…"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Done\n\n---\n\nIt rounds up now.\n\nMore.", "It rounds up now."),
        ("```\nx\n```\n\n| a |\n\n━━━━\n\nIt is.", "It is."),
        ("# Only a heading", ""),
        ("All clean. The changes:\n\n- `cart.py` rounds up", "- `cart.py` rounds up"),
        ("All clean. The changes:\n- `cart.py` rounds up", "- `cart.py` rounds up"),
        ("The changes in `cart.py`:\n\n- up", "The changes in `cart.py`:\n- up"),
        ("**Totals:**\n- up", "**Totals:**\n- up"),
        ("All is done.\n\n**Totals** round up.", "**Totals** round up."),
        ("All is done.\n\n```\nx\n```", "All is done."),
        ("`total` is done.\n\n- up", "`total` is done."),
        ("", ""),
    ],
)
def test_a_text_opens_with_its_first_paragraph_of_words(text: str, said: str) -> None:
    assert opening(text) == said


@given(st.text(st.sampled_from("a :#|`~\n-.…"), max_size=120), st.integers(1, 60))
def test_what_is_quoted_stands_in_the_text(text: str, chars: int) -> None:
    lines = {line.rstrip() for line in text.split("\n")}
    *whole, last = quoted(text, chars).split("\n")
    assert all(line in lines or line == "…" for line in whole)
    assert len(last) <= 2 * chars


@pytest.mark.parametrize(
    ("text", "named"),
    [("All 12/12 tests pass in 0.4", False), ("see a/b", True), ("see v1.2", True)],
)
def test_a_fraction_of_numbers_names_nothing(text: str, named: bool) -> None:
    assert names(text) is named


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("All is well. `total` rounds. So.", "`total` rounds. So.", id="named"),
        pytest.param("## In `a`\n\n| `a` |\n\nDone.", "", id="heading and table"),
        pytest.param("1. `a` rounds", "1. `a` rounds", id="number of a list"),
        pytest.param(f"So {'it is ' * 30}. `a`", f"So {'it is ' * 30}. `a`", id="long"),
    ],
)
def test_the_matter_of_a_reply_begins_where_it_names_something(text: str, shown: str) -> None:
    assert matter(text) == shown
