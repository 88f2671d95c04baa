"""Fixtures for the tests of observations: recorded events, and a session fed with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from observer.core.events import AnyBody, Event
from observer.core.model import Item, Recorded, Session
from observer.observations import session_state
from observer.observations.project_reducer import ProjectReducer
from observer.observations.session_reducer import SessionReducer

ROOT = "/home/ana/shop"
START_MS = 1_800_000_000_000

Place = Callable[..., Recorded]


def in_place(body: AnyBody, seq: int = 1, *, at_s: float | None = None, **event: Any) -> Recorded:
    """An event of one session, `at_s` seconds after the start (by default 10 s an event)."""
    at_ms = START_MS + round((seq * 10 if at_s is None else at_s) * 1000)
    fields = {"client": "claude-code", "session": "s1", "cwd": ROOT, "id": f"e{seq}"} | event
    return Recorded(
        seq=seq,
        event=Event(at_ms=at_ms, body=body, **fields),
        project_id=7,
        session_id=1,
        root=ROOT,
        branch="main",
        commit="c0ffee",
    )


class Fed:
    """A session after its events: `session`, and its items by id in insertion order."""

    def __init__(self, events: Iterable[Recorded]) -> None:
        self.items: dict[int, Item] = {}
        fold: SessionReducer | None = None
        arcs = ProjectReducer(b"")
        for recorded in events:
            fold = fold or SessionReducer(session_state.begin(recorded))
            whole, made = fold.add_paired(recorded)
            arcs.add(whole, made)
            fold.learn((), arcs.state.failures)
            self.items |= {item.id: item for item in made}
        assert fold is not None
        self.items |= {item.id: item for item in fold.turn()}
        session = fold.session()
        assert session is not None
        self.session: Session = session

    @property
    def types(self) -> list[str]:
        return [item.type for item in self.items.values()]

    @property
    def last(self) -> Item:
        return list(self.items.values())[-1]


@pytest.fixture
def place() -> Place:
    return in_place


@pytest.fixture
def feed() -> Callable[..., Fed]:
    """Feed bodies to the reducers as one session, 10 s apart; a `Recorded` is taken as it is."""

    def feed(*events: AnyBody | Recorded) -> Fed:
        return Fed(
            one if isinstance(one, Recorded) else in_place(one, seq)
            for seq, one in enumerate(events, 1)
        )

    return feed
