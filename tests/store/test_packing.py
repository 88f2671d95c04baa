"""What is packed is read again as it was, and what cannot be read is left as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from observer.store.packing import packed, unpacked

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
