from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.errors import BadInput, CapturedUserOnly, NotFound, RuleUserOnly
from observer.core.events import Commit, Event, Prompt
from observer.core.model import Item
from observer.notes.notes import Notes
from observer.notes.signals import Hypothesis
from observer.notes.values import Changes, Note
from observer.search.handles import SearchOptions

from .conftest import Keep

NOTES = ("note",)


def ids(items: Any) -> list[int]:
    return [item.id for item in items]


def test_a_list_is_narrowed(keep: Keep, notes: Notes) -> None:
    plain = keep("plain")
    tagged = keep("tagged", tags=("a", "b"), type="rule")
    mine = keep("mine", scope="personal")
    assert ids(notes.list()) == [mine.id, tagged.id, plain.id]
    assert ids(notes.list(narrow=SearchOptions(tags=("b", "a")))) == [tagged.id]
    assert ids(notes.list(narrow=SearchOptions(layer="rule"))) == [tagged.id]
    assert ids(notes.list(narrow=SearchOptions(scope="personal"))) == [mine.id]
    assert ids(notes.list(limit=1)) == [mine.id]


def test_a_list_knows_one_project_and_what_belongs_to_none(keep: Keep, notes: Notes) -> None:
    here, ours = keep("here"), keep("ours", scope="team")
    there = notes.remember(Note(content="there"), project="other").item
    assert ids(notes.list(project="app")) == [ours.id, here.id]
    assert ids(notes.list(project="other")) == [there.id, ours.id]


def test_an_inference_is_listed_on_request_alone(world: Any, keep: Keep, notes: Notes) -> None:
    note = keep("sure")
    wanted = Hypothesis(title="Guess", summary="maybe", evidence=(note.id,))
    guess = world.memory.inferences.mint(wanted, is_confirmed=True).item
    assert ids(notes.list()) == [note.id]
    assert ids(notes.list(narrow=SearchOptions(kinds=("inference",)))) == [guess.id]
    assert notes.get(guess.id) == guess


def test_notes_are_counted_and_a_category_includes_those_below_it(keep: Keep, notes: Notes) -> None:
    keep("x", tags=("a", "b"), category="c")
    keep("y", tags=("b",))
    assert notes.counts("tags") == {"b": 2, "a": 1}
    assert list(notes.counts("tags", project="app")) == ["b", "a"]
    assert notes.counts("category") == {"c": 1}
    assert notes.counts("type", project="other") == {}
    for category in ("arch", "arch/storage", "architecture", "ops"):
        keep(f"in {category}", category=category)
    found = notes.list(narrow=SearchOptions(category="arch"))
    assert sorted(item.category for item in found) == ["arch", "arch/storage"]
    assert not notes.list(narrow=SearchOptions(category="nowhere"))


def test_titles_are_read_as_of_now(keep: Keep, notes: Notes) -> None:
    item = keep("see [[the auth SPEC]]")
    assert notes.links(item.id).out[0].item is None
    spec = keep("JWT", title="The Auth Spec")
    (found,) = notes.links(item.id).out
    assert (found.kind, found.item) == ("wiki", spec)
    assert [one.item for one in notes.links(spec.id).back] == [item]
    old = keep("We use JWT", title="Spec")
    keep("supersedes [[Spec]]: we use cookies")
    notes.edit(old.id, Changes(title="Other"))
    assert [each.reason for each in notes.get(old.id).validity] == ["superseded"]


def test_a_title_means_a_note_of_the_same_project(keep: Keep, notes: Notes) -> None:
    notes.remember(Note(content="theirs", title="Spec"), project="other")
    item = keep("see [[Spec]]")
    assert notes.links(item.id).out[0].item is None
    team = keep("ours", title="Spec", scope="team")
    assert notes.links(item.id).out[0].item == team
    here = keep("mine", title="Spec")
    assert notes.links(item.id).out[0].item == here
    assert notes.links(team.id).back == ()


LONG = "A title of more signs than are kept of one " * 4


@pytest.mark.parametrize(
    ("title", "link"),
    [
        pytest.param(LONG, LONG, id="longer than titles are kept"),
        pytest.param("Caf\u00e9", "Cafe\u0301", id="an accent sent apart"),
        pytest.param("Cafe\u0301", "Caf\u00e9", id="an accent sent whole"),
    ],
)
def test_a_link_leads_to_the_title_given(keep: Keep, notes: Notes, title: str, link: str) -> None:
    meant, item = keep("meant", title=title), keep(f"see [[{link}]]")
    assert [each.item for each in notes.links(item.id).out] == [meant]
    assert [each.item for each in notes.links(meant.id).back] == [item]


def test_names_are_the_same_however_their_accents_were_sent(keep: Keep, notes: Notes) -> None:
    first = keep("one", key="Caf\u00e9", tags=("caf\u00e9", "cafe\u0301"))
    assert keep("two", key="Cafe\u0301").id == first.id
    assert first.tags == ("caf\u00e9",)


def test_types_and_categories_are_one_however_they_are_spelled(keep: Keep, notes: Notes) -> None:
    house, general = keep("rule", type="House rule"), keep("any", type="general")
    for asked in ("House Rule", " house-rule ", "HOUSE_RULE"):
        assert ids(notes.list(narrow=SearchOptions(types=(asked,)))) == [house.id]
    assert ids(notes.list(narrow=SearchOptions(types=("general",)))) == [general.id]
    one, other = keep("a", category="Re\u0301unions  d'avril"), keep("b")
    notes.edit(other.id, Changes(category="R\u00e9unions d'avril\n"))
    assert notes.counts("category") == {"R\u00e9unions d'avril": 2}
    found = notes.list(narrow=SearchOptions(category=" Re\u0301unions d'avril"))
    assert {each.id for each in found} == {one.id, other.id}


