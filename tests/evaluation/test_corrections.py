"""Which prompts correct what was done before them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.evaluation.trial.counting import is_correction


@pytest.mark.parametrize(
    "prompt",
    [
        "no, the other file",
        "No",
        "Nope. Use the pool that is there",
        "ok but that's wrong",
        "That is not what I asked for",
        "don't touch the generated files",
        "Don\u2019t mock the database",
        "stop, you are in the wrong folder",
        "revert that and start over",
        "are you sure? it printed 12",
        "I meant the second column",
        "I've reverted your changes, keep to the plan",
        "you forgot the tests",
        "the build still fails with the same error",
        "The button doesn't work in the sidebar",
        "I don't see the footer",
        "it should not be in the header but below",
        "<ide_opened_file>src/a.py</ide_opened_file>undo your last edit",
    ],
)
def test_what_says_that_something_is_wrong_is_a_correction(prompt: str) -> None:
    assert is_correction(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "commit this",
        "no problem, go on",
        "now add a footer",
        "don't forget the changelog",
        "Generate a commit message but don't commit it",
        "make the modal bigger and remove the button",
        "can you also sort them by name?",
        "never forget to run the linter",
        "stop hook feedback",
        "<system-reminder>This does not work here</system-reminder>add a test",
        f"write the report.\n{'x' * 240} it does not work",
        "notice how the others are named and do likewise",
        "nothing else, thanks",
    ],
)
def test_what_asks_for_more_is_none(prompt: str) -> None:
    assert not is_correction(prompt)


@given(st.text())
def test_any_text_can_be_asked_about(prompt: str) -> None:
    assert is_correction(prompt) in {True, False}
