"""JSON and what was kept are read as they are, or raise one error."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import StoreUnavailable
from observer.core.json_text import dump, load, repair_encoding
from observer.core.value import decode_json
from observer.observations import project_state, session_state


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="pair"),
        pytest.param(b'"a\\ud83d"', "a\ufffd", id="first-half"),
        pytest.param(b'"\\ude00b"', "\ufffdb", id="second-half"),
        pytest.param(b'"\\\\ud83d"', "\\ud83d", id="no-escape"),
        pytest.param(b'\xef\xbb\xbf"a"', "a", id="byte-order-mark"),
        pytest.param(b'"\xff"', "\ufffd", id="no-utf-8"),
        pytest.param(b'"see \\*** \\n"', "see \\*** \n", id="unknown-escape"),
        pytest.param(b'"\\\xc3\xa9"', "\\\u00e9", id="unknown-escape-of-two-bytes"),
        pytest.param(b'"\\u00***"', "\\u00***", id="unfinished-escape"),
    ],
)
def test_what_is_no_character_costs_itself_alone(data: bytes, text: str) -> None:
    assert msgspec.json.decode(repair_encoding(data)) == text


@pytest.mark.parametrize("data", ["plain words", b"{'a': 1}", b"", b"\xff", b"[1,]", "NaN"])
def test_what_is_not_json_is_refused(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"JSON|truncated"):
        load(data)


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_depth_is_refused_as_such(depth: int) -> None:
    with pytest.raises(RecursionError):
        load(b"[" * depth + b"]" * depth)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="the last of equal keys"),
        pytest.param("18446744073709551615", 2**64 - 1, id="64 bits"),
        pytest.param("18446744073709551616", float(2**64), id="more than 64 bits"),
        pytest.param('"cut \\ud83d here"', "cut \ufffd here", id="half a pair in a string"),
        pytest.param('"cut \ud83d here"', "cut ? here", id="half a pair itself"),
        pytest.param(b"[" * 900 + b"]" * 900, None, id="deep"),
    ],
)
def test_what_json_means(data: bytes | str, value: object) -> None:
    found = load(data)
    assert found == value or (value is None and isinstance(found, list))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, None, True, "é\U0001f600"]}, id="plain"),
        pytest.param([[[]], 2**64, -(10**30)], id="more than 64 bits"),
        pytest.param(msgspec.json.decode(b"[" * 500 + b"]" * 500), id="deep"),
    ],
)
def test_what_is_written_reads_as_it_was(value: object) -> None:
    assert msgspec.json.decode(dump(value)) == value


def test_what_is_not_json_is_not_written() -> None:
    with pytest.raises(TypeError):
        dump({"a": object()})
    with pytest.raises(UnicodeEncodeError):
        dump("\ud800")


@given(st.recursive(st.text() | st.integers(-9, 9), st.lists))
def test_json_of_characters_means_the_same(value: object) -> None:
    assert msgspec.json.decode(repair_encoding(msgspec.json.encode(value))) == value


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"\xff'])
@pytest.mark.parametrize(
    ("kept", "of"),
    [(session_state.decode, "session"), (project_state.decode, "project")],
    ids=["state", "story"],
)
def test_what_is_damaged_is_shown_with_the_way_out(kept: object, of: str, data: bytes) -> None:
    assert callable(kept)
    with pytest.raises(StoreUnavailable, match=f"remembered of a {of}") as refused:
        kept(data)
    assert "observer doctor --rebuild" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'["\xed\xf4"]', b"\xff", "\ud800", b"[1]", b"[" * 100_000],
    ids=lambda data: repr(data)[:12],
)
def test_json_of_any_origin_is_refused_by_one_error(data: bytes | str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_json(data, list[str])
