"""Open steps, and what closes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Commit,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    Reply,
    ToolUse,
)
from observer.observations import open_steps
from observer.observations.session_digest import unfinished

Feed = Callable[..., Any]

NEXT = Reply(text="Totals are rounded. Next: cover negative prices.")
STEP = "Next: cover negative prices."
WRITE = FileWrite(path="cart.py", edits=(Edit(new="x = 1\n"),), tool="Edit")
DONE = '{"todos": [{"content": "Cover negative prices", "status": "completed"}]}'


def commit(subject: str) -> Commit:
    return Commit(hash="abc", subject=subject, files=(FileChange(path="cart.py"),))


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((Prompt(text="thanks!"), Reply(text="You are welcome.")), id="thanks"),
        pytest.param(
            (Prompt(text="rename the cart"), WRITE, Reply(text="Renamed it.")), id="other"
        ),
        pytest.param((WRITE, commit("Round totals")), id="another-commit"),
        pytest.param((Prompt(text="/clear"),), id="slash-command"),
        pytest.param((Prompt(text="yes"), Reply(text="Shall I begin?")), id="agreed-not-begun"),
    ],
)
def test_a_step_stays_open(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert STEP in unfinished(feed(NEXT, *bodies).session).steps


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((Reply(text="Added tests that cover negative prices."),), id="said"),
        pytest.param((commit("Cover negative prices"),), id="committed"),
        pytest.param((ToolUse(tool="TodoWrite", input=DONE),), id="checked-off"),
        pytest.param((Prompt(text="yes, go on"), WRITE, Reply(text="All done.")), id="agreed"),
        pytest.param(
            (Prompt(text="cover the negative prices"), WRITE, Reply(text="All done.")), id="asked"
        ),
        pytest.param(
            (Reply(text="Remaining:\n- [x] negative prices\n- [ ] taxes"),), id="replaced"
        ),
    ],
)
def test_a_step_that_is_done_is_not_open(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert STEP not in unfinished(feed(NEXT, *bodies).session).steps


@pytest.mark.parametrize(
    "said", ["Card saved and pull request opened", "Branch pushed, draft filed"]
)
def test_what_a_reply_reports_as_done_is_no_step(feed: Feed, said: str) -> None:
    reported = Reply(text=f"{said}: https://example.test/pull/9")
    assert unfinished(feed(Prompt(text="open it"), WRITE, reported).session).steps == ()


def test_a_newer_word_on_the_same_takes_its_place(feed: Feed) -> None:
    later = Reply(text="Still open: cover negative prices and taxes.")
    fed = feed(NEXT, Reply(text="Next: translate the page."), later)
    assert unfinished(fed.session).steps == (
        "Next: translate the page.",
        "Still open: cover negative prices and taxes.",
    )


def test_work_after_work_changes_nothing(feed: Feed) -> None:
    fed = feed(NEXT, Prompt(text="go"), WRITE, WRITE)
    assert unfinished(fed.session).steps == (STEP,)


def test_of_many_steps_the_newest_are_kept() -> None:
    kept = open_steps.stated((), [f"build part {'x' * n}" for n in range(20)], is_whole=False)
    assert len(kept) == open_steps.MOST
    assert kept[-1].text.endswith("x" * 19)


@pytest.mark.parametrize(
    ("step", "text", "is_about"),
    [
        ("Cover negative prices", "Add coverage for negative price rounding", True),
        ("Wire the setting", "Wired the setting", True),
        ("Cover negative prices", "Prices are rounded", False),
        ("Do it next", "Do it next", False),
        ("Translate", "Translated everything", True),
    ],
)
def test_a_text_is_about_a_step_that_it_shares_most_words_with(
    step: str, text: str, is_about: bool
) -> None:
    assert open_steps.is_about(step, text) is is_about
