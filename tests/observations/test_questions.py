"""What a person was asked by a tool, and what was chosen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from observer.core.events import ToolUse
from observer.observations.conversation import AnsweredQuestion, answers_in

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
