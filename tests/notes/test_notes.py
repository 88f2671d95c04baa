from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.clock import LAST_MS
from observer.core.config import Settings
from observer.core.errors import (
    Ambiguous,
    BadInput,
    DaemonUnavailable,
    NotFound,
    PastImmutable,
    RuleUserOnly,
    SecretRefused,
)
from observer.core.events import Reference
from observer.core.model import Item
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.notes.notes import Notes
from observer.notes.values import Changes, Note, check
from observer.observations.note_reducer import CONTENT_CHARS
from tests.support import memory_over, pipeline_over

from .conftest import Keep


def test_a_note_has_what_it_was_given(keep: Keep) -> None:
    item = keep("Use JWT", tags=("#Auth", "API", "auth"), metadata={"by": ["x"]}, layer="past")
    assert (item.tags, item.metadata, item.layer) == (("auth", "api"), '{"by":["x"]}', "past")


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        pytest.param({"content": "new words"}, "narrative", "new words", id="content"),
        pytest.param({"title": "New"}, "title", "New", id="title"),
        pytest.param({"type": "constraint"}, "type", "constraint", id="type"),
        pytest.param({"category": "c"}, "category", "c", id="category"),
        pytest.param({"confidence": 0.9}, "confidence", 0.9, id="confidence"),
        pytest.param({"layer": "state"}, "layer", "state", id="layer"),
        pytest.param({"tags": ("b",)}, "tags", ("b",), id="tags"),
        pytest.param({"expires_ms": 5}, "expires_ms", 5, id="expiry"),
        pytest.param({"expires_ms": 0}, "expires_ms", None, id="never"),
        pytest.param({"metadata": {"a": 1}}, "metadata", '{"a":1}', id="metadata"),
        pytest.param({"metadata": {}}, "metadata", "", id="no metadata"),
    ],
)
def test_an_edit_changes_its_field_alone(
    keep: Keep, notes: Notes, changes: dict[str, Any], field: str, value: object
) -> None:
    item = keep("old words", title="Old", tags=("a",), expires_ms=9, metadata={"z": 0})
    after = notes.edit(item.id, Changes(**changes))
    words = {"concepts", "content_hash", "discovery_tokens"}
    follow = {"narrative": words, "category": {"subtitle"}, "tags": words}
    follow["title"] = {*words, "links"}  # it is found by the old one
    moved = {n for n in item.__struct_fields__ if getattr(item, n) != getattr(after, n)}
    assert getattr(after, field) == value
    assert moved - {"author", "updated_ms"} <= {field} | follow.get(field, set())


def test_no_agent_rewrites_the_past_or_approves_its_rule(keep: Keep, notes: Notes) -> None:
    item = keep("Use JWT", type="decision", title="Auth")
    with pytest.raises(PastImmutable, match=rf"\[Amendment\] Auth' that amends {item.id}"):
        notes.edit(item.id, Changes(content="Use cookies"))
    assert notes.edit(item.id, Changes(content="x"), author="person").narrative == "x"
    item = notes.remember(Note(content="Never push", type="rule")).item
    assert item.approval == "provisional"
    with pytest.raises(RuleUserOnly):
        notes.approve(item.id, author="agent")
    assert notes.approve(item.id, author="person").approval == "approved"


@pytest.mark.parametrize(
    "attack",
    [
        lambda notes, item: notes.edit(item.id, Changes(content="Always push")),
        lambda notes, item: notes.link(item.id, item.id),
        lambda notes, item: notes.unlink(item.id, item.id),
        lambda notes, _: notes.remember(Note(content="Push", key="push"), project="app"),
        lambda notes, item: notes.forget(item.id),
        lambda notes, item: notes.undo(item.id),
    ],
    ids=["content", "links", "no links", "its key", "forget", "undo"],
)
def test_no_agent_changes_an_approved_rule(
    keep: Keep, notes: Notes, attack: Callable[[Notes, Item], object]
) -> None:
    item = keep("Never push", type="rule", key="push")
    assert item.approval == "approved"
    with pytest.raises(RuleUserOnly):
        attack(notes, item)
    assert notes.get(item.id) == item


