"""The memory does not record its own use: questions to it and notes make no observations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Edit,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Reply,
    Search,
    SessionEnd,
    ToolUse,
)
from observer.observations.drafts import QUESTION
from observer.observations.session_reducer import is_memory_use
from observer.observations.summary import summarize

Feed = Callable[..., Any]


@pytest.mark.parametrize(
    "typed",
    [
        "observer search zebra",
        "~/.observer/venv/bin/observer recall zebra",
        "observer today",
        "python -m observer search zebra",
        "python3.11 -X dev -m observer show 12",
        "uvx --from observer-memory observer search zebra",
        "uvx observer-memory@1.2 search zebra",
        "uv run observer why a.py:3",
        "cd /code/app && observer search zebra --json | jq '.hits[0]'",
        "observer search zebra | head -20; echo ---; observer timeline 12",
        "observer --json context",
        "observer search zebra 2>/dev/null | python3 -c 'import sys; print(sys.stdin.read())'",
        "echo 'Use tabs' | observer remember - --type rule",
        "id=$(observer remember --json zebra)",
        "bash -lc 'cd app; observer search zebra'",
        "sudo -u bob timeout 5s observer search zebra",
        "observer status",
    ],
)
def test_a_command_that_only_asks_the_memory_is_its_use(typed: str) -> None:
    assert is_memory_use(Command(command=typed))


@pytest.mark.parametrize(
    "typed",
    [
        "observer search zebra && make test",
        "pytest tests/observer -k search",
        "grep -rn 'observer search' README.md",
        "git commit -m 'Let observer search'",
        "make observer search",
        "kubectl logs observer",
        "observer --help",
        "cat observer/search/__init__.py",
        "",
    ],
)
def test_any_other_command_is_work(typed: str) -> None:
    assert not is_memory_use(Command(command=typed))


@pytest.mark.parametrize(
    "body",
    [
        Search(query="zebra", where="memory", tool="mcp__observer__search"),
        ToolUse(tool="observer_memory", input="remember"),
        Outcome(tool="@observer/memory", output="kept"),
        Command(command="observer search zebra"),
    ],
)
def test_the_use_of_the_memory_is_counted_and_makes_no_item(feed: Feed, body: Any) -> None:
    fed = feed(body)
    assert fed.types == []
    assert fed.session.events == 1


def test_a_question_that_was_reported_in_two_parts_makes_no_item(feed: Feed) -> None:
    asked = Intent(tool="shell", of=Command(command="observer search zebra"))
    assert feed(asked, Outcome(tool="shell", output="#1 zebra", exit_code=0)).types == []
    assert feed(asked, SessionEnd()).types == []


def test_a_search_of_the_memory_is_not_what_was_investigated(feed: Feed) -> None:
    fed = feed(
        Prompt(text="Fix the cart"), Search(query="zebra", where="memory"), Reply(text="Fixed it.")
    )
    assert "zebra" not in str(summarize(fed.session))


ASK = Prompt(text="What did we decide about retries?")
RECALL = Search(query="retries", where="memory")
SAVE = FileWrite(path="a.py", edits=(Edit(new="x"),))


@pytest.mark.parametrize(
    ("bodies", "category"),
    [
        pytest.param((RECALL,), QUESTION, id="asked"),
        pytest.param((), "", id="answered without"),
        pytest.param((RECALL, SAVE), "", id="and worked"),
        pytest.param((Command(command="git log"), RECALL), "", id="looked up elsewhere"),
    ],
)
def test_a_turn_that_only_asks_the_memory_is_a_question(
    feed: Feed, bodies: tuple[AnyBody, ...], category: str
) -> None:
    fed = feed(ASK, *bodies, Reply(text="On five retries."))
    (turn,) = [item for item in fed.items.values() if item.type == "turn"]
    assert turn.category == category
    summary = summarize(fed.session)
    assert summary
    assert summary.category == category
