"""A text is found however it was written down."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.upkeep.shred import SHORTEST, finder

TEXTS = st.text(min_size=SHORTEST, max_size=30).filter(lambda text: len(text.strip()) >= SHORTEST)


@given(text=TEXTS, depth=st.integers(0, 3), is_ascii=st.booleans())
def test_a_text_is_found_however_often_it_was_escaped(
    text: str, depth: int, is_ascii: bool
) -> None:
    written = text
    for _ in range(depth):
        written = json.dumps(written, ensure_ascii=is_ascii)
    looked = finder([text])
    assert looked
    if "\ud800" <= max(text) <= "\udfff":
        return
    assert looked.search(b"..." + written.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("text", "held", "is_there"),
    [
        pytest.param("a b c", b"x a\\n b\\t c", True, id="blanks"),
        pytest.param("a/b.py", b'{"p":"a\\/b.py"}', True, id="slash"),
        pytest.param(
            "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9").encode(), True, id="nfd"
        ),
        pytest.param("a.b", b"a,b", False, id="no pattern"),
        pytest.param("zebra", b"Zebra", False, id="case"),
    ],
)
def test_what_counts_as_the_text(text: str, held: bytes, is_there: bool) -> None:
    looked = finder([text])
    assert looked
    assert bool(looked.search(held)) is is_there


def test_no_text_finds_nothing() -> None:
    assert finder([]) is None