@pytest.mark.parametrize(
    ("before", "added", "kept"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}, id="both"),
        pytest.param({"a": 1}, None, {"a": 1}, id="none added"),
        pytest.param(None, {"a": 1}, {"a": 1}, id="none before"),
        pytest.param(None, None, None, id="none at all"),
        pytest.param({"a": "x" * 9000}, {"b": "y" * 9000}, {"b": "y" * 9000}, id="too long"),
    ],
)
def test_metadata_shown_again_adds_to_that_of_before(
    keep: Keep, before: dict[str, Any] | None, added: dict[str, Any] | None, kept: object
) -> None:
    keep("Use Redis", metadata=before)
    assert json.loads(keep("Use Redis", metadata=added).metadata or "null") == kept


def test_the_same_words_again_add_to_the_note(keep: Keep, notes: Notes) -> None:
    first = keep("Tests need Redis", title="Redis", key="redis", tags=("a",))
    again = notes.remember(
        Note(content="Tests need  Redis", type="constraint", tags=("b",)), project="app"
    )
    assert (again.updated, again.item.id, again.similar) == (True, first.id, ())
    assert (again.item.tags, again.item.title, again.item.key) == (("a", "b"), "Redis", "redis")
    assert again.item.type == "constraint"


def test_what_is_nearly_the_same_and_links_to_nothing_are_named(keep: Keep, notes: Notes) -> None:
    first = keep("All tests need a running Redis on port 6379")
    said = notes.remember(
        Note(content="The tests all need a running Redis on port 6379"), project="app"
    )
    assert [one.item.id for one in said.similar] == [first.id]
    assert not said.updated
    keep("x", title="Known")
    said = notes.remember(Note(content="see [[known]] and [[Unknown]]"), project="app")
    assert said.dangling == ("Unknown",)


def test_an_excluded_folder_is_named(world: Any, tmp_path: Path) -> None:
    world.pipeline = pipeline_over(
        world.store,
        Spool(tmp_path / "spool"),
        world.tick,
        settings=Settings(exclude=(str(tmp_path),)),
    )
    with pytest.raises(BadInput, match=f"nothing is recorded of {tmp_path}: the setting exclude"):
        world.notes.remember(Note(content="Use JWT"), folder=str(tmp_path))


NONSENSE: dict[str, list[dict[str, Any]]] = {
    "content is": [{"content": each} for each in ("", " \n", "\x1b\0", "\u200b", "x" * 70_000)],
    "half a character": [{"content": "half \ud800"}, {"title": "\ud800"}],
    "confidence": [{"confidence": 1.5}],
    "tags": [{"tags": ("t",) * 33}],
    "links": [{"links": (Reference(item=1),) * 101}],
    "metadata is": [{"metadata": {"a": each}} for each in (object(), "b" * 20_000, "\ud800")],
    "2,000 characters": [{name: "t" * 2_001} for name in ("title", "key", "category")]
    + [{"tags": ("t" * 2_001,)}],
    # What is taken out of JSON as text leaves none, and no list with that note could be read.
    "private": [
        {"metadata": {"a": "<private>"}},
        {"metadata": {"a": "<private>", "b": ["</private>"]}},
        {"key": "<private>x</private>"},
    ],
    "minted": [{"type": "Inference!"}],
    # One without a date made every list that has the note fail.
    "expire": [{"expires_ms": each} for each in (-1, LAST_MS + 1, 2**63)],
}


@pytest.mark.parametrize("reason", NONSENSE)
def test_nonsense_is_refused(reason: str) -> None:
    for fields in NONSENSE[reason]:
        with pytest.raises(BadInput, match=reason):
            check(Note(**{"content": "x"} | fields))
        if not fields.keys() & {"key", "links"}:
            with pytest.raises(BadInput, match=reason):
                check(Changes(**fields))
    check(Note(content="x", expires_ms=LAST_MS))


