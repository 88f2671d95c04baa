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


CASES: list[tuple[str, AnyBody, tuple[str, str, str, str]]] = [
    (
        "edit",
        FileWrite(path="src/auth.ts", edits=(Edit(old=TS, new=TS.replace("check", "verify")),)),
        (
            "file-write",
            "Modified auth.ts: changed login",
            "edit src/auth.ts",
            (
                "Modified src/auth.ts in login: 1 line added, 1 removed."
                " `return check(user)` became `return verify(user)`."
                " Brings in verify. Drops check."
            ),
        ),
    ),
    (
        "small-edit",
        FileWrite(path="a.txt", edits=(Edit(old="x = 1", new="x = 2"),)),
        (
            "file-write",
            "Modified a.txt",
            "edit a.txt",
            "Modified a.txt: 1 line added, 1 removed. `x = 1` became `x = 2`.",
        ),
    ),
    (
        "rename-symbols",
        FileWrite(path="a.py", edits=(Edit(old="def a():\n    1\n", new="def b():\n    1\n"),)),
        (
            "file-write",
            "Modified a.py: added b, removed a",
            "edit a.py",
            (
                "Modified a.py: 1 line added, 1 removed. `def a():` became `def b():`."
                " It adds b and removes a."
            ),
        ),
    ),
    (
        "create",
        FileWrite(path="src/auth.ts", operation="create", content=TS),
        (
            "file-write",
            "Created auth.ts: added login",
            "create src/auth.ts",
            "Created src/auth.ts: 3 lines. It adds login. Brings in check.",
        ),
    ),
    (
        "create-empty",
        FileWrite(path="empty", operation="create"),
        ("file-write", "Created empty", "create empty", "Created empty."),
    ),
    (
        "remove-lines",
        FileWrite(path="a.txt", edits=(Edit(old="one\ntwo\n"),)),
        (
            "file-write",
            "Modified a.txt",
            "edit a.txt",
            "Modified a.txt: 2 lines removed. Gone: `one two`.",
        ),
    ),
    (
        "delete",
        FileWrite(path="old.py", operation="delete"),
        ("file-write", "Deleted old.py", "delete old.py", "Deleted old.py."),
    ),
    (
        "failed-write",
        FileWrite(path="a.py", error="Permission denied"),
        (
            "file-write",
            "Failed to edit a.py",
            "edit a.py, failed",
            "Could not edit a.py: Permission denied",
        ),
    ),
    (
        "added-lines",
        FileWrite(path="a.txt", edits=(Edit(old="one\n", new="one\ntwo\n  three\n"),)),
        (
            "file-write",
            "Modified a.txt",
            "edit a.txt",
            "Modified a.txt: 2 lines added. New: `two three`.",
        ),
    ),
    (
        "added-prose",
        FileWrite(
            path="NEWS.md",
            edits=(Edit(old="", new="## Fixed\n\n- Prices are rounded once.\n- More.\n- Even.\n"),),
        ),
        (
            "file-write",
            "Modified NEWS.md: added Fixed",
            "edit NEWS.md",
            (
                "Modified NEWS.md: 5 lines added. New text begins: `- Prices are rounded once.`."
                " It adds Fixed."
            ),
        ),
    ),
]


@pytest.mark.parametrize(
    ("body", "fed"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_file_is_reported(feed: Feed, body: AnyBody, fed: tuple[str, ...]) -> None:
    item = feed(body).last
    assert (item.type, item.title, item.subtitle, item.narrative) == fed


def test_writes_of_which_nothing_is_known_are_counted(feed: Feed) -> None:
    write = FileWrite(path="a.py", operation="write")
    assert feed(write, write).last.narrative == "Wrote a.py: 2 edits."


def test_a_write_reports_what_became_of_every_symbol(feed: Feed) -> None:
    old = "class LegacyAuth:\n    pass\n\ndef login(user):\n    return user\n"
    new = "def verify_token(token):\n    return token\n\ndef login(user, token):\n    return user\n"
    item = feed(FileWrite(path="auth.py", edits=(Edit(old=old, new=new),))).last
    assert item.title == (
        "Modified auth.py: added verify_token, changed the signature of login, removed LegacyAuth"
    )
    assert (
        "It adds verify_token, changes the signature of login and removes LegacyAuth."
        in item.narrative
    )


ONLY = [
    ("comments", "comments", "changed the comments of f", "It changes the comments of f."),
    ("layout", "layout", "only layout", "Only layout changed."),
]


@pytest.mark.parametrize(("name", "only", "title", "narrative"), ONLY, ids=[o[0] for o in ONLY])
def test_what_leaves_the_code_as_it_was_is_reported_so(
    feed: Feed, name: str, only: Literal["layout", "comments"], title: str, narrative: str
) -> None:
    commented = ("f",) if name == "comments" else ()
    symbols = SymbolChanges(commented=commented, only=only)
    write = FileWrite(path="a.py", edits=(Edit(old="f()  # a", new="f()  # b"),), symbols=symbols)
    item = feed(write).last
    assert item.title == f"Modified a.py: {title}"
    assert narrative in item.narrative


def test_what_stands_elsewhere_becomes_moved(feed: Feed) -> None:
    edits = (Edit(old="a", new="b"),)
    item = feed(FileWrite(path="a.py", edits=edits, symbols=SymbolChanges(moved=("f", "g")))).last
    assert item.title == "Modified a.py: moved f and g"
    assert "It moves f and g." in item.narrative


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
        "a.py",
        "added b",
        "changed c",
        "removed a",
        "+2 -2 lines",
    )
