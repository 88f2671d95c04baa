"""Which note takes the place of which."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from observer.embed.catalogue import find
from observer.embed.late import LateModel
from observer.model import Item, Link
from observer.truth.succession import standings, takes_place_of

from .conftest import Story

PAIRS = Path(__file__).parents[1] / "data" / "succession" / "pairs.tsv"


def note(number: int, text: str, **fields: object) -> Item:
    made = Item(
        id=4 * number,
        uuid=str(number),
        kind="note",
        type="decision",
        title=text[:120],
        narrative=text,
        updated_ms=number,
    )
    return replace(made, **fields)


def _judged() -> list[tuple[bool, bool]]:
    """Return (is right, is said) of each pair, with vectors of the model that is shipped."""
    model = LateModel(find("instant", Path("/none")))
    told = []
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        label, old, new = line.split("\t")
        notes = [note(1, old), note(2, new)]
        told.append((label == "same", takes_place_of(notes[1], notes[0], model.made(notes))))
    return told


def test_no_note_is_taken_for_a_successor_by_mistake() -> None:
    assert not [pair for pair in _judged() if pair == (False, True)]


def test_nearly_all_successors_are_found() -> None:
    said = [said for is_right, said in _judged() if is_right]
    assert sum(said) / len(said) >= 0.9


def test_a_successor_is_said_of_both() -> None:
    old, new = note(1, "The pool has 4 threads"), note(2, "The pool has 16 threads")
    told = standings([old, new], {})
    assert [(each.reason, each.target) for each in told[4]] == [("superseded", 8)]
    assert [(each.reason, each.target) for each in told[8]] == [("supersedes", 4)]


@pytest.mark.parametrize(
    ("before", "after", "author", "is_said"),
    [
        ("approved", "provisional", "agent", False),
        ("approved", "", "agent", False),
        ("approved", "", "person", True),
        ("approved", "approved", "agent", True),
        ("provisional", "provisional", "agent", True),
    ],
)
def test_what_a_person_approved_yields_to_no_agent(
    before: str, after: str, author: str, *, is_said: bool
) -> None:
    old = note(1, "Every change has 2 reviewers", approval=before)
    new = note(2, "Every change has 1 reviewers", approval=after, author=author)
    assert takes_place_of(new, old, {}) == is_said


def test_of_several_successors_the_newest_counts() -> None:
    notes = [note(number, f"The pool has {2**number} threads") for number in (1, 2, 3)]
    told = standings(notes, {})
    assert [each.target for each in told[4]] == [12]
    assert [each.target for each in told[8] if each.reason == "superseded"] == [12]


def test_notes_of_other_types_stand() -> None:
    old, new = note(1, "The pool has 4 threads"), note(2, "The pool has 16 threads", type="rule")
    assert standings([old, new], {}) == {4: (), 8: ()}


def test_the_same_words_are_no_successor() -> None:
    assert not takes_place_of(note(2, "Use 4 threads"), note(1, "use 4 threads!"), {})


def test_a_note_without_words_has_no_successor() -> None:
    assert not takes_place_of(note(2, "…"), note(1, "…"), {})


def test_what_is_linked_as_superseded_is_so() -> None:
    old = note(1, "Money is stored as cents")
    new = note(2, "Prices are decimals", links=(Link(kind="supersedes", target=4),))
    assert standings([old, new], {})[4][0].target == 8


@pytest.mark.parametrize(
    "vectors", [{4: b"\x01\x00", 8: b"\x00\x01"}, {4: b"\x00", 8: b"\x00"}], ids=["far", "empty"]
)
def test_another_meaning_is_another_subject(vectors: dict[int, bytes]) -> None:
    old, new = note(1, "Tests use unittest"), note(2, "Tests use pytest instead of unittest")
    assert takes_place_of(new, old, {})
    assert not takes_place_of(new, old, vectors)


def test_the_order_of_notes_is_kept(story: Story) -> None:
    story.commit(a__py="x = 1\n")
    old = story.noted("The pool has 4 threads")
    new = story.noted("The pool has 16 threads")
    story.order()
    assert [each.target for each in story.item(old).standing] == [new]
    assert [each.reason for each in story.item(new).standing] == ["supersedes"]
