from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.model import Item
from observer.notes.notes import Notes
from observer.notes.signals import Hypothesis, Inference, Inferences
from observer.notes.values import Changes, Note

Keep = Callable[..., Item]


@pytest.fixture
def inferences(world: Any) -> Inferences:
    found: Inferences = world.memory.inferences
    return found


def mint(inferences: Inferences, *evidence: Item, **fields: Any) -> Inference:
    given = {"title": "Auth drifts", "summary": "Sessions move to tokens"} | fields
    wanted = Hypothesis(evidence=tuple(item.id for item in evidence), **given)
    return inferences.mint(wanted, is_confirmed=True)


def states(inference: Inference) -> list[str]:
    return [each.state for each in inference.evidence]


def test_nothing_is_kept_that_no_person_approved(keep: Keep, inferences: Inferences) -> None:
    wanted = Hypothesis(title="t", summary="s", evidence=(keep("x").id,))
    with pytest.raises(BadInput, match="a person has to approve"):
        inferences.mint(wanted, is_confirmed=False)
    assert inferences.list() == []


def test_an_inference_knows_what_its_notes_said(keep: Keep, inferences: Inferences) -> None:
    one, two = keep("cookies  expire\n" + "x" * 400, title="Cookies"), keep("tokens")
    made = mint(inferences, one, two, one, confidence=0.7, model="m-1")
    assert made == inferences.get(made.item.id)
    assert (made.status, made.item.confidence, made.model) == ("active", 0.7, "m-1")
    assert [(each.item, each.title) for each in made.evidence] == [
        (one.id, "Cookies"),
        (two.id, "tokens"),
    ]
    assert made.evidence[0].excerpt == ("cookies expire " + "x" * 400)[:280]


def test_an_inference_is_stale_while_a_note_says_something_else(
    keep: Keep, notes: Notes, inferences: Inferences
) -> None:
    one, two = keep("cookies"), keep("tokens")
    made = mint(inferences, one, two)
    notes.edit(one.id, Changes(content="no cookies"))
    notes.forget(two.id)
    changed = inferences.get(made.item.id)
    assert (changed.status, states(changed)) == ("stale", ["changed", "deleted"])
    assert inferences.list("stale") == [changed]
    assert inferences.list("active") == []
    notes.undo(one.id)
    notes.undo(two.id)
    assert inferences.list("active") == [made]


def test_a_changed_title_or_tag_changes_no_evidence(
    keep: Keep, notes: Notes, inferences: Inferences
) -> None:
    one = keep("cookies")
    made = mint(inferences, one)
    notes.edit(one.id, Changes(title="Cookies", tags=("auth",)))
    assert inferences.get(made.item.id).status == "active"


def test_an_inference_from_a_signal_mints_it(
    world: Any, keep: Keep, inferences: Inferences
) -> None:
    note = keep("see [[Spec]]")
    (signal,) = world.memory.signals.list().signals
    made = mint(inferences, signal=signal.id)
    assert [each.item for each in made.evidence] == [note.id]
    assert made.signal == signal.id
    assert world.memory.signals.list().signals == ()
    world.pipeline.rebuild()
    (minted,) = world.memory.signals.list(status="minted").signals
    assert minted.id == signal.id
    assert inferences.list() == [made]


def test_an_inference_is_found_by_no_search(world: Any, keep: Keep, inferences: Inferences) -> None:
    made = mint(inferences, keep("cookies"), summary="zebra")
    assert world.memory.search("zebra").hits == ()
    assert world.memory.recall("zebra", project="app").hits == ()
    assert made.item.kind == "inference"


def test_an_inference_that_says_what_a_note_says_leaves_the_note(
    keep: Keep, notes: Notes, inferences: Inferences
) -> None:
    note = keep("cookies")
    made = mint(inferences, note, summary="cookies")
    assert made.item.id != note.id
    assert notes.get(note.id) == note


def test_an_inference_is_seen_where_its_notes_are(world: Any, keep: Keep, notes: Notes) -> None:
    here, team, mine = keep("here"), keep("team", scope="team"), keep("mine", scope="personal")
    there = notes.remember(Note(content="there"), project="other").item
    inferences: Inferences = world.memory.inferences
    places = [
        (made.item.project_id, made.item.scope)
        for evidence in ((here,), (team,), (here, there), (here, mine))
        for made in [mint(inferences, *evidence)]
    ]
    assert places == [(2, "project"), (None, "team"), (None, "personal"), (None, "personal")]
    bobs = world.memory.of("bob").inferences
    assert {one.item.scope for one in bobs.list()} == {"project", "team"}
    with pytest.raises(NotFound):
        bobs.get(inferences.list()[0].item.id)
    with pytest.raises(NotFound, match="no note"):
        mint(bobs, mine)


def test_evidence_is_notes_and_some(keep: Keep, inferences: Inferences) -> None:
    with pytest.raises(BadInput, match="rests on 1 to 50 notes, not 0"):
        mint(inferences)
    made = mint(inferences, keep("x"))
    with pytest.raises(BadInput, match="is not a note but an inference"):
        mint(inferences, made.item)
    with pytest.raises(NotFound, match="no signal 7"):
        mint(inferences, signal=7)
    with pytest.raises(NotFound):
        inferences.get(keep("y").id)
    with pytest.raises(NotFound):
        inferences.get(10**15)


@pytest.mark.parametrize(
    "fields",
    [
        {"summary": " "},
        {"confidence": 1.1},
        {"summary": "the token is gh" + "p_" + "a1B2" * 9},
        {"model": "<private>"},
    ],
    ids=["empty", "confidence", "secret", "private model"],
)
def test_a_hypothesis_is_checked_as_notes_are(
    keep: Keep, inferences: Inferences, fields: dict[str, Any]
) -> None:
    with pytest.raises(ObserverError):
        mint(inferences, keep("x"), **fields)
    assert inferences.list() == []


def test_a_hash_is_no_secret(keep: Keep, inferences: Inferences) -> None:
    """What would be hidden as one could never be compared again."""
    for number in range(20):
        text = hashlib.sha256(str(number).encode()).hexdigest()[:5]
        assert mint(inferences, keep(text)).status == "active"
