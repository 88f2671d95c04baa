"""What one note does to another: acts of who writes decide, never the wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.errors import RuleUserOnly
from observer.core.model import Item
from observer.notes.notes import Notes
from observer.notes.values import Changes, Note

Keep = Callable[..., Item]

SERIES = [
    pytest.param("Style column 1 with dashes", "Style column 2 with dots", id="numbers"),
    pytest.param("Lane A starts at seven", "Lane B starts at nine", id="letters"),
    pytest.param("Issue #41 is fixed by a flush", "Issue #42 is fixed by a lock", id="tickets"),
    pytest.param("The farm has at least 3 nodes", "The farm has at most 30 nodes", id="bounds"),
    pytest.param("On Monday we ship orders", "On Friday we ship refunds", id="days"),
    pytest.param("Compact view is on by default", "Compact view is off by default", id="flip"),
    pytest.param("Format with yapf", "We no longer use yapf but black", id="said to be over"),
]
ACTS = [
    pytest.param("supersedes {id}: ports moved", "superseded", id="id"),
    pytest.param("Replaces {id}.", "superseded", id="replaces"),
    pytest.param("- supersedes [[Old ports]]", "superseded", id="relation"),
    pytest.param("This one supersedes: [[old PORTS|the ports]]", "superseded", id="title"),
    pytest.param("amends {id} for the staging host", "amended", id="amends"),
    pytest.param("supersedes memory://infra/old-ports", None, id="permalink of no note"),
    pytest.param("See {id} and [[Old ports]]", None, id="a mention"),
    pytest.param("`supersedes {id}`", None, id="code"),
    pytest.param("supersedes #99999", None, id="no note"),
    pytest.param("nothing supersedes them", None, id="no name"),
]


def reasons(item: Item) -> list[str]:
    return [each.reason for each in item.validity]


@pytest.mark.parametrize(("older", "newer"), SERIES)
def test_no_wording_voids_anything(world: Any, keep: Keep, older: str, newer: str) -> None:
    first, second = keep(older, type="decision"), keep(newer, type="decision")
    found = world.memory.recall(older, project="app").hits
    assert {hit.item.id for hit in found} == {first.id, second.id}
    assert [reasons(hit.item) for hit in found] == [[], []]


@pytest.mark.parametrize(("text", "reason"), ACTS)
def test_a_keyword_before_a_name_is_an_act(
    keep: Keep, notes: Notes, text: str, reason: str | None
) -> None:
    old = keep("Staging listens on port 5433", title="Old ports")
    new = keep(text.format(id=f"#{old.id}"))
    assert reasons(notes.get(old.id)) == ([reason] if reason else [])
    (link, *_) = (*notes.links(new.id).out, None)
    assert (link.item == notes.get(old.id)) if reason and link else True


def test_an_act_goes_with_the_words_that_made_it(keep: Keep, notes: Notes) -> None:
    old = keep("Use tabs")
    new = keep(f"Use spaces, supersedes #{old.id}")
    notes.edit(new.id, Changes(content="Use spaces in Python"))
    assert reasons(notes.get(old.id)) == []


def test_both_say_by_which_note_and_of_what_day(keep: Keep, notes: Notes) -> None:
    old = keep("Use tabs")
    new = keep("Use spaces", supersedes=(old.id,))
    (by,), (what,) = notes.get(old.id).validity, notes.get(new.id).validity
    assert (by.subject, by.target) == (f"{new.id} Use spaces", new.id)
    assert (what.subject, what.since_ms) == (f"{old.id} Use tabs", old.updated_ms)


def test_an_amended_note_still_holds(world: Any, keep: Keep) -> None:
    old = keep("Never log request bodies")
    new = keep("Log them in the debugger", amends=(old.id,))
    found = world.memory.recall("log request bodies", project="app").hits
    assert [(hit.item.id, reasons(hit.item)) for hit in found] == [
        (new.id, ["amends"]),
        (old.id, ["amended"]),
    ]


def test_an_agent_voids_no_rule_of_a_person_by_naming_it(keep: Keep, notes: Notes) -> None:
    rule = keep("Two people review", type="rule")
    notes.remember(Note(content=f"One is enough, supersedes #{rule.id}"), project="app")
    assert reasons(notes.get(rule.id)) == []
    with pytest.raises(RuleUserOnly):
        notes.remember(Note(content="One will do", supersedes=(rule.id,)), project="app")


def test_a_note_of_another_project_is_not_named(keep: Keep, notes: Notes) -> None:
    theirs = notes.remember(Note(content="Use tabs", title="Indent"), project="other").item
    keep(f"Use spaces, supersedes #{theirs.id}, supersedes [[Indent]]")
    assert reasons(notes.get(theirs.id)) == []


def test_of_several_successors_the_newest_counts(keep: Keep, notes: Notes) -> None:
    old = keep("Use tabs")
    keep("Use two spaces", supersedes=(old.id,))
    last = keep("Use four spaces", supersedes=(old.id,))
    assert [each.target for each in notes.get(old.id).validity] == [last.id]


def test_nobody_learns_of_another_ones_note(world: Any, keep: Keep, notes: Notes) -> None:
    shared = keep("Use tabs")
    keep("In my scratch files I use spaces", scope="personal", amends=(shared.id,))
    assert world.memory.of("bob").notes.get(shared.id).validity == ()
