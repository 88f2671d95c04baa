"""What became of the symbols of a text; the labelled edits of tests/data/changes say the most."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import SETS

from observer.code import compare_fragments
from observer.code.diff import MOST_RENAMED
from observer.core.value import SymbolChanges as Changes

BODY = "    total = sum(item.price for item in items)\n    return total\n"


def function(name: str) -> str:
    return f"def {name}(items):\n{BODY}\n\n"


@pytest.mark.measured
def test_the_labelled_edits_are_all_shown() -> None:
    cases = list(SETS["changes"](Path(__file__).parents[1] / "data/changes"))
    assert [(case.name, case.wrong, case.missed) for case in cases if case.wrong] == []


def test_two_that_say_the_same_are_not_taken_for_one_renamed() -> None:
    old, new = function("a") + function("b"), function("c") + function("d")
    assert compare_fragments([(old, new)], "python") == Changes(
        added=("c", "d"), removed=("a", "b")
    )


def test_what_says_little_is_not_taken_for_renamed() -> None:
    old, new = "def a():\n    pass\n", "def b():\n    pass\n"
    assert compare_fragments([(old, new)], "python") == Changes(added=("b",), removed=("a",))


def test_renames_are_looked_for_among_few_only() -> None:
    old = "".join(function(f"a{number}") for number in range(MOST_RENAMED + 1))
    assert compare_fragments([(old, function("b"))], "python").renamed == ()


def test_a_member_moves_with_its_renamed_class() -> None:
    old = f"class A:\n    def f(items):\n{BODY}\n"
    assert compare_fragments([(old, old.replace("A:", "B:"))], "python") == Changes(
        renamed=(("A", "B"),)
    )


@pytest.mark.parametrize("side", [0, 1], ids=["before", "after"])
def test_both_sides_are_read_by_lines_where_one_is_broken(side: int) -> None:
    sides = [function("a"), function("a")]
    sides[side] += "x = (\n"
    assert compare_fragments([(sides[0], sides[1])], "python") == Changes()


PARTS = st.text(st.sampled_from("def a(x):\n\t }{class#b'"), max_size=120)


@given(PARTS, PARTS, st.sampled_from(["python", "typescript", "go", "json", "yaml", "sql", ""]))
def test_undoing_an_edit_swaps_what_came_and_went(old: str, new: str, language: str) -> None:
    there, back = (
        compare_fragments([(old, new)], language),
        compare_fragments([(new, old)], language),
    )
    assert (set(there.added), set(there.removed)) == (set(back.removed), set(back.added))


@given(PARTS, st.sampled_from(["python", "typescript", "rust", "markdown", ""]))
def test_no_edit_changes_nothing(text: str, language: str) -> None:
    assert compare_fragments([(text, text)], language) == Changes()


def test_a_rename_leaves_out_whole_words_only() -> None:
    text = "def {0}(x):\n    {0}x = x_{0}\n    return {0}(x, {0}x, {0})\n"
    renamed = compare_fragments([(text.format("aa"), text.format("bb"))], "python").renamed
    again = text.replace("{0}x", "y").replace("x_{0}", "z")
    assert renamed == ()
    assert compare_fragments([(again.format("aa"), again.format("bb"))], "python").renamed == (
        ("aa", "bb"),
    )


def test_other_quotes_and_a_comma_at_the_end_change_nothing() -> None:
    old = "def names(a):\n    return call(a, 'one', 'two')\n"
    new = 'def names(a):\n    return call(\n        a,\n        "one",\n        "two",\n    )\n'
    assert compare_fragments([(old, new)], "python") == Changes(only="layout")
