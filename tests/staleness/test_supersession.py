"""Which note takes the place of which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.events import Prompt, Reply, SessionEnd
from observer.core.model import Item, Link, Validity
from observer.embed.lazy_model import LazyModel
from observer.embed.registry import find
from observer.staleness.relating import Relation, relation
from observer.staleness.supersession import (
    COMMON,
    PlacedStatement,
    text_of,
    validity,
)

from .conftest import Story

DATA = Path(__file__).parents[1] / "data" / "succession"


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


def shown_of(
    notes: list[Item], vectors: Mapping[int, bytes] = MappingProxyType({})
) -> dict[int, tuple[Validity, ...]]:
    said = [PlacedStatement(item=each, text=text_of(each), items=(each.id,)) for each in notes]
    return validity(said, vectors)


def takes_place_of(newer: Item, older: Item) -> bool:
    shown = shown_of([newer, older])[older.id]
    return (newer.id, "superseded") in [(each.target, each.reason) for each in shown]


def _judged() -> list[tuple[bool, bool]]:
    """Return (is right, is said) of each pair."""
    shown = []
    for line in (DATA / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        label, old, new = line.split("\t")
        shown.append((label == "same", takes_place_of(note(2, new), note(1, old))))
    return shown


def _labelled(name: str, half: str) -> list[tuple[str, str, str]]:
    """Return what each newer statement does to an older one, as labelled, and both."""
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [(label, old, new) for part, _, label, old, new in rows if part == half]


def test_no_note_is_taken_for_a_successor_by_mistake() -> None:
    assert not [pair for pair in _judged() if pair == (False, True)]


def test_nearly_all_successors_are_found() -> None:
    said = [said for is_right, said in _judged() if is_right]
    assert sum(said) / len(said) >= 0.9


@pytest.mark.parametrize("half", ["dev", "held"])
def test_statements_about_different_things_are_not_related(half: str) -> None:
    pairs = [(old, new) for label, old, new in _labelled("amended", half) if label == "none"]
    assert not [pair for pair in pairs if relation(pair[1], pair[0])]


@pytest.mark.parametrize(("half", "least"), [("dev", 0.95), ("held", 0.95)])
def test_nearly_all_amendments_are_found_for_what_they_are(half: str, least: float) -> None:
    pairs = [
        (label, relation(new, old))
        for label, old, new in _labelled("amended", half)
        if label != "none"
    ]
    assert sum(label == said for label, said in pairs) / len(pairs) >= least
    assert not [pair for pair in pairs if pair[1] not in {pair[0], None}]


@pytest.mark.parametrize("part", "ABCDE")
def test_other_things_questions_reports_and_repetitions_change_nothing(part: str) -> None:
    pairs = [(old, new) for label, old, new in _labelled("contrasts", part) if label == "none"]
    assert not [pair for pair in pairs if relation(pair[1], pair[0])]


@pytest.mark.parametrize("part", "ABCDE")
def test_most_changes_are_found_however_they_are_shown(part: str) -> None:
    pairs = [
        (label, relation(new, old))
        for label, old, new in _labelled("contrasts", part)
        if label != "none"
    ]
    assert sum(label == said for label, said in pairs) / len(pairs) >= 0.9
    assert not [pair for pair in pairs if pair[1] not in {pair[0], None}]


@given(st.text(), st.text())
def test_any_texts_can_be_compared(newer: str, older: str) -> None:
    assert relation(newer, older) in {None, *get_args(Relation)}


@pytest.mark.parametrize(
    "text",
    ["a " * 50_000, "is " * 50_000, "a, " * 50_000, "?" * 100_000, "so " * 50_000, "-" * 100_000],
)
def test_a_long_text_is_compared_by_its_beginning(text: str) -> None:
    assert relation("The pool has 4 threads " + text, "The pool has 9 threads " + text) == relation(
        "The pool has 4 threads " + text[:4_000], "The pool has 9 threads " + text[:4_000]
    )


def test_an_amended_statement_still_holds() -> None:
    old = note(1, "Never log request bodies")
    new = note(2, "Never log request bodies, except in the debugger")
    shown = shown_of([old, new])
    assert [(each.reason, each.target) for each in shown[4]] == [("amended", 8)]
    assert [(each.reason, each.target) for each in shown[8]] == [("amends", 4)]


def test_the_newer_one_says_what_it_replaces() -> None:
    old, new = note(1, "The pool has 4 threads"), note(2, "The pool has 16 threads")
    assert shown_of([old, new])[8][0].subject == "4 The pool has 4 threads"


def test_a_list_grows_by_a_name_of_its_kind() -> None:
    model = LazyModel(find("instant", Path("/none")))
    notes = [
        note(1, "We support Chrome and Firefox"),
        note(2, "We support Postgres and MySQL"),
        note(3, "Let's also support Safari"),
    ]
    shown = shown_of(notes, model.made(notes))
    assert [each.reason for each in shown[4]] == ["amended"]
    assert shown[8] == ()


@pytest.mark.parametrize("vectors", [{}, {4: b"\0", 8: b"\0"}, {4: b"\1", 8: b"\1\1"}])
def test_a_list_grows_by_nothing_without_meanings(vectors: dict[int, bytes]) -> None:
    notes = [note(1, "We support Chrome and Firefox"), note(2, "Let's also support Safari")]
    assert shown_of(notes, vectors)[4] == ()


def test_a_word_of_all_statements_is_no_subject() -> None:
    notes = [note(n, f"The shop has {n} shelves") for n in range(1, COMMON + 3)]
    assert shown_of(notes)[4] == ()


def test_what_is_proposed_yields_and_replaces_across_types() -> None:
    old = note(1, "The pool has 4 threads", type="constraint")
    new = note(2, "The pool has 16 threads", kind="observation", status="candidate")
    assert [each.reason for each in shown_of([old, new])[4]] == ["superseded"]
    approved = replace(old, approval="approved")
    assert shown_of([approved, new])[4] == ()


def test_a_successor_is_said_of_both() -> None:
    old, new = note(1, "The pool has 4 threads"), note(2, "The pool has 16 threads")
    shown = shown_of([old, new])
    assert [(each.reason, each.target) for each in shown[4]] == [("superseded", 8)]
    assert [(each.reason, each.target) for each in shown[8]] == [("supersedes", 4)]


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
    assert takes_place_of(new, old) == is_said


def test_of_several_successors_the_newest_counts() -> None:
    notes = [note(number, f"The pool has {2**number} threads") for number in (1, 2, 3)]
    shown = shown_of(notes)
    assert [each.target for each in shown[4]] == [12]
    assert [each.target for each in shown[8] if each.reason == "superseded"] == [12]


def test_a_rule_yields_to_rules_only() -> None:
    old, new = note(1, "The pool has 4 threads"), note(2, "The pool has 16 threads", type="rule")
    assert shown_of([old, new]) == {4: (), 8: ()}


@pytest.mark.parametrize(("before", "after"), [("fact", "fact"), ("fact", "decision")])
def test_a_fact_yields_to_a_newer_one_however_it_is_filed(before: str, after: str) -> None:
    old, new = note(1, "The pool has 4 threads", type=before), note(2, "The pool has 16 threads")
    assert [each.target for each in shown_of([old, replace(new, type=after)])[4]] == [8]


def test_the_same_words_are_no_successor() -> None:
    assert not takes_place_of(note(2, "Use 4 threads"), note(1, "use 4 threads!"))


def test_a_note_without_words_has_no_successor() -> None:
    assert not takes_place_of(note(2, "…"), note(1, "…"))


def test_what_is_linked_as_superseded_is_so() -> None:
    old = note(1, "Money is stored as cents")
    new = note(2, "Prices are decimals", links=(Link(kind="supersedes", target=4),))
    assert shown_of([old, new])[4][0].target == 8


def test_the_order_of_notes_is_kept(story: Story) -> None:
    story.commit(a__py="x = 1\n")
    old = story.noted("The pool has 4 threads")
    new = story.noted("The pool has 16 threads")
    story.order()
    assert [each.target for each in story.item(old).validity] == [new]
    assert [each.reason for each in story.item(new).validity] == ["supersedes"]


def test_the_newer_word_counts_wherever_it_was_said(story: Story) -> None:
    old = story.tell(Prompt(text="The pool has 4 threads"))
    story.tell(Prompt(text="What did we say about the pool?"))
    story.tell(Prompt(text="# Plan\n\nThe pool has 9 threads"))
    new = story.tell(Prompt(text="Fix the cart. The pool has 16 threads."))
    story.order()
    assert [each.target for each in story.item(old).validity] == [new]
    assert [each.reason for each in story.item(new).validity] == ["supersedes"]


def test_a_prompt_yields_to_a_note_and_a_note_to_a_prompt(story: Story) -> None:
    prompt = story.tell(Prompt(text="The pool has 4 threads"))
    note = story.noted("The pool has 16 threads")
    last = story.tell(Prompt(text="Let's make it a pool of 32 threads"))
    story.order()
    assert story.item(prompt).validity[0].target in {note, last}
    assert [each.target for each in story.item(note).validity if each.reason == "superseded"] == [
        last
    ]


def test_a_decision_shown_in_a_reply_counts_too(story: Story) -> None:
    old = story.tell(Prompt(text="The pool has 4 threads"))
    new = story.tell(Reply(text="Decision: from now on the pool has 16 threads instead of 4."))
    story.order()
    assert [each.target for each in story.item(old).validity] == [new]


def test_a_long_prompt_is_about_more_than_one_sentence(story: Story) -> None:
    old = story.tell(Prompt(text="The pool has 4 threads"))
    story.tell(Prompt(text="Fix it. Test it. Then look around. The pool has 16 threads. Why?"))
    story.order()
    assert story.item(old).validity == ()
    text = "Fix it. Test it. Then look around. From now on the pool has 32 threads. Why?"
    new = story.tell(Prompt(text=text))
    last = story.tell(Prompt(text="Make the pool 64 threads"))
    story.order()
    assert [each.target for each in story.item(old).validity] == [last]
    assert [each.reason for each in story.item(new).validity] == []


def test_what_one_event_says_is_compared_with_others_only(story: Story) -> None:
    said = "Never use 4 threads. Never use 16 threads."
    prompt = story.tell(Prompt(text=said), author="person")
    story.order()
    assert story.item(prompt).validity == ()


def test_the_summary_of_a_session_that_said_nothing_else_is_labelled_too(story: Story) -> None:
    old = story.tell(Prompt(text="The pool has 4 threads"))
    story.tell(SessionEnd())
    new = story.tell(Prompt(text="The pool has 16 threads"), session="t")
    story.order()
    (summary,) = [each for each in story.items() if each.kind == "summary" and each.id < new]
    assert [each.target for each in summary.validity] == [new]
    assert [each.target for each in story.item(old).validity] == [new]


def test_what_was_compared_is_not_compared_again_until_it_changes(story: Story) -> None:
    old = story.noted("The pool has 4 threads")
    known: dict[int, int] = {}
    story.order(known)
    assert known
    before = dict(known)
    story.order(known)
    assert known == before
    new = story.noted("The pool has 16 threads")
    story.order(known)
    assert [each.target for each in story.item(old).validity] == [new]
