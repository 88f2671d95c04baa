"""What became of the symbols of a text, by an edit and by whole texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import SETS

from observer.code.edits import (
    MOST_RENAMED,
    ChangeSummary,
    compare_fragments,
    merge_changes,
    parameters_changed,
    summarize_write,
)
from observer.code.edits import summarize_edits as difference_of_edits
from observer.core.events import Edit, FileWrite
from observer.core.value import SymbolChanges
from observer.core.value import SymbolChanges as Changes

CART = """\
class Cart:
    def total(self):
        return round(sum(self.items), 2)

    def clear(self):
        self.items = []
"""


def difference(old: str, new: str, language: str) -> ChangeSummary:
    return difference_of_edits([Edit(old=old, new=new)], language)


CASES = [
    ("body", "python", CART, CART.replace("round(", "money("), ((), ("Cart.total",), ()), (1, 1)),
    ("new-method", "python", CART, CART + "    def add(self, x):\n        self.items.append(x)\n",
     (("Cart.add",), (), ()), (2, 0)),
    ("removed", "python", CART, CART[: CART.index("    def clear")],
     ((), (), ("Cart.clear",)), (0, 2)),
    ("closing-brace", "typescript", "function f() {\n  a()\n}\n", "function f() {\n  a()\n}}\n",
     ((), (), ()), (1, 1)),
    ("section", "markdown", "# A\n\n## B\nold\n\n## C\nx\n", "# A\n\n## B\nnew\n\n## C\nx\n",
     ((), ("B",), ()), (1, 1)),
    ("moved", "python", "def a():\n    x\ndef b():\n    y\n", "def b():\n    y\ndef a():\n    x\n",
     ((), (), ()), (0, 0)),
    ("same", "python", CART, CART, ((), (), ()), (0, 0)),
    ("insertion", "python", "", "x = 1\n", ((), (), ()), (1, 0)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_difference_names_its_symbols_and_counts_its_lines(case: tuple[Any, ...]) -> None:
    _, language, old, new, symbols, lines = case
    change = difference(old, new, language)
    assert (change.new, change.changed + change.resigned, change.gone) == symbols

    assert (change.added, change.removed) == lines


def test_a_write_changes_what_it_shows() -> None:
    change = summarize_write(FileWrite(path="a.py", operation="create", content=CART))
    assert (change.added, change.new) == (6, ("Cart", "Cart.total", "Cart.clear"))
    assert summarize_write(FileWrite(path="a.py")) == ChangeSummary()
    edits = (Edit(old="a", new="b"), Edit(new="c\nd"))
    change = summarize_write(FileWrite(path="a.py", edits=edits))
    assert (change.added, change.removed) == (3, 1)
    symbols = SymbolChanges(changed=("Cart.total",))
    write = FileWrite(path="a.py", edits=(Edit(old="x", new="y"),), symbols=symbols)
    change = summarize_write(write)
    assert (change.changed, change.added) == (("Cart.total",), 1)
    change = difference("a\nround(x,2)\nb", "a\nquantize(x)\nb", "python")
    assert change.became == "`round(x,2)` became `quantize(x)`"


@pytest.mark.parametrize(
    ("first", "then", "symbols"),
    [
        ({"new": ("f",)}, {"changed": ("f",)}, (("f",), (), ())),
        ({"new": ("f",)}, {"gone": ("f",)}, ((), (), ())),
        ({"gone": ("f",)}, {"new": ("f",)}, ((), ("f",), ())),
        ({"changed": ("f",)}, {"gone": ("f",)}, ((), (), ("f",))),
        ({"changed": ("f",)}, {"changed": ("f", "g")}, ((), ("f", "g"), ())),
    ],
)
def test_two_changes_tell_their_sum(
    first: dict[str, Any], then: dict[str, Any], symbols: tuple[tuple[str, ...], ...]
) -> None:
    both = merge_changes(ChangeSummary(**first), ChangeSummary(**then))
    assert (both.new, both.changed, both.gone) == symbols


def test_the_sum_knows_a_symbol_by_its_last_name_and_what_has_other_comments() -> None:
    both = merge_changes(
        ChangeSummary(new=("f", "g")), ChangeSummary(renamed=(("f", "h"), ("old", "new")))
    )
    assert (both.new, both.renamed) == (("h", "g"), (("old", "new"),))
    first = ChangeSummary(commented=("f", "g"), only="comments")
    both = merge_changes(first, ChangeSummary(commented=("h",), only="comments"))
    assert (both.commented, both.only) == (("f", "g", "h"), "comments")
    both = merge_changes(first, ChangeSummary(changed=("f", "m")))
    assert (both.changed, both.commented, both.only) == (("f", "m"), ("g",), "")


BODY = "    total = sum(item.price for item in items)\n    return total\n"


def function(name: str) -> str:
    return f"def {name}(items):\n{BODY}\n\n"


@pytest.mark.measured
def test_the_labelled_edits_are_all_shown() -> None:
    cases = list(SETS["changes"](Path(__file__).parents[1] / "data/changes"))
    assert [
        (case.name, case.wrong, case.missed) for case in cases if case.wrong or case.missed
    ] == []


def test_what_is_renamed_says_the_same_and_enough_and_is_alone() -> None:
    old, new = function("a") + function("b"), function("c") + function("d")
    assert compare_fragments([(old, new)], "python") == Changes(
        added=("c", "d"), removed=("a", "b")
    )
    old, new = "def a():\n    pass\n", "def b():\n    pass\n"
    assert compare_fragments([(old, new)], "python") == Changes(added=("b",), removed=("a",))
    old = "".join(function(f"a{number}") for number in range(MOST_RENAMED + 1))
    assert compare_fragments([(old, function("b"))], "python").renamed == ()
    old = f"class A:\n    def f(items):\n{BODY}\n"
    assert compare_fragments([(old, old.replace("A:", "B:"))], "python") == Changes(
        renamed=(("A", "B"),)
    )
    text = "def {0}(x):\n    {0}x = x_{0}\n    return {0}(x, {0}x, {0})\n"
    renamed = compare_fragments([(text.format("aa"), text.format("bb"))], "python").renamed
    again = text.replace("{0}x", "y").replace("x_{0}", "z")
    assert renamed == ()
    assert compare_fragments([(again.format("aa"), again.format("bb"))], "python").renamed == (
        ("aa", "bb"),
    )
    old = "def names(a):\n    return call(a, 'one', 'two')\n"
    new = 'def names(a):\n    return call(\n        a,\n        "one",\n        "two",\n    )\n'
    assert compare_fragments([(old, new)], "python") == Changes(only="layout")


@pytest.mark.parametrize("side", [0, 1], ids=["before", "after"])
def test_both_sides_are_read_by_lines_where_one_is_broken(side: int) -> None:
    sides = [function("a"), function("a")]
    sides[side] += "x = (\n"
    assert compare_fragments([(sides[0], sides[1])], "python") == Changes()


PARTS = st.text(st.sampled_from("def a(x):\n\t }{class#b'"), max_size=120)


@given(PARTS, PARTS, st.sampled_from(["python", "typescript", "go", "json", "yaml", "sql", ""]))
def test_undoing_an_edit_swaps_what_came_and_went(old: str, new: str, language: str) -> None:
    there, back = difference(old, new, language), difference(new, old, language)
    assert (set(there.new), set(there.gone)) == (set(back.gone), set(back.new))
    assert (there.added, there.removed) == (back.removed, back.added)
    assert there.added <= new.count("\n") + 1
    assert difference(old, old, language) == ChangeSummary()


@pytest.mark.parametrize(
    ("ending", "old", "new", "gained", "lost"),
    [
        ("py", "def f(a: int):\n 1\n", "def f(a, b: int = g(1, 2)) -> d[x, y]:\n 1\n", ["b"], []),
        ("go", "func (s *T) F(a int) {\n}\n", "func (s *T) F(a int, b string) {\n}\n", ["b string"], []),  # noqa: E501
        ("java", "int f(Map<A, B> a, int b) {\n}\n", "int f(Map<A, B> a, C c) {\n}\n", ["C c"], ["int b"]),  # noqa: E501
        ("ts", "function f() {\n}\n", "function f(g: (a: A) => void) {\n}\n", ["g"], []),
        ("tsx", "function f({ a, }: P) {\n}\n", "function f({ a, b = {x: 1}, }: P) {\n}\n", ["b"], []),  # noqa: E501
        ("rs", "fn f(a: u32) -> u32 {\n1\n}\n", "fn f() -> u32 {\n1\n}\n", [], ["a"]),
    ],
)  # fmt: skip
def test_parameters_that_came_and_went_are_known(
    ending: str, old: str, new: str, gained: list[str], lost: list[str]
) -> None:
    write = FileWrite(path=f"a.{ending}", edits=(Edit(old, new),))
    (found,) = parameters_changed(write).values()
    assert found == (gained, lost)


@pytest.mark.parametrize(
    ("ending", "old", "new"),
    [
        ("py", "x = f(1)\n", "x = f(1, 2)\n"),
        ("py", "class A:\n    x = 1\n", "class A(B):\n    x = 1\n"),
        ("ts", "const f = a => {\n1\n}\n", "const f = async a => {\n1\n}\n"),
    ],
)
def test_calls_bases_and_modifiers_are_no_parameters(ending: str, old: str, new: str) -> None:
    assert parameters_changed(FileWrite(path=f"a.{ending}", edits=(Edit(old, new),))) == {}
