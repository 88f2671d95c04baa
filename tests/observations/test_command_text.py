"""The observations of commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import AnyBody, Command, ToolUse

Feed = Callable[..., Any]

CASES: list[tuple[str, AnyBody, tuple[str, str, str]]] = [
    (
        "command",
        Command(
            command="cd api && pytest -q",
            output="FAILED t.py::a - AssertionError: 2\n1 failed, 3 passed in 0.20s",
            exit_code=1,
            description="Run the tests.",
        ),
        ("command", "pytest -q: a failed", "t.py::a - AssertionError: 2"),
    ),
    (
        "command-failed-without-code",
        Command(command="deploy", failed=True, duration_ms=2500, interrupted=True),
        ("command", "deploy", ""),
    ),
    (
        "command-failed",
        Command(command="deploy", output="fatal: no host", failed=True),
        ("command", "deploy: fatal: no host", ""),
    ),
]


@pytest.mark.parametrize(
    ("body", "fed"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_command_is_reported(feed: Feed, body: AnyBody, fed: tuple[str, ...]) -> None:
    item = feed(body).last
    assert (item.type, item.title, item.subtitle) == fed


@pytest.mark.parametrize(
    ("body", "category"),
    [
        pytest.param(Command(command="make", exit_code=2), "failed", id="code"),
        pytest.param(Command(command="make", failed=True), "failed", id="said"),
        pytest.param(Command(command="pytest", output="2 failed in 0.1s"), "failed", id="output"),
        pytest.param(Command(command="make", exit_code=0), "", id="passed"),
        pytest.param(Command(command="make"), "", id="unknown"),
        pytest.param(ToolUse(tool="deploy", input="{}", failed=True), "failed", id="tool"),
        pytest.param(ToolUse(tool="deploy", input="{}"), "", id="tool-passed"),
    ],
)
def test_what_failed_is_of_a_category_of_its_own(feed: Feed, body: AnyBody, category: str) -> None:
    assert feed(body).last.category == category


def test_a_command_keeps_its_words_and_results_as_facts(feed: Feed) -> None:
    body = Command(
        command="CI=1 pytest", output="FAILED t.py::a - no\n1 failed in 0.10s", exit_code=1
    )
    assert feed(body).last.facts == (
        "$ CI=1 pytest",
        "exit code 1",
        "pytest: 1 failed in 100 ms",
        "failing: t.py::a",
        "error: t.py::a - no",
    )


def test_a_title_names_the_command_as_it_works_here(feed: Feed) -> None:
    assert feed(Command(command="CI=1 uv run pytest -q 2>&1 | tail -1")).last.title == (
        "uv run pytest -q"
    )


def test_each_of_several_tools_is_named_once(feed: Feed) -> None:
    output = "All checks passed!\n2 passed in 0.10s"
    fed = feed(Command(command="ruff check && pytest", output=output)).last
    assert fed.facts[1] == "ruff: all checks passed; pytest: 2 passed in 100 ms"


def test_a_place_inside_the_project_is_reported_relative_to_it(feed: Feed) -> None:
    text = 'Traceback (most recent call last):\n  File "/home/ana/shop/a.py", line 3\nKeyError: 1'
    fed = feed(Command(command="./a.py", output=text)).last
    assert fed.facts[-1] == "error: a.py:3: KeyError: 1"


def test_a_title_counts_the_failing_tests_that_it_does_not_name(feed: Feed) -> None:
    text = "".join(f"FAILED t.py::test_{name} - no\n" for name in "abcd") + "4 failed in 0.10s"
    fed = feed(Command(command="pytest", output=text)).last
    assert fed.title == "pytest: test_a, test_b and 2 more failed"


def test_an_exit_code_that_the_output_belies_is_not_shown(feed: Feed) -> None:
    fed = feed(Command(command="pytest", output="1 failed in 0.10s", exit_code=0)).last
    assert "exit" not in " ".join((fed.narrative, *fed.facts))


def test_a_command_in_another_folder_says_where(feed: Feed, place: Callable[..., Any]) -> None:
    fed = feed(place(Command(command="make"), cwd="/home/ana/shop/api"))
    assert fed.last.subtitle == "in api"