def test_a_renamed_note_keeps_its_backlinks_until_replaced(keep: Keep, notes: Notes) -> None:
    spec, item = keep("JWT", title="Spec"), keep("see [[Spec]]")
    for title in ("Other", "Third", "other"):
        notes.edit(spec.id, Changes(title=title))
        assert ids(one.item for one in notes.links(spec.id).back) == [item.id]
    assert notes.links(item.id).out[0].item.id == spec.id
    assert notes.links(spec.id).out == ()
    notes.undo(spec.id)
    assert ids(one.item for one in notes.links(spec.id).back) == [item.id]
    notes.edit(spec.id, Changes(title="Other"))
    new = keep("cookies", title="Spec")
    assert notes.links(item.id).out[0].item.id == new.id
    assert notes.links(spec.id).back == ()


def test_prompts_and_commits_lead_to_notes(world: Any, keep: Keep, notes: Notes) -> None:
    spec = keep("JWT", title="Spec")
    said = Prompt(text="build the login as [[spec|the spec]] has it, if [[ -f x ]] or [[1]] holds")
    made = Commit(hash="f" * 40, subject="Add the login", message="Add the login\n\nSee [[Spec]].")
    events = [
        Event(id=str(number), at_ms=world.tick(), client="kiro", session="s", body=body)
        for number, body in enumerate((said, made))
    ]
    world.pipeline.ingest(events, spec.project_id)
    assert [one.item.type for one in notes.links(spec.id).back] == ["commit", "turn"]
    (prompt,) = [one.item for one in notes.links(spec.id).back if one.item.type == "turn"]
    assert [link.title for link in prompt.links] == ["spec"]


def test_links_by_id_lead_both_ways(keep: Keep, notes: Notes) -> None:
    old = keep("cookies", title="Old")
    new = keep("JWT", supersedes=(old.id,))
    (out,), (back,) = notes.links(new.id).out, notes.links(old.id).back
    assert (out.kind, ids([out.item])) == ("supersedes", [old.id])
    assert (back.kind, ids([back.item])) == ("supersedes", [new.id])
    notes.forget(old.id)
    assert [one.item for one in notes.links(new.id).out] == [None]


def test_links_of_others_stay_theirs(world: Any, keep: Keep, notes: Notes) -> None:
    spec = keep("JWT", title="Spec", scope="team")
    bob: Notes = world.memory.of("bob").notes
    bob.remember(Note(content="see [[Spec]]", scope="personal", links=()))
    bob.remember(Note(content="it replaces that", scope="personal", amends=(spec.id,)))
    assert notes.links(spec.id).back == ()
    assert len(bob.links(spec.id).back) == 2


def test_what_was_captured_only_a_person_deletes_and_brings_back(notes: Notes, world: Any) -> None:
    with world.store.write() as writer:
        item = Item(id=4_000, uuid="u", kind="observation", type="commit", title="x", project_id=2)
        writer.put_items([item])

    def is_there() -> bool:
        with world.store.read() as reader:
            return reader.item(4_000) is not None

    with pytest.raises(CapturedUserOnly, match="observer forget 4000"):
        notes.forget(4_000)
    with pytest.raises(BadInput, match="is not deleted"):
        notes.undo(4_000, author="person")
    assert is_there()
    assert notes.forget("#4000", author="person")
    assert not is_there()
    with pytest.raises(CapturedUserOnly):
        notes.undo(4_000)
    assert notes.undo(4_000, author="person").deleted_ms is None
    assert is_there()
    with pytest.raises(NotFound):
        notes.get(4_000)


def test_rules_are_whole_and_in_order(keep: Keep, notes: Notes) -> None:
    first = keep("Never push", type="rule", title="Push")
    long = keep("x" * 100, type="rule", title="Long")
    last = keep("Run tests", type="rule", title="Tests", scope="team")
    assert notes.rules(2, most_chars=1_000) == ([first, long, last], 0)
    assert notes.rules(2, most_chars=60) == ([first, last], 1)
    assert notes.rules(3, most_chars=1_000) == ([last], 0)
    assert notes.rules(None, most_chars=1_000) == ([last], 0)


def test_rules_of_agents_do_not_push_approved_ones_out(world: Any) -> None:
    rule = world.keep("Never push", type="rule")
    flood = [
        replace(rule, id=rule.id + n, uuid=f"{n}", approval="provisional", created_ms=n + 2**41)
        for n in range(1, 1_002)
    ]
    with world.store.write() as writer:
        writer.put_items(flood)
    assert world.notes.rules(2, most_chars=1_000) == ([rule], 0)


def test_rules_hold_while_approved_current_and_not_replaced(keep: Keep, notes: Notes) -> None:
    notes.remember(Note(content="Obey me", type="rule"), project="app")
    keep("Was once", type="rule", expires_ms=5)
    old = keep("Use tabs", type="rule")
    with pytest.raises(RuleUserOnly):
        notes.remember(Note(content="No tabs", type="rule", supersedes=(old.id,)), project="app")
    assert notes.rules(2, most_chars=1_000) == ([old], 0)
    new = keep("Use spaces", type="rule", supersedes=(old.id,))
    assert ids(notes.rules(2, most_chars=1_000)[0]) == [new.id]