def test_neither_nonsense_nor_a_secret_in_an_edit_is_kept(notes: Notes, keep: Keep) -> None:
    with pytest.raises(BadInput):
        notes.remember(Note(content=" "))
    assert notes.list() == []
    with pytest.raises(SecretRefused):
        notes.edit(keep("x").id, Changes(content=SECRET))


SECRET = "ghp_" + "a1B2" * 9
ADDRESS = "https://ana:" + "tr0ub4dor" + "&3@git.acme.test/notes"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"content": SECRET}, id="content"),
        pytest.param({"content": "x", "title": SECRET}, id="title"),
        pytest.param({"content": "x", "category": SECRET}, id="category"),
        pytest.param({"content": "x", "key": SECRET}, id="key"),
        pytest.param({"content": "x", "tags": (SECRET,)}, id="tag"),
        pytest.param({"content": "x", "metadata": {"t": SECRET}}, id="metadata"),
        pytest.param({"content": "x", "metadata": {"directory": ADDRESS}}, id="directory"),
    ],
)
def test_a_secret_is_refused_by_class(notes: Notes, fields: dict[str, Any]) -> None:
    with pytest.raises(SecretRefused) as refused:
        notes.remember(Note(**fields))
    assert SECRET not in str(refused.value)
    assert "a password manager, or a file that only you read" in refused.value.hint


def test_a_vague_handle_gets_candidates_and_a_gone_one_none(keep: Keep, notes: Notes) -> None:
    item = keep("The cart uses Decimal", title="Money")
    with pytest.raises(Ambiguous, match=f"#{item.id} 'Money'"):
        notes.forget("decimal cart")
    with pytest.raises(Ambiguous, match=f"#{item.id} 'Money'"):
        notes.edit(item.uuid[:10], Changes(title="x"))
    assert notes.get(item.uuid) == notes.get(f"#{item.id}") == item
    assert [notes.forget(item.id), notes.forget(item.id)] == [True, False]


@pytest.mark.parametrize("handle", ["999999", "nothing at all", "", "()"])
def test_an_unknown_handle_is_not_found(notes: Notes, handle: str) -> None:
    with pytest.raises(NotFound):
        notes.get(handle)


def test_links_by_id_can_be_made_and_taken(keep: Keep, notes: Notes) -> None:
    old, new = keep("Use cookies"), keep("Use JWT")
    linked = notes.link(new.id, old.id, kind="Supersedes")
    assert [(link.kind, link.target) for link in linked.links] == [("supersedes", old.id)]
    assert notes.unlink(new.id, old.id, kind="amends").links == linked.links
    assert notes.unlink(new.id, old.uuid).links == ()
    item = keep(
        "Use tokens", supersedes=(old.id,), amends=(old.id,), links=(Reference(item=old.id),)
    )
    assert [(link.kind, link.target) for link in item.links] == [
        ("supersedes", old.id), ("amends", old.id), ("explicit", old.id)
    ]  # fmt: skip
    there = notes.remember(Note(content="theirs"), project="other").item
    with pytest.raises(NotFound, match="to link to"):
        keep("mine", supersedes=(there.id,))
    with pytest.raises(NotFound, match="to link to"):
        notes.link(keep("mine").id, there.id)


def test_personal_notes_of_others_do_not_exist(world: Any) -> None:
    memory: Memory = world.memory
    theirs = memory.of("bob").notes.remember(Note(content="bob's", scope="personal")).item
    assert theirs.owner == "bob"
    assert memory.notes.list() == []
    with pytest.raises(NotFound):
        memory.notes.get(theirs.id)
    assert not memory.notes.forget(theirs.id)
    assert [item.id for item in memory.of("bob").notes.list()] == [theirs.id]


def test_who_only_reads_cannot_write(world: Any) -> None:
    reading = memory_over(world.store, world.memory._index, world.tick)
    with pytest.raises(DaemonUnavailable):
        reading.notes.remember(Note(content="x"))


