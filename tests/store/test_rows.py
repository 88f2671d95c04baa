"""Rows as they are stored: columns, packed texts, and stems of words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import Item, SummaryFields, spaced
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from observer.store.rows import ITEM_FIELDS, code_aware, item_row, packed, to_item, unpacked


@pytest.mark.parametrize(
    ("words", "stored"), [("Completed: all", ""), ("In other words", "In other words")]
)
def test_what_a_summary_says_in_its_fields_is_not_stored_twice(words: str, stored: str) -> None:
    fields = SummaryFields(request="why", completed="all")
    item = Item(
        id=1, uuid="u", kind="summary", type="summary", title="t", narrative=words, summary=fields
    )
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
    item = Item(
        id=1,
        uuid="u",
        kind="note",
        type="fact",
        title="t",
        narrative=text,
        facts=(text,),
        file=file,
    )
    row = item_row(item)
    assert isinstance(row[ITEM_FIELDS.index("narrative")], bytes) == is_packed
    assert to_item(row) == item


def test_letters_of_scripts_without_blanks_stand_alone() -> None:
    assert code_aware("a登录b ロ").split() == ["a", "登", "录", "b", "ロ"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("snake_case stays as it is", [], id="no hump"),
        pytest.param("Title Words And LOUD ones", [], id="capitals without a hump"),
        pytest.param("verifyToken", ["verify Token"], id="camel"),
        pytest.param("HTTPServer", ["HTTP Server"], id="an acronym in front"),
        pytest.param("parseHTTPBody2XML", ["parse HTTP Body2 XML"], id="an acronym inside"),
        pytest.param("aB, aB and cD", ["a B", "c D"], id="each name once"),
        pytest.param("\u00e9Bon caf\u00e9Creme", [], id="a hump that is not ASCII"),
    ],
)
def test_the_words_inside_names_are_added(text: str, words: list[str]) -> None:
    assert code_aware(text) == "\n".join((text, *words))


EVENT = b'{"id":"e1","at_ms":17,"body":{"kind":"command","command":"make","output":"done"}}'


@given(text=st.text(), known=st.binary(max_size=300))
def test_json_comes_back_byte_by_byte(text: str, known: bytes) -> None:
    json = b'{"text":"' + text.encode(errors="replace") + b'"}'
    assert unpacked(packed(json, known), known) == json


def test_packing_again_changes_nothing() -> None:
    assert packed(packed(EVENT)) == packed(EVENT) != EVENT


def test_what_a_row_says_beside_it_costs_next_to_nothing() -> None:
    beside = bytes(range(256))
    json = b'{"text":"' + beside * 2 + b'"}'
    assert len(packed(json, beside)) < 30 < len(packed(json))


def test_what_would_take_more_stays_as_it_is() -> None:
    assert packed(b"[]") == b"[]"
    assert packed(b"no JSON") == b"no JSON"
    assert unpacked(b"no JSON") == b"no JSON"


def test_damage_leaves_what_comes_before_it() -> None:
    made = packed(EVENT + b" " * 40 + bytes(range(256)) * 4)
    broken = made[:60] + b"\xff" * 200 + made[260:]
    assert unpacked(broken).startswith(EVENT[:20])
    assert unpacked(made[:-9]).startswith(EVENT)


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        pytest.param("Running", ("run",), id="stemmed"),
        pytest.param("CAFÉ", ("cafe",), id="folded"),
        pytest.param("cafe\u0301", ("cafe",), id="decomposed"),
        pytest.param("snake_case", ("snake", "case"), id="several"),
        pytest.param("-", (), id="no-word"),
        pytest.param("\ud800x", ("x",), id="half-a-character"),
        pytest.param("a\0b", ("a", "b"), id="nul"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_a_word_has_the_stems_of_the_engine(word: str, stems: tuple[str, ...]) -> None:
    assert stemmer()(word) == stems


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
