"""The observations of file writes and reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from observer.core.events import AnyBody, Edit, FileWrite
from observer.core.value import SymbolChanges

Feed = Callable[..., Any]

TS = """\
export async function login(user) {
  return check(user)
}
"""


CASES: list[tuple[str, AnyBody, str, str]] = [
    (
        "edit",
        FileWrite(path="src/auth.ts", edits=(Edit(old=TS, new=TS.replace("check", "verify")),)),
        "Modified auth.ts: changed login",
        "edit src/auth.ts",
    ),
    (
        "rename-symbols",
        FileWrite(path="a.py", edits=(Edit(old="def a():\n    1\n", new="def b():\n    1\n"),)),
        "Modified a.py: added b, removed a",
        "edit a.py",
    ),
    (
        "create",
        FileWrite(path="src/auth.ts", operation="create", content=TS),
        "Created auth.ts: added login",
        "create src/auth.ts",
    ),
    (
        "create-empty",
        FileWrite(path="empty", operation="create"),
        "Created empty",
        "create empty",
    ),
    (
        "delete",
        FileWrite(path="old.py", operation="delete"),
        "Deleted old.py",
        "delete old.py",
    ),
    (
        "added-prose",
        FileWrite(path="NEWS.md", edits=(Edit(old="", new="## Fixed\n\n- Rounded once.\n"),)),
        "Modified NEWS.md: added Fixed",
        "edit NEWS.md",
    ),
]


@pytest.mark.parametrize(
    ("body", "title", "subtitle"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_file_is_reported(feed: Feed, body: AnyBody, title: str, subtitle: str) -> None:
    item = feed(body).last
    assert (item.type, item.title, item.subtitle) == ("file-write", title, subtitle)


def test_writes_of_which_nothing_is_known_are_counted(feed: Feed) -> None:
    write = FileWrite(path="a.py", operation="write")
    assert feed(write, write).last.subtitle == "write a.py, 2 edits"


def test_a_write_reports_what_became_of_every_symbol(feed: Feed) -> None:
    old = "class LegacyAuth:\n    pass\n\ndef login(user):\n    return user\n"
    new = "def verify_token(token):\n    return token\n\ndef login(user, token):\n    return user\n"
    item = feed(FileWrite(path="auth.py", edits=(Edit(old=old, new=new),))).last
    assert item.title == (
        "Modified auth.py: added verify_token, changed the signature of login, removed LegacyAuth"
    )


@pytest.mark.parametrize(
    ("only", "title"), [("comments", "changed the comments of f"), ("layout", "only layout")]
)
def test_what_leaves_the_code_as_it_was_is_reported_so(
    feed: Feed, only: Literal["layout", "comments"], title: str
) -> None:
    commented = ("f",) if only == "comments" else ()
    symbols = SymbolChanges(commented=commented, only=only)
    write = FileWrite(path="a.py", edits=(Edit(old="f()  # a", new="f()  # b"),), symbols=symbols)
    item = feed(write).last
    assert item.title == f"Modified a.py: {title}"


def test_what_stands_elsewhere_becomes_moved(feed: Feed) -> None:
    edits = (Edit(old="a", new="b"),)
    item = feed(FileWrite(path="a.py", edits=edits, symbols=SymbolChanges(moved=("f", "g")))).last
    assert item.title == "Modified a.py: moved f and g"


def test_a_renamed_symbol_is_reported_by_both_names(feed: Feed) -> None:
    old = "def calc(items):\n    return sum(item.price for item in items)\n"
    edit = Edit(old=old, new=old.replace("calc", "total_price"))
    item = feed(FileWrite(path="a.py", edits=(edit,))).last
    assert item.title == "Modified a.py: renamed calc to total_price"
    assert "renamed calc to total_price" in item.facts


def test_a_write_names_its_symbols_and_counts_as_facts(feed: Feed) -> None:
    edit = Edit(
        old="def a():\n    1\n\ndef c():\n    1\n", new="def b():\n    1\n\ndef c():\n    2\n"
    )
    assert feed(FileWrite(path="a.py", edits=(edit,))).last.facts == (
        "added b",
        "changed c",
        "removed a",
        "+2 -2 lines",
    )
