"""What is no text is no note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.clock import LAST_MS
from observer.core.errors import BadInput
from observer.core.model import Item
from observer.notes.values import Changes, Note, check


@pytest.mark.parametrize("content", ["", " \n", "\x1b\0", "\u200b", "half \ud800"])
def test_what_nobody_can_read_is_refused(content: str) -> None:
    with pytest.raises(BadInput):
        check(Note(content=content))
    with pytest.raises(BadInput):
        check(Changes(content=content))


@pytest.mark.parametrize(
    "note", [Note(content="x", title="\ud800"), Note(content="x", metadata={"a": "\ud800"})]
)
def test_no_field_holds_half_a_character(note: Note) -> None:
    with pytest.raises(BadInput):
        check(note)


@pytest.mark.parametrize("expires_ms", [-1, LAST_MS + 1, 2**63])
def test_a_note_expires_on_a_day_that_can_be_shown(expires_ms: int) -> None:
    """One without a date made every list that has the note fail."""
    for note in (Note(content="x", expires_ms=expires_ms), Changes(expires_ms=expires_ms)):
        with pytest.raises(BadInput, match="expire"):
            check(note)
    check(Note(content="x", expires_ms=LAST_MS))


@pytest.mark.parametrize("content", ["x", "日本", "🙂", "- [ ] \x1b x"])
def test_any_text_is_a_note(keep: Callable[..., Item], content: str) -> None:
    assert keep(content).narrative[-1:] == content[-1:]


@pytest.mark.parametrize(
    "note",
    [
        Note(content="x", title="t" * 2_001),
        Note(content="x", key="k" * 2_001),
        Note(content="x", tags=("t" * 2_001,)),
        Changes(category="c" * 2_001),
    ],
)
def test_a_name_is_no_place_for_a_text(note: Note | Changes) -> None:
    with pytest.raises(BadInput, match="2,000 characters"):
        check(note)


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"a": "<private>"}},
        {"metadata": {"a": "<private>", "b": ["</private>"]}},
        {"key": "<private>x</private>"},
    ],
)
def test_metadata_and_keys_hold_no_private_span(fields: dict[str, Any]) -> None:
    """What is taken out of JSON as text leaves none, and no list with that note could be read."""
    with pytest.raises(BadInput, match="private"):
        check(Note(content="x", **fields))


@pytest.mark.parametrize("note", [Note(content="x", type="Inference!"), Changes(type="inference")])
def test_nothing_becomes_an_inference_by_its_type(note: Note | Changes) -> None:
    with pytest.raises(BadInput, match="minted"):
        check(note)
