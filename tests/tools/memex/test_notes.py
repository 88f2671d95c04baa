"""The tools about notes as their document says, asked by a real client over the real pump."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from observer.core.model import Item
from observer.memory.api import Memory
from observer.notes.signals import Hypothesis
from observer.notes.values import Note
from observer.tools.registry import tools_of
from tests.tools.conftest import defaults

Call = Callable[..., list[Any]]
FIELDS = "id title layer category tags project created_at"
TOOLS = (
    "save_note search_notes list_notes list_tags list_folders get_note update_note delete_note"
    " get_signals update_signal_status list_inferences get_inference mint_inference"
)
READING = {"search_notes", "get_note", "get_signals", "get_inference"}


def save(title: str, content: str = "", **fields: Any) -> tuple[str, dict[str, Any]]:
    return "save_note", {"title": title, "content": content or title, "layer": "past"} | fields


def keep(memory: Memory, content: str, **fields: Any) -> Item:
    """Remember as the person does, in another project."""
    note = Note(content=content, **fields)
    return memory.notes.remember(note, project="other", author="person").item


def test_the_thirteen_tools_are_offered_as_documented(ask: Any) -> None:
    listed = ask("memex", Client.list_tools).tools
    assert " ".join(tool.name for tool in listed) == TOOLS
    assert [defaults(tool).get("limit") for tool in listed[1:3]] == [10, 20]
    for tool in listed:
        is_reading = tool.name in READING or tool.name.startswith("list_")
        assert tool.annotations.read_only_hint == is_reading
        assert tool.annotations.destructive_hint == (tool.name == "delete_note")
        assert len(tool.description) < 2048
    save_note = listed[0]
    layer = save_note.input_schema["properties"]["layer"]
    assert sorted(layer["enum"]) == ["past", "rule", "state"]
    assert "in doubt" in layer["description"]
    assert "layer" in save_note.input_schema["required"]
    assert "list_tags" in save_note.description
    assert "[[Title]]" in save_note.description


def test_a_saved_note_is_named_and_goes_to_the_clients_project(call: Call, memory: Memory) -> None:
    (saved,) = call(save("Auth", "we use cookies", folder="/work/auth/", tags=["#Security"]))
    item = memory.notes.get(saved.data["id"])
    assert saved.text == f'Saved note #{item.id}: "Auth"'
    assert (item.category, item.tags, item.layer) == ("work/auth", ("security",), "past")
    assert (item.project_id, item.author, item.metadata) == (2, "agent", '{"source":"claude-code"}')
    assert " ".join(saved.data) == "id title layer is_new similar flashbacks dangling"


def test_a_similar_note_is_warned_of_and_the_note_is_saved(call: Call) -> None:
    first, second = call(
        save("One", "cookies last for an hour on all of our servers"),
        save("Two", "cookies last for one hour on all of our servers"),
    )
    assert first.data["similar"] == []
    assert [near["id"] for near in second.data["similar"]] == [first.data["id"]]
    assert "⚠️ Similar notes exist; prefer update_note" in second.text
    assert f'- #{first.data["id"]} "One" (' in second.text
    assert second.data["is_new"]


def test_the_same_words_are_the_same_note_and_a_link_to_nothing_is_shown(call: Call) -> None:
    saved, other, again = call(save("Plan", "see [[Auth]]"), save("Auth"), save("Auth"))
    assert (again.data["id"], again.data["is_new"]) == (other.data["id"], False)
    assert again.text.startswith("These words are known already: note #")
    assert saved.data["dangling"] == ["Auth"]
    assert "No note is called so yet:\n- [[Auth]]" in saved.text
    assert other.data["dangling"] == []


def test_a_flashback_has_an_age_and_a_match(call: Call, memory: Memory, clock: Any) -> None:
    old = keep(memory, "cookies crumble", title="Bakery", category="shop")
    clock.wait(124)
    saved, found = call(
        save("Sessions", "cookies expire", folder="work"), ("search_notes", {"query": "sessions"})
    )
    shown = (
        "🔗 Flashback, older notes from a different context:\n"
        f'- 124 days ago: #{old.id} "Bakery" (100% match)'
    )
    memory_ = {"id": old.id, "title": "Bakery", "match": 1.0, "days_ago": 124}
    for answer in (saved, found):
        assert answer.text.endswith(shown)
        assert answer.data["flashbacks"] == [memory_]


def test_an_agents_rule_waits_for_a_person(call: Call, memory: Memory) -> None:
    (saved,) = call(save("Tabs", "Never use tabs", layer="rule"))
    assert saved.data["approval"] == "provisional"
    assert f"observer note approve {saved.data['id']}" in saved.text
    assert memory.notes.rules(2, most_chars=1_000) == ([], 0)


def test_a_search_finds_notes_of_all_projects_and_no_inference(call: Call, memory: Memory) -> None:
    roses = keep(memory, "garden of roses")
    guess = Hypothesis(title="t", summary="garden of guesses", evidence=(roses.id,))
    memory.inferences.mint(guess, is_confirmed=True)
    _, found = call(save("Garden"), ("search_notes", {"query": "garden"}))
    assert {note["project"] for note in found.data["notes"]} == {"my-api", "other"}
    assert " ".join(found.data["notes"][0]) == f"{FIELDS} snippet score"
    assert all("guesses" not in note["snippet"] for note in found.data["notes"])


NARROW: tuple[tuple[dict[str, str], set[str]], ...] = (
    ({"category": "work/api"}, {"b"}),
    ({"tag": "#X"}, {"a"}),
    ({"date_from": "2026-09-25"}, {"b"}),
    ({"date_to": "2026-09-21"}, {"a"}),  # to the end of the day
    ({"date_to": "2026-09-20"}, set()),
    ({"date_from": "2026-09-21", "date_to": "2026-10-01"}, {"a", "b"}),
    ({"date_to": "2026-09-21T00:00:00"}, set()),
)


def test_a_search_is_narrowed(memory: Memory, clock: Any) -> None:
    keep(memory, "a train", title="a", tags=("x",), category="work")
    clock.wait(7)
    keep(memory, "another train", title="b", category="work/api")
    tool = tools_of(("memex",), memory, str)["search_notes"]
    for narrow, titles in NARROW:
        found = tool.call({"query": "train", **narrow}).result["notes"]
        assert {hit["title"] for hit in found} == titles, narrow


def test_a_search_says_what_it_cannot_do(call: Call) -> None:
    nothing, date = call(
        ("search_notes", {"query": "zebra"}),
        ("search_notes", {"query": "x", "date_from": "last April"}),
    )
    assert nothing.text == "No notes found."
    assert not nothing.is_error
    assert "is not a time" in date.text
    assert date.is_error


def test_notes_tags_and_folders_are_listed(call: Call) -> None:
    *_, notes, newest, tags, folders = call(
        save("One", tags=["a", "b"], folder="work"),
        save("Two", tags=["b"], folder="work"),
        save("Three", folder="home"),
        ("list_notes", {}),
        ("list_notes", {"limit": 1}),
        ("list_tags", {}),
        ("list_folders", {}),
    )
    assert [note["title"] for note in notes.data["notes"]] == ["Three", "Two", "One"]
    assert " ".join(notes.data["notes"][0]) == FIELDS
    assert [note["title"] for note in newest.data["notes"]] == ["Three"]
    assert (tags.text, folders.text) == ("- b (2)\n- a (1)", "- work (2)\n- home (1)")
    assert tags.data["counts"] == [{"name": "b", "count": 2}, {"name": "a", "count": 1}]


def test_a_note_is_returned_whole_with_what_refers_to_it(call: Call) -> None:
    spec, plan, found = call(
        save("Spec", "we use cookies\nfor now", tags=["auth"], folder="work"),
        save("Plan", "after [[spec]]"),
        ("get_note", {"id": 4}),
    )
    assert spec.data["id"] == 4
    note = found.data["note"]
    assert " ".join(note) == f"{FIELDS} content updated_at referenced_by amended_by"
    assert note["content"] == "we use cookies\nfor now"
    assert note["referenced_by"] == [{"id": plan.data["id"], "title": "Plan"}]
    assert found.text.startswith('#4 "Spec" · past · work · tags: auth · my-api · 2026-09-21')
    assert found.text.endswith(f'Referenced by:\n- #{plan.data["id"]} "Plan"')


def test_what_is_deleted_makes_no_signal_of_a_note_that_nobody_can_change(call: Call) -> None:
    *_, signals = call(
        save("Spec", layer="state"),
        save("Plan", "after [[Spec]]"),
        save("Now", "like [[Spec]]", layer="state"),
        ("delete_note", {"id": 4}),
        ("get_signals", {}),
    )
    assert ['#12 "Now"' in one["reasoning"] for one in signals.data["signals"]] == [True]


def test_the_past_is_amended_instead_of_changed(call: Call, memory: Memory) -> None:
    past, refused = call(save("Spec"), ("update_note", {"id": 4, "content": "other"}))
    assert refused.is_error
    assert refused.data == {
        "id": past.data["id"],
        "updated": False,
        "error": "PAST_IMMUTABLE",
        "suggestion": {
            "action": "save_note",
            "title": "[Amendment] Spec",
            "link": "[[Spec]]",
            "layer": "past",
        },
    }
    assert 'save_note with title "[Amendment] Spec", layer past' in refused.text
    amended, found = call(save("[Amendment] Spec", "not so: see [[Spec]]"), ("get_note", {"id": 4}))
    assert found.data["note"]["amended_by"] == [
        {"id": amended.data["id"], "title": "[Amendment] Spec"}
    ]
    assert found.data["note"]["content"] == "Spec"
    assert "Amended by:\n" in found.text


@pytest.mark.parametrize(
    "title", ["Issue #12", "[Amendment] Spec", "Why " + "so long " * 30], ids=len
)
def test_a_suggestion_that_is_followed_amends(call: Call, memory: Memory, title: str) -> None:
    past, refused = call(save(title), ("update_note", {"id": 4, "content": "other"}))
    shown = refused.data["suggestion"]
    amended, found = call(save(shown["title"], f"see {shown['link']}"), ("get_note", {"id": 4}))
    assert [note["id"] for note in found.data["note"]["amended_by"]] == [amended.data["id"]]
    assert (past.data["id"], amended.data["dangling"]) == (4, [])


@pytest.mark.parametrize("scope", ["project", "personal"])
def test_an_amendment_stands_where_the_note_does(call: Call, memory: Memory, scope: str) -> None:
    there = keep(memory, "cookies", title="Spec", layer="past", scope=scope)
    (amended,) = call(save("[Amendment] Spec", "not so: see [[Spec]]"))
    item = memory.notes.get(amended.data["id"])
    assert (item.project_id, item.scope, item.owner) == (there.project_id, scope, there.owner)
    assert amended.data["dangling"] == []


def test_a_rule_is_for_the_user_to_change(call: Call, memory: Memory) -> None:
    for author in ("person", "agent"):
        note = Note(content=f"No tabs, says the {author}", type="rule")
        rule = memory.notes.remember(note, author=author).item
        (refused,) = call(("update_note", {"id": rule.id, "content": "tabs"}))
        assert refused.is_error
        assert refused.data == {"id": rule.id, "updated": False, "error": "RULE_USER_ONLY"}
        assert memory.notes.get(rule.id).narrative == rule.narrative


def test_a_state_is_changed_and_its_tags_are_replaced(call: Call, memory: Memory) -> None:
    """An empty title is left out, as models mean it: links lead to the note by its title."""
    _, nothing, changed, _ = call(
        save("Plan", "go by car", layer="state", tags=["a", "b"]),
        ("update_note", {"id": 4, "title": ""}),
        ("update_note", {"id": 4, "title": "", "content": "go by train", "tags": ["c"]}),
        ("update_note", {"id": 4, "title": "Trip"}),
    )
    assert nothing.is_error
    assert changed.text == 'Updated note #4 "Plan"'
    item = memory.notes.get(4)
    assert (item.title, item.narrative, item.tags) == ("Trip", "go by train", ("c",))
    assert len(memory.notes.history(4)) == 3


def test_a_note_is_deleted_once_and_the_past_may_go_too(call: Call, memory: Memory) -> None:
    numbers = (4, -1, 0, 2**53 - 1)
    tools = ("get_note", "update_note", "delete_note")
    _, deleted, *missing = call(
        save("Spec"),
        ("delete_note", {"id": 4}),
        *((tool, {"id": number}) for number in numbers for tool in tools),
    )
    assert (deleted.text, deleted.data["deleted"]) == ('Deleted note #4 "Spec"', True)
    assert [one.text for one in missing] == [
        f"Note #{number} not found." for number in numbers for _ in tools
    ]
    assert not any(one.is_error for one in missing)
    assert memory.notes.undo(4).title == "Spec"


def test_only_notes_are_deleted_and_no_approved_rule(call: Call, memory: Memory) -> None:
    rule = keep(memory, "No tabs", type="rule")
    with memory._store.write() as writer:
        writer.put_items(
            [Item(id=4_000, uuid="u", kind="observation", type="command", title="x", project_id=2)]
        )
    refused, missing = call(("delete_note", {"id": rule.id}), ("delete_note", {"id": 4_000}))
    assert refused.is_error
    assert "a person approved" in refused.text
    assert missing.text == "Note #4000 not found."
