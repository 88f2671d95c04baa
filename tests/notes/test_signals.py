"""Signals over a real store: what sticks, what is free, and whose they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from observer.core.errors import NotFound
from observer.core.model import Item
from observer.notes import signals as module
from observer.notes.notes import Notes
from observer.notes.signal_corpus import Corpus
from observer.notes.signals import Signals
from observer.notes.values import Changes, Note

Keep = Callable[..., Item]
DAY_MS = 86_400_000


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
    detect = module.detect
    monkeypatch.setattr(module, "detect", lambda corpus: (seen.append(corpus), detect(corpus))[1])
    return seen


def mean(world: Any, subject: int, *items: Item) -> None:
    """Let all of these notes say the same."""
    vector = (np.eye(4, dtype=np.int8)[subject] * 127).tobytes()
    with world.store.write() as writer:
        writer.put_vectors("hot", {item.id: vector for item in items})


def shown(signals: Signals, **asked: Any) -> list[str]:
    return [signal.text for signal in signals.list(**asked).signals]


def test_a_signal_goes_with_its_reason(keep: Keep, signals: Signals) -> None:
    assert shown(signals) == []
    item = keep("see [[Spec]]")
    assert shown(signals) == [
        f'#{item.id} "see [[Spec]]" links to [[Spec]], but no note is called so'
    ]
    keep("JWT", title="Spec")
    assert shown(signals) == []


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


def test_a_judged_signal_stays_listed_without_its_reason(
    keep: Keep, notes: Notes, signals: Signals
) -> None:
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
    monkeypatch.setattr(module, "LIGHT", 0)
    assert signals.waiting() is None
    monkeypatch.undo()
    assert signals.waiting() == 2
    monkeypatch.setattr(module, "LIGHT", 0)
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


def test_a_tag_is_back(world: Any, keep: Keep, signals: Signals) -> None:
    keep("go is fast", tags=("go",))
    world.now_ms += 200 * DAY_MS
    for n in range(3):
        keep(f"go again {n}", tags=("go",))
    assert shown(signals)[0].startswith("the tag 'go' is back after 200 days: 3 notes in two weeks")
