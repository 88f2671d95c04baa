"""Rows as they are stored: columns, packed texts, and stems of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import Item, SummaryFields, spaced
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from observer.store.rows import ITEM_FIELDS, code_aware, item_row, packed, to_item, unpacked


def an_item(**fields: Any) -> Item:
    return Item(**({"id": 1, "uuid": "u", "kind": "note", "type": "fact", "title": "t"} | fields))


@pytest.mark.parametrize(
    ("words", "stored"), [("Completed: all", ""), ("In other words", "In other words")]
)
def test_what_a_summary_says_in_its_fields_is_not_stored_twice(words: str, stored: str) -> None:
    said = SummaryFields(request="why", completed="all")
    item = an_item(kind="summary", type="summary", narrative=words, summary=said)
    row = item_row(item)
    assert row[ITEM_FIELDS.index("narrative")] == stored
    assert to_item(row) == item


@pytest.mark.parametrize(
    ("text", "file", "is_packed"),
    [
        ("mended the cart " * 60, "", True),
        ("mended the cart " * 60, "/notes/a.md", False),
        ("mended the cart", "", False),
        ("\1" * 600, "", False),
    ],
    ids=["long", "of a file", "short", "like what is packed"],
)
def test_long_texts_are_packed_and_read_as_they_were(
    text: str, file: str, *, is_packed: bool
) -> None:
    item = an_item(narrative=text, facts=(text,), file=file)
    row = item_row(item)
    assert isinstance(row[ITEM_FIELDS.index("narrative")], bytes) == is_packed
    assert to_item(row) == item


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("snake_case stays as it is", []),
        ("Title Words And LOUD ones", []),
        ("verifyToken", ["verify Token"]),
        ("HTTPServer", ["HTTP Server"]),
        ("parseHTTPBody2XML", ["parse HTTP Body2 XML"]),
        ("aB, aB and cD", ["a B", "c D"]),
        ("\u00e9Bon caf\u00e9Creme", []),
    ],
)
def test_the_words_inside_names_are_added(text: str, words: list[str]) -> None:
    assert code_aware(text) == "\n".join((text, *words))
    # Letters of scripts without blanks stand alone.
    assert code_aware("a登录b ロ").split() == ["a", "登", "录", "b", "ロ"]


EVENT = b'{"id":"e1","at_ms":17,"body":{"kind":"command","command":"make","output":"done"}}'


@given(text=st.text(), known=st.binary(max_size=300))
def test_json_comes_back_byte_by_byte(text: str, known: bytes) -> None:
    json = b'{"text":"' + text.encode(errors="replace") + b'"}'
    assert unpacked(packed(json, known), known) == json


def test_packing_again_changes_nothing_and_what_would_take_more_stays() -> None:
    assert packed(packed(EVENT)) == packed(EVENT) != EVENT
    beside = bytes(range(256))  # what a row says there costs next to nothing
    json = b'{"text":"' + beside * 2 + b'"}'
    assert len(packed(json, beside)) < 30 < len(packed(json))
    assert packed(b"[]") == b"[]"
    assert unpacked(packed(b"no JSON")) == packed(b"no JSON") == b"no JSON"


def test_damage_leaves_what_comes_before_it() -> None:
    made = packed(EVENT + b" " * 40 + bytes(range(256)) * 4)
    broken = made[:60] + b"\xff" * 200 + made[260:]
    assert unpacked(broken).startswith(EVENT[:20])
    assert unpacked(made[:-9]).startswith(EVENT)


def test_a_word_has_the_stems_of_the_engine() -> None:
    stems = {
        "Running": ("run",),
        "CAFÉ": ("cafe",),
        "cafe\u0301": ("cafe",),
        "snake_case": ("snake", "case"),
        "-": (),
        "\ud800x": ("x",),
        "a\0b": ("a", "b"),
        "": (),
    }
    assert {word: stemmer()(word) for word in stems} == stems


@pytest.mark.parametrize("text", ["Elections électorales", "naïve 東京 x2 ½", "running_tests.py"])
def test_stems_are_the_terms_that_the_store_keeps(tmp_path: Path, text: str) -> None:
    store = SqliteStore(tmp_path / "store" / "observer.db")
    with store.write() as writer:
        writer.put_items([Item(id=4, uuid="u", kind="note", type="t", title=text, narrative=text)])
        kept = {
            term for term in writer.terms_with_prefix("", limit=99) if not term.startswith("zq")
        }
    assert kept == set(stemmer()(spaced(text)))
    store.close()
