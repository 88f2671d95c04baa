from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.tools.tool import MOST_REPEATED, Echoes, explained, ignored

STRETCH = "".join(chr(0x4E00 + number) for number in range(1_000))
"""A thousand characters, no two alike."""


def longest_common(answer: str, argument: str) -> int:
    """Return the length of the longest stretch that is in both."""
    longest = 0
    for at in range(len(answer)):
        while answer[at : at + longest + 1] in argument and at + longest < len(answer):
            longest += 1
    return longest


@given(
    before=st.text(max_size=120),
    at=st.integers(0, 700),
    size=st.integers(0, 1_000),
    after=st.text(max_size=120),
)
def test_no_answer_repeats_an_argument_at_length(
    before: str, at: int, size: int, after: str
) -> None:
    said = f"{before}{STRETCH[at : at + size]}{after}"
    answer = Echoes({"a": [{"b": STRETCH}]}).taken_out(said)
    assert longest_common(answer, STRETCH) <= MOST_REPEATED


@pytest.mark.parametrize("said", ["Nothing of it.", f"Two hundred: {STRETCH[:200]}"])
def test_what_repeats_no_more_than_that_stays(said: str) -> None:
    short = Echoes({"a": STRETCH[:200]})
    assert short.taken_out(said) == said


def test_json_stays_json() -> None:
    found: Any = {"rows": [{STRETCH: STRETCH, "id": 7}]}
    ((name, text), number) = Echoes({"a": STRETCH}).taken_out_of(found)["rows"][0].items()
    assert (len(name), len(text), number) == (51, 51, ("id", 7))


def test_an_error_is_short_whatever_was_sent() -> None:
    names = ["a", "b"] * 3_000
    error = explained(BadInput(f"no types {names}", hint=f"not {STRETCH}"), {"x": names})
    assert (len(error.message), len(error.hint)) == (1_000, 1_000)


def test_five_ignored_names_are_shown_and_each_is_cut() -> None:
    said = ignored(["x" * 1_000, *"abcdef"], ["title"])
    assert said == f"ignored: {'x' * 39}…, a, b, c, d and 2 more (it takes title)"


def test_json_as_text_repeats_no_argument_at_length() -> None:
    long, listed = "x" * 5_000, '[{"name":"y"}]'
    assert Echoes({"query": "y"}).taken_out_of_json(listed) == listed
    said = Echoes({"query": long}).taken_out_of_json(f'[{{"name":"{long}"}}]')
    assert said.startswith('[{"name":"xxx')
    assert len(said) < 500
