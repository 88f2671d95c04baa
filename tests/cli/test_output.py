"""What people read fits their terminal, and is the same in a pipe but as wide as it is."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import click
import pytest

from observer.cli import output
from observer.core.text import size_text

WIDE = ("id", "client", "what for")
ROWS = [
    ("s1", "claude-code", "make the login page faster than it was"),
    ("s22", "codex", "\N{CJK UNIFIED IDEOGRAPH-4E16}" * 9),
]
Shown = Callable[..., list[str]]


class Terminal(io.StringIO):
    """What a person sees."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Print on a terminal of so many columns, 0 for a pipe, and return the lines."""

    def call(columns: int, show: Callable[[], None]) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        stream = Terminal() if columns else io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        show()
        return click.unstyle(stream.getvalue()).splitlines()

    return call


def test_a_line_is_folded_at_words_and_goes_on_below_its_value(shown: Shown) -> None:
    text = "  said      a commit that says in a whole sentence why it was made"
    assert shown(40, lambda: output.say(text)) == [
        "  said      a commit that says in a",
        "            whole sentence why it was",
        "            made",
    ]


def test_a_line_without_a_name_goes_on_indented(shown: Shown) -> None:
    text = "#12 turn · why does the cart total differ by a cent?"
    first, rest = shown(40, lambda: output.say(text))
    assert (first, rest) == ("#12 turn · why does the cart total", "    differ by a cent?")


@pytest.mark.parametrize("columns", [0, 200])
def test_what_has_room_is_printed_as_it_is(shown: Shown, columns: int) -> None:
    text = "why " * 40
    assert shown(columns, lambda: output.say(text)) == [text]


def test_what_is_exact_is_never_folded(shown: Shown) -> None:
    text = "why " * 40
    assert shown(40, lambda: output.say(text, is_exact=True)) == [text]


def test_a_table_is_aligned_and_ends_its_lines_without_blanks(shown: Shown) -> None:
    lines = shown(0, lambda: output.table(WIDE, ROWS))
    assert lines[1] == "s1   claude-code  make the login page faster than it was"
    assert {line.rstrip() == line for line in lines} == {True}


def test_a_narrow_table_leaves_columns_out_before_it_folds(shown: Shown) -> None:
    lines = shown(44, lambda: output.table(WIDE, ROWS, spare=("client",)))
    assert lines[:2] == ["id   what for", "s1   make the login page faster than it was"]
    folded = shown(30, lambda: output.table(WIDE, ROWS, spare=("client",)))
    assert folded[1:3] == ["s1   make the login page", "     faster than it was"]
    assert max(map(output._cells, folded)) <= 30


def test_a_table_folds_its_widest_column_while_that_has_room(shown: Shown) -> None:
    row = ("s1", "claude-code", "make the login page faster than it was before, " * 2)
    head, *_ = shown(72, lambda: output.table(WIDE, [row], spare=("client",)))
    assert head.split() == ["id", "client", "what", "for"]


def test_letters_without_blanks_between_them_are_folded_at_any(shown: Shown) -> None:
    text = "#1 " + "\N{CJK UNIFIED IDEOGRAPH-4E16}" * 20 + "\N{IDEOGRAPHIC FULL STOP}"
    lines = shown(31, lambda: output.say(text))
    assert [output._cells(line) for line in lines] == [27, 22]


@pytest.mark.parametrize(
    ("path", "folded"),
    [
        ("/home/ana/shop/src/cart.py", ["/home/ana/shop/", "src/cart.py"]),
        (
            "/home/\u4e16\u4e16\u4e16\u4e16/shop/src/x.py",
            ["/home/\u4e16\u4e16\u4e16\u4e16", "/shop/src/x.py"],
        ),
        ("a" * 20, ["a" * 16, "a" * 4]),
    ],
)
def test_a_path_in_a_table_is_folded_between_its_names(
    shown: Shown, path: str, folded: list[str]
) -> None:
    lines = shown(19, lambda: output.table(("a", "path"), [("x", path)]))
    assert [line[3:] for line in lines[1:]] == folded


def test_numbers_and_sizes_stand_to_the_right(shown: Shown) -> None:
    rows = [("a", "9", size_text(900)), ("b", "1,024", size_text(25_690_112))]
    assert shown(0, lambda: output.table(("part", "events", "size"), rows)) == [
        "part  events      size",
        "a          9     900 B",
        "b      1,024  24.5 MiB",
    ]
