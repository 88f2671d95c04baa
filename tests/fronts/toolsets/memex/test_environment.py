"""What the environment of a client's server says of rules and flashbacks, and limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.client_variables import client_number, enter
from observer.memory.api import Memory
from observer.notes.values import Note


def keep_rule(memory: Memory, content: str) -> None:
    memory.notes.remember(Note(content=content, type="rule"), project="my-api", author="person")


@pytest.mark.parametrize(
    ("variables", "are_there"),
    [
        ({}, True),
        ({"MEMEX_INJECT_RULES": "0"}, False),
        ({"MEMEX_INJECT_RULES": "1"}, True),
        ({"MEMEX_RULES_MAX_CHARS": "10"}, False),
        ({"MEMEX_RULES_MAX_CHARS": "many"}, True),
    ],
)
def test_rules_are_in_the_instructions_as_the_environment_says(
    within: Callable[..., Any], memory: Memory, variables: dict[str, str], are_there: bool
) -> None:
    keep_rule(memory, "Never push to main.")
    instructions, _ = within(variables)
    assert ("Never push to main." in instructions) == are_there


@pytest.mark.parametrize(
    ("variables", "count"),
    [
        ({}, 0),
        ({"MEMEX_FLASHBACK_DAYS": "30"}, 3),
        ({"MEMEX_FLASHBACK_DAYS": "30", "MEMEX_FLASHBACK_LIMIT": "1"}, 1),
        ({"MEMEX_FLASHBACK_DAYS": "30", "MEMEX_FLASHBACK_DIST": "0"}, 0),
        ({"MEMEX_FLASHBACK_DAYS": "30", "MEMEX_FLASHBACK_LIMIT": "9"}, 4),
    ],
)
def test_flashbacks_are_those_that_the_environment_asks_for(
    within: Callable[..., Any], memory: Memory, clock: Any, variables: dict[str, str], count: int
) -> None:
    for number in range(4):
        memory.notes.remember(Note(content=f"cookies {number}", category="old"), project="other")
    clock.wait(31)
    note = {"title": "Sessions", "content": "cookies expire", "layer": "past", "folder": "new"}
    _, (saved,) = within(variables, ("save_note", note))
    assert len(saved.structured_content["flashbacks"]) == count


@pytest.mark.parametrize("limit", [-1, 0, 100, 1_000])
def test_any_limit_is_answered_up_to_100(
    within: Callable[..., Any], memory: Memory, limit: int
) -> None:
    for number in range(103):
        memory.notes.remember(Note(content=f"cookies {number}"), project="other")
    _, answers = within(
        {}, ("search_notes", {"query": "cookies", "limit": limit}), ("list_notes", {"limit": limit})
    )
    counts = [len(answer.structured_content["notes"]) for answer in answers]
    assert counts == [100 if limit > 1 else 1] * 2


@pytest.mark.parametrize(("text", "number"), [("", 5), ("x", 5), ("nan", 5), ("-1", 0), ("99", 9)])
def test_a_number_of_the_environment_is_within_bounds(text: str, number: float) -> None:
    enter([f"N={text}"])
    assert client_number("N", 5, most=9) == number
