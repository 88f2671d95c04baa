from __future__ import annotations

import pytest

from observer.core.model import Item, SummaryFields
from observer.store.rows import ITEM_FIELDS, code_aware, item_row, to_item


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
