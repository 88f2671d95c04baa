"""What stands nearby is shown to who writes; what is inferred, and what was settled, stays so."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from observer.core.config import Settings
from observer.core.errors import BadInput, NotFound, ObserverError, RuleUserOnly
from observer.core.model import Item, Project
from observer.core.paths import Home
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.notes.notes import Notes
from observer.notes.pairs import OpenPairs, Settlement, nearest
from observer.notes.signals import Hypothesis, Inference, Inferences
from observer.notes.values import Changes, Note, Remembered
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from tests.support import memory_over

from .conftest import HERE, Keep, World

OLD, NEW = "The staging database listens on port 5433", "Staging's database moved to port 6001"
CROWD = (
    "Invoices are sent on the first of the month",
    "The cart sums in Decimal",
    "Releases are tagged by the bot",
    "Buttons have rounded corners",
    "Logs are kept for thirty days",
)


@cache
def shipped() -> LazyModel:
    return LazyModel(find(Settings().model, Path("/none")))


class Meant(World):
    """The same with the models that ship."""

    def __init__(self, store: SqliteStore, home: Home) -> None:
        super().__init__(store, home)
        self.model = shipped()
        index = Index(Path("/nowhere"), stem=stemmer(), is_owner=False)
        index.use(self.model.id, self.model.dimensions)
        self.memory = memory_over(
            store, index, self.tick, encode=self.model.encode_patiently, record=self._record
        )

    def write(self, content: str, **fields: Any) -> Remembered:
        """Remember, with the vector that the daemon makes meanwhile."""
        kept = self.notes.remember(Note(content=content, **fields), project=HERE)
        with self.store.write() as writer:
            writer.put_vectors(self.model.id, self.model.made([kept.item]))
        return kept

    def near(self, content: str, **fields: Any) -> list[int]:
        return [one.item.id for one in self.write(content, **fields).near]

    def open(self) -> OpenPairs:
        with self.store.read() as reader:
            project: Project = next(each for each in reader.projects() if each.name == HERE)
        return self.memory.pairs.open(project, limit=20)

    def pairs(self) -> list[tuple[int, int]]:
        return [(pair.newer.id, pair.older.id) for pair in self.open().pairs]

    def settle(self, one: Item, how: Any, other: Item, **fields: Any) -> Item:
        wanted = Settlement(id=one.id, how=how, other=other.id, **fields)
        return self.memory.pairs.settle(wanted)


@pytest.fixture
def meant(tmp_path: Path, home: Home) -> Iterator[Meant]:
    store = SqliteStore(tmp_path / "meant.db")
    yield Meant(store, home)
    store.close()


@pytest.fixture
def two(meant: Meant) -> tuple[Item, Item]:
    """An older and a newer note about the same, among others."""
    for each in CROWD:
        meant.write(each)
    return meant.write(OLD).item, meant.write(NEW).item


def test_a_near_note_is_named_to_who_writes_and_no_other(meant: Meant) -> None:
    assert [meant.near(each) for each in CROWD] == [[]] * len(CROWD)
    old = meant.write(OLD).item
    assert meant.near(NEW)[:1] == [old.id]


def test_at_most_three_are_named(meant: Meant) -> None:
    for port in range(8):
        meant.write(f"The staging database of team {port} listens on port {port}")
    assert len(meant.near(OLD)) == 3


@pytest.mark.parametrize("how", ["supersedes", "amends"])
def test_what_a_note_says_of_another_is_not_asked_again(meant: Meant, how: str) -> None:
    old = meant.write(OLD).item
    assert meant.near(NEW, **{how: (old.id,)}) == []


def test_the_hint_can_be_followed_by_remembering_again(meant: Meant) -> None:
    old = meant.write(OLD).item
    first = meant.write(NEW)
    again = meant.write(NEW, supersedes=(first.near[0].item.id,))
    assert (again.item.id, again.near) == (first.item.id, ())
    assert [each.reason for each in meant.notes.get(old.id).validity] == ["superseded"]


def test_what_was_voided_or_is_over_is_not_named(meant: Meant) -> None:
    old = meant.write(OLD).item
    mid = meant.write(NEW, supersedes=(old.id,)).item
    meant.write(f"{OLD} until noon", expires_ms=1)
    assert meant.near("Staging's database is on port 7000 by now") == [mid.id]


def test_near_notes_of_others_and_elsewhere_are_not_named(meant: Meant) -> None:
    meant.notes.remember(Note(content=OLD), project="other")
    meant.write(OLD, scope="personal")
    assert meant.near(NEW) == []


@pytest.mark.parametrize(
    ("how", "said"), [("replaces", ["superseded"]), ("amends", ["amended"]), ("both stand", [])]
)
def test_what_is_settled_holds_and_comes_not_back(
    meant: Meant, two: tuple[Item, Item], how: str, said: list[str]
) -> None:
    old, new = two
    assert (meant.pairs(), meant.open().total) == ([(new.id, old.id)], 1)
    assert meant.settle(new, how, old).id == new.id
    assert [each.reason for each in meant.notes.get(old.id).validity] == said
    assert meant.pairs() == []
    meant.pipeline.rebuild()
    assert meant.pairs() == []
    assert meant.notes.near(meant.notes.get(new.id)) == ()


@pytest.mark.parametrize(
    ("how", "content"), [("merge", " "), ("replaces", "words"), ("both stand", "words")]
)
def test_only_a_merge_has_words(
    meant: Meant, two: tuple[Item, Item], how: str, content: str
) -> None:
    with pytest.raises(BadInput, match="merge needs content"):
        meant.settle(two[1], how, two[0], content=content)


def test_a_pair_is_of_two_notes_with_a_meaning(meant: Meant, two: tuple[Item, Item]) -> None:
    with pytest.raises(BadInput, match="with itself"):
        meant.settle(two[0], "both stand", two[0])
    with pytest.raises(NotFound):
        meant.memory.pairs.settle(Settlement(id=two[0].id, how="amends", other=9_999))
    meant.notes.remember(Note(content="Not embedded yet"), project=HERE)
    assert meant.open().degraded == "1 note not compared: no meaning yet"


def test_an_agent_replaces_no_rule_of_a_person(meant: Meant) -> None:
    rule = meant.notes.remember(Note(content=OLD, type="rule"), project=HERE, author="person").item
    new = meant.write(NEW).item
    with pytest.raises(RuleUserOnly):
        meant.settle(new, "replaces", rule)


def test_near_notes_stand_together_until_merged(meant: Meant, two: tuple[Item, Item]) -> None:
    old, new = two
    asked = "which port does the staging database listen on"
    found = [hit.item.id for hit in meant.memory.recall(asked, project=HERE, limit=2).hits]
    assert found == [new.id, old.id]
    both = meant.settle(new, "merge", old, content="Staging: database on 6001, was 5433")
    assert {link.target for link in both.links} == {new.id, old.id}
    for each in two:
        assert [one.target for one in meant.notes.get(each.id).validity] == [both.id]
    assert meant.pairs() == []


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


def test_only_what_a_person_and_notes_bear_is_kept(keep: Keep, inferences: Inferences) -> None:
    wanted = Hypothesis(title="t", summary="s", evidence=(keep("x").id,))
    with pytest.raises(BadInput, match="a person has to approve"):
        inferences.mint(wanted, is_confirmed=False)
    assert inferences.list() == []
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


def test_an_inference_is_stale_by_its_notes(
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
    notes.edit(one.id, Changes(title="Cookies", tags=("auth",)))
    assert inferences.get(made.item.id).status == "active"


def test_an_inference_mints_its_signal(world: Any, keep: Keep, inferences: Inferences) -> None:
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


def test_an_inference_is_found_by_no_search_and_leaves_notes_alone(
    world: Any, keep: Keep, inferences: Inferences, notes: Notes
) -> None:
    made = mint(inferences, keep("cookies"), summary="zebra")
    assert world.memory.search("zebra").hits == ()
    assert world.memory.recall("zebra", project="app").hits == ()
    assert made.item.kind == "inference"
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
def test_a_hypothesis_is_checked(
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


def test_pairs_are_compared_again_only_once_a_note_changed(
    meant: Meant, two: tuple[Item, Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def counting(vectors: Any, *rest: Any, **named: Any) -> Any:
        compared.append(len(vectors))
        return nearest(vectors, *rest, **named)

    monkeypatch.setattr("observer.notes.pairs.nearest", counting)
    old, new = two
    assert [meant.pairs() for _ in range(3)] == [[(new.id, old.id)]] * 3
    assert compared == [7]
    meant.notes.forget(old.id, author="person")
    assert meant.pairs() == []
    meant.notes.undo(old.id, author="person")
    with meant.store.write() as writer:
        writer.put_vectors(meant.model.id, meant.model.made([old]))
    assert meant.pairs() == [(new.id, old.id)]
    assert compared == [7, 6, 7]
    meant.settle(new, "both stand", old)
    assert meant.pairs() == []
    assert compared == [7, 6, 7]
    with meant.store.write() as writer:  # as a purge does, which leaves no change behind
        writer.delete_items([new.id])
    assert (meant.pairs(), compared) == ([], [7, 6, 7, 6])