def test_a_note_is_unassigned_or_of_the_folder_that_is_named(notes: Notes, tmp_path: Any) -> None:
    assert notes.remember(Note(content="w")).project == "unassigned"
    folder = tmp_path / "fresh"
    folder.mkdir()
    assert notes.remember(Note(content="x"), folder=str(folder)).project == "fresh"
    assert notes.remember(Note(content="y"), folder=str(folder)).project == "fresh"
    mill = tmp_path / "mill"
    mill.mkdir()
    assert notes.remember(Note(content="oil it nightly"), project=str(mill)).project == "mill"
    with pytest.raises(NotFound):
        notes.remember(Note(content="oil it"), project=str(tmp_path / "nowhere"))


def test_no_agent_takes_back_what_a_person_changed(keep: Keep, notes: Notes) -> None:
    item = keep("Use JWT", type="decision")
    after = notes.edit(item.id, Changes(content="Use JWT, signed"), author="person")
    with pytest.raises(PastImmutable):
        notes.undo(item.id)
    assert notes.get(item.id) == after
    notes.forget(item.id)
    again = notes.undo(item.id)
    assert again.narrative == after.narrative
    notes.link(item.id, keep("x").id)
    assert notes.undo(item.id) == again
    rule = keep("Only from CI", type="rule")
    notes.edit(rule.id, Changes(layer="state", type="fact"), author="person")
    with pytest.raises(RuleUserOnly):
        notes.undo(rule.id)
    assert notes.undo(rule.id, author="person").approval == "approved"


@pytest.mark.parametrize("key", ["deploy ", "deploy\u200b", "\tdeploy"])
def test_no_agent_replaces_a_rule_by_a_spelling_of_its_key(
    keep: Keep, notes: Notes, key: str
) -> None:
    rule = keep("Only from CI", type="rule", key="deploy")
    with pytest.raises(RuleUserOnly):
        notes.remember(Note(content="From anywhere", key=key), project="app")
    assert notes.get(rule.id) == rule


@pytest.mark.parametrize(
    "fields",
    [{"title": "t" * 200, "layer": "past"}, {"title": "T ", "layer": "past"}, {"key": " k "}],
)
def test_the_same_call_again_is_the_same_note(notes: Notes, fields: dict[str, Any]) -> None:
    note = Note(content="by <private>Ana</private> and others", **fields)
    first, again = (notes.remember(note, project="app") for _ in range(2))
    assert (again.item.id, again.updated, again.similar) == (first.item.id, True, ())


def test_what_is_said_again_after_its_time_holds(world: Any, keep: Keep) -> None:
    end_ms = world.now_ms + 60_000
    assert keep("staging is down", expires_ms=end_ms).expires_ms == end_ms
    assert keep("staging is down").expires_ms == end_ms
    world.now_ms = end_ms
    assert keep("staging is down").expires_ms is None


def test_saying_it_again_makes_nothing_else_of_the_past_or_of_a_rule(notes: Notes) -> None:
    def say(content: str, author: Any = "agent", **fields: Any) -> Item:
        note = Note(content=content, **fields)
        return notes.remember(note, project="app", author=author).item

    past, rule = say("We chose JWT", type="decision"), say("No tabs", "person", type="rule")
    assert say("We chose JWT", tags=("auth",)).layer == "past"
    for again in ({"layer": "state"}, {"title": "Other"}, {"type": "preference"}):
        with pytest.raises(PastImmutable):
            say("We chose JWT", **again)
    with pytest.raises(RuleUserOnly):
        say("No tabs", layer="state")
    assert say("We chose JWT", "person", layer="state").id == past.id
    assert notes.get(rule.id).approval == "approved"


@pytest.mark.parametrize("sign", ["x", "é", "🦙"])
def test_the_longest_note_is_kept_whole(keep: Keep, notes: Notes, sign: str) -> None:
    longest, metadata = sign * CONTENT_CHARS, {"a": sign * 10_000}
    item = keep(longest, metadata=metadata)
    assert (item.narrative, msgspec.json.decode(item.metadata)) == (longest, metadata)
    other = keep("short", title="Short")
    assert notes.edit(other.id, Changes(content=longest)).narrative == longest
