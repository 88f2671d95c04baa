"""Text that is quoted: whole paragraphs, and code and tables by their first lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.observations.quoting import matter, names, opening, quoted


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
