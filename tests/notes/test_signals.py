"""Signals: over a real store, their neighbours, and detectors on corpora of known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from observer.core.errors import NotFound
from observer.core.model import Item, Link, NoteHeader
from observer.notes import pairs as pairs_module
from observer.notes import signals as signals_module
from observer.notes.notes import Notes
from observer.notes.pairs import NeighbourPairs, NeighbourQuery, Rows, Vectors, nearest
from observer.notes.signals import DAY_MS, DETECTORS, Corpus, Signal, Signals, detect
from observer.notes.values import Changes, Note, signal_id

from .conftest import Keep


@pytest.fixture
def signals(world: Any) -> Signals:
    """The signals of a memory whose notes mean what a test says that they mean."""
    world.memory._index.use("hot", 4)
    found: Signals = world.memory.signals
    return found


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Corpus]:
    """Every corpus that was looked at."""
    seen: list[Corpus] = []
    detect = signals_module.detect
    monkeypatch.setattr(
        signals_module, "detect", lambda corpus: (seen.append(corpus), detect(corpus))[1]
    )
    return seen


def mean(world: Any, subject: int, *items: Item) -> None:
    """Let all of these notes say the same."""
    vector = (np.eye(4, dtype=np.int8)[subject] * 127).tobytes()
    with world.store.write() as writer:
        writer.put_vectors("hot", {item.id: vector for item in items})


def shown(signals: Signals, **asked: Any) -> list[str]:
    return [signal.text for signal in signals.list(**asked).signals]


def test_a_signal_goes_with_its_reason_or_is_back(keep: Keep, signals: Signals, world: Any) -> None:
    assert shown(signals) == []
    item = keep("see [[Spec]]")
    assert shown(signals) == [
        f'#{item.id} "see [[Spec]]" links to [[Spec]], but no note is called so'
    ]
    keep("JWT", title="Spec")
    assert shown(signals) == []
    keep("go is fast", tags=("go",))
    world.now_ms += 200 * DAY_MS
    for n in range(3):
        keep(f"go again {n}", tags=("go",))
    assert shown(signals)[0].startswith("the tag 'go' is back after 200 days: 3 notes in two weeks")


def test_meanings_come_from_the_index(world: Any, keep: Keep, signals: Signals) -> None:
    state = keep("The API is stable", layer="state")
    past = [keep(f"changed the API {n}", layer="past") for n in range(3)]
    assert "no meaning yet" in signals.list().degraded
    mean(world, 0, state, *past)
    (signal,) = signals.list().signals
    assert (signal.type, signal.evidence[0]) == ("stale_state", state.id)
    assert signals.list().degraded == ""
    assert signals.list(type_="tag_burst").signals == ()


@pytest.mark.parametrize("status", ["dismissed", "snoozed"])
def test_what_somebody_made_of_a_signal_sticks(
    world: Any, keep: Keep, notes: Notes, signals: Signals, status: Any
) -> None:
    item = keep("see [[Spec]]")
    (signal,) = signals.list().signals
    assert signals.triage(signal.id, status).status == status
    assert signals.list().signals == ()
    notes.edit(item.id, Changes(content="look at [[Spec]]"))
    assert signals.list().signals == ()
    (kept,) = signals.list(status=status).signals
    assert (kept.id, kept.status) == (signal.id, status)
    world.pipeline.rebuild()
    assert [s.id for s in signals.list(status=status).signals] == [signal.id]
    signals.triage(signal.id, "new")
    assert [s.id for s in signals.list().signals] == [signal.id]


def test_a_judged_signal_outlives_its_reason(keep: Keep, notes: Notes, signals: Signals) -> None:
    item = keep("see [[Spec]]")
    (signal,) = signals.list().signals
    signals.triage(signal.id, "snoozed")
    notes.forget(item.id)
    (kept,) = signals.list(status="snoozed").signals
    assert kept == signals.get(signal.id)
    assert kept.text == signal.text
    signals.triage(signal.id, "new")
    with pytest.raises(NotFound):
        signals.get(signal.id)


def test_nothing_is_looked_at_while_no_note_changes(
    world: Any, keep: Keep, signals: Signals, looked: list[Corpus]
) -> None:
    keep("see [[Spec]]")
    (signal,) = signals.list().signals
    signals.list(status="snoozed")
    signals.triage(signal.id, "snoozed")
    signals.waiting()
    with world.store.write() as writer:
        writer.put_items(
            [Item(id=4_000, uuid="u", kind="observation", type="command", title="ls", project_id=2)]
        )
    signals.list()
    assert len(looked) == 1
    keep("another")
    signals.list()
    world.pipeline.rebuild()
    signals.list()
    assert len(looked) == 3


def test_waiting_signals_are_counted_where_it_takes_no_time(
    keep: Keep, signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("see [[Spec]] and [[Plan]]")
    monkeypatch.setattr(signals_module, "LIGHT", 0)
    assert signals.waiting() == 0
    monkeypatch.undo()
    assert signals.waiting() == 2
    monkeypatch.setattr(signals_module, "LIGHT", 0)
    keep("see [[Another]]")
    assert signals.waiting() == 2
    signals.triage(signals.list().signals[0].id, "snoozed")
    assert signals.waiting() == 2


def test_signals_are_for_who_may_see_their_notes(world: Any, keep: Keep, signals: Signals) -> None:
    keep("see [[Spec]]", scope="personal")
    bob = world.memory.of("bob")
    bob.notes.remember(Note(content="see [[Plan]]", scope="personal"))
    (mine,), (theirs,) = signals.list().signals, bob.signals.list().signals
    bob.signals.triage(theirs.id, "dismissed")
    assert "Spec" in mine.text
    assert "Plan" in theirs.text
    assert signals.list(status="dismissed").signals == ()
    with pytest.raises(NotFound):
        signals.triage(theirs.id, "dismissed")


LEAST = 0.9


def random_vectors(count: int, *, subjects: int, noise: float) -> Vectors:
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(subjects, 64))
    drawn = centres[rng.integers(subjects, size=count)] + noise * rng.normal(size=(count, 64))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def pairs(near: NeighbourPairs) -> set[tuple[int, int]]:
    return set(zip(near.sources.tolist(), near.targets.tolist(), strict=True))


def test_each_has_its_nearest_in_order_and_nothing_none() -> None:
    vectors = random_vectors(300, subjects=20, noise=0.3)
    (near,) = nearest(vectors, [NeighbourQuery(3)], least=LEAST)
    cosines = vectors @ vectors.T - 2 * np.eye(300, dtype=np.float32)
    for row in range(300):
        expected = np.sort(cosines[row][cosines[row] >= LEAST])[::-1][:3]
        assert near.cosines[near.sources == row] == pytest.approx(expected, abs=1e-4)
    (near,) = nearest(np.zeros((0, 4), np.float32), [NeighbourQuery(8)], least=LEAST)
    assert len(near.sources) == 0


@pytest.mark.parametrize("crowd", [pairs_module.CROWD, 4], ids=["few", "a crowd"])
def test_of_equals_those_closest_by_come_first(monkeypatch: pytest.MonkeyPatch, crowd: int) -> None:
    monkeypatch.setattr(pairs_module, "CROWD", crowd)
    same = np.tile(np.eye(1, 4, dtype=np.float32), (30, 1))
    (near,) = nearest(same, [NeighbourQuery(2)], least=LEAST)
    assert near.targets[near.sources == 10].tolist() == [9, 11]


def test_a_kind_of_neighbours_is_chosen_among_all() -> None:
    def only_larger(sources: Rows, targets: Rows) -> np.ndarray:
        return targets > sources + 1

    same = np.tile(np.eye(1, 4, dtype=np.float32), (6, 1))
    every, larger = nearest(same, [NeighbourQuery(1), NeighbourQuery(1, only_larger)], least=LEAST)
    assert larger.targets[larger.sources == 2].tolist() == [4]
    assert every.targets[every.sources == 2].tolist() == [1]


NOW_MS = 1_790_000_000_000


def sketch(number: int, *, age: float = 0, **fields: Any) -> NoteHeader:
    """Return a note that is so many days old."""
    at_ms = NOW_MS - round(age * DAY_MS)
    given = {"title": f"note {number}", "project_id": 2, "layer": "state", "tags": (), "links": ()}
    given |= {"created_ms": at_ms, "updated_ms": at_ms} | fields
    return NoteHeader(id=number, **given)  # type: ignore[arg-type] # a test's own fields


def corpus(*notes: NoteHeader, about: dict[int, int] | None = None) -> Corpus:
    """Return notes that are each about one thing: those about the same are at no distance."""
    subjects = about or {}
    ids = np.array(sorted(subjects), np.int64)
    vectors = np.eye(1 + max(subjects.values(), default=0), dtype=np.float32)
    meant = vectors[[subjects[number] for number in ids.tolist()]]
    return Corpus(notes, ids, meant, now_ms=NOW_MS)


def found(type_: str, of: Corpus) -> list[Signal]:
    return list(DETECTORS[type_](of))


# --- hidden arcs ---------------------------------------------------------------------------------


def arc(count: int, *, days: int, **fields: Any) -> Corpus:
    """Return that many notes about one thing, spread evenly over some days."""
    notes = [
        sketch(n, age=days - days * (n - 1) / (count - 1), **fields) for n in range(1, count + 1)
    ]
    return corpus(*notes, about=dict.fromkeys(range(1, count + 1), 0))


@pytest.mark.parametrize(
    ("count", "days", "is_arc"),
    [
        pytest.param(4, 180, True, id="as-small-and-short-as-can-be"),
        pytest.param(3, 400, False, id="too-few"),
        pytest.param(5, 179, False, id="too-short"),
        pytest.param(12, 400, True, id="as-large-as-can-be"),
        pytest.param(13, 400, False, id="a-whole-subject"),
    ],
)
def test_an_arc_is_a_few_notes_over_a_long_time(count: int, days: int, *, is_arc: bool) -> None:
    signals = found("hidden_arc", arc(count, days=days))
    assert [signal.evidence for signal in signals] == ([tuple(range(1, count + 1))] * is_arc)


def test_an_arc_is_called_by_its_commonest_tag() -> None:
    (signal,) = found("hidden_arc", arc(4, days=200, tags=("b", "auth")))
    assert signal.text.startswith("4 notes over 200 days are about 'auth' and hardly link")
    (untagged,) = found("hidden_arc", arc(4, days=200))
    assert "are about 'note 1'" in untagged.text
    assert signal.id == untagged.id == signal_id("hidden_arc", "1")


def test_what_is_linked_or_about_different_things_is_no_hidden_arc() -> None:
    linked = tuple(Link(kind="wiki", title=f"NOTE {n}") for n in range(1, 5))
    assert found("hidden_arc", arc(4, days=200, links=linked)) == []
    once = (Link(kind="explicit", target=1),)
    notes = [sketch(n, age=280 - 70 * n, links=once if n == 4 else ()) for n in range(1, 5)]
    loose = corpus(*notes, about=dict.fromkeys(range(1, 5), 0))
    assert len(found("hidden_arc", loose)) == 1
    notes = [sketch(n, age=60 * n) for n in range(1, 9)]
    assert found("hidden_arc", corpus(*notes, about={n: n for n in range(1, 9)})) == []
    two = found("hidden_arc", corpus(*notes, about={n: n % 2 for n in range(1, 9)}))
    assert sorted(signal.evidence for signal in two) == [(7, 5, 3, 1), (8, 6, 4, 2)]


# --- stale states --------------------------------------------------------------------------------


def records(count: int, **fields: Any) -> list[NoteHeader]:
    return [sketch(n, **({"age": 5, "layer": "past"} | fields)) for n in range(2, 2 + count)]


def stale(state: NoteHeader, *notes: NoteHeader) -> list[tuple[int, ...]]:
    about = dict.fromkeys([state.id, *(note.id for note in notes)], 0)
    return [s.evidence for s in found("stale_state", corpus(state, *notes, about=about))]


def test_a_state_is_stale_after_three_newer_records_about_it_here_or_everywhere() -> None:
    state = sketch(1, age=30)
    assert stale(state, *records(3)) == [(1, 2, 3, 4)]
    assert stale(state, *records(2)) == []
    assert stale(state, *records(3, age=40)) == []
    assert stale(state, *records(3, layer="state")) == []
    assert stale(sketch(1, age=30, layer="past"), *records(3)) == []
    assert stale(sketch(1, age=30, updated_ms=NOW_MS - DAY_MS), *records(3)) == []
    assert stale(state, *records(3, project_id=3)) == []
    assert stale(state, *records(3, project_id=None)) == [(1, 2, 3, 4)]
    notes = [sketch(1, age=30), *records(3)]
    assert found("stale_state", corpus(*notes, about={1: 0, 2: 0, 3: 0, 4: 1})) == []


# --- bursts of tags ------------------------------------------------------------------------------


def tagged(*ages: float) -> Corpus:
    return corpus(*(sketch(n, age=age, tags=("go",)) for n, age in enumerate(ages, start=1)))


@pytest.mark.parametrize(
    ("ages", "evidence"),
    [
        pytest.param((300, 3, 2, 1), [(4, 3, 2)], id="back-after-a-long-time"),
        pytest.param((3, 2, 1), [], id="brand-new"),
        pytest.param((300, 200, 100, 50, 3, 2, 1), [], id="steady"),
        pytest.param((300, 2, 1), [], id="too-few"),
        pytest.param((193, 13, 2, 1), [(4, 3, 2)], id="quiet-for-just-long-enough"),
        pytest.param((192, 13, 2, 1), [], id="not-quiet-long-enough"),
        pytest.param((300, 14, 2, 1), [(4, 3, 2)], id="two-weeks-exactly"),
    ],
)
def test_a_tag_bursts_after_a_silence(
    ages: tuple[float, ...], evidence: list[tuple[int, ...]]
) -> None:
    assert [signal.evidence for signal in found("tag_burst", tagged(*ages))] == evidence


def test_a_burst_is_the_same_as_long_as_the_silence_before_it_is() -> None:
    (first,), (later,) = (
        found("tag_burst", tagged(300, 3, 2, 1)),
        found("tag_burst", tagged(300, 3, 2, 1, 0)),
    )
    assert first.id == later.id
    assert found("tag_burst", tagged(301, 3, 2, 1))[0].id != first.id


# --- dangling links ------------------------------------------------------------------------------


def links(*titles: str) -> tuple[Link, ...]:
    return tuple(Link(kind="wiki", title=title) for title in titles)


def test_a_link_dangles_once_while_no_note_here_is_called_so() -> None:
    notes = (sketch(1, links=links("Spec", "note 2", "NOTE 1")), sketch(2, title="Note 2"))
    (signal,) = found("dangling_link", corpus(*notes))
    assert signal.text == '#1 "note 1" links to [[Spec]], but no note is called so'
    assert signal.evidence == (1,)
    assert found("dangling_link", corpus(*notes, sketch(3, title="spec"))) == []
    note = sketch(1, links=links("Spec"))
    assert found("dangling_link", corpus(note, sketch(3, title="Spec", project_id=3)))
    assert not found("dangling_link", corpus(note, sketch(3, title="Spec", project_id=None)))
    assert len(detect(corpus(sketch(1, links=links("Spec", "SPEC"))))) == 1
