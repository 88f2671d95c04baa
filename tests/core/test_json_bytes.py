from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.json_text import mended


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="pair"),
        pytest.param(b'"a\\ud83d"', "a\ufffd", id="first-half"),
        pytest.param(b'"\\ude00b"', "\ufffdb", id="second-half"),
        pytest.param(b'"\\\\ud83d"', "\\ud83d", id="no-escape"),
        pytest.param(b'\xef\xbb\xbf"a"', "a", id="byte-order-mark"),
        pytest.param(b'"\xff"', "\ufffd", id="no-utf-8"),
    ],
)
def test_what_is_no_character_costs_itself_alone(data: bytes, text: str) -> None:
    assert msgspec.json.decode(mended(data)) == text


@given(st.recursive(st.text() | st.integers(-9, 9), st.lists))
def test_json_of_characters_means_the_same(value: object) -> None:
    assert msgspec.json.decode(mended(msgspec.json.encode(value))) == value
