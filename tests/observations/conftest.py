"""Fixtures for the tests of observations: recorded events, and a session fed with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.events import AnyBody, Event
from observer.core.model import Item, Recorded, Session
from observer.observations import session_state
from observer.observations.project_reducer import ProjectReducer
from observer.observations.project_state import ProjectState
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
    """A history after both reducers: its items by id in insertion order, and what is known then.

    It is taken in batches that end before each cut; `session` is that of the last event.
    """

    def __init__(self, history: Sequence[Recorded], cuts: Iterable[int] = ()) -> None:
        self.items: dict[int, Item] = {}
        self.data = b""
        ends, folds, arcs = {*cuts}, dict[int | None, SessionReducer](), ProjectReducer(b"")
        for number, recorded in enumerate(history):
            if number in ends:
                folds = {key: SessionReducer(fold.session()) for key, fold in folds.items()}
                arcs = ProjectReducer(self.data)
            key = recorded.session_id
            fold = folds.setdefault(key, SessionReducer(session_state.begin(recorded)))
            whole, made = fold.add_paired(recorded)
            found = arcs.add(whole, made)
            fold.learn(found, arcs.state.failures)
            self.items |= {item.id: item for item in (*made, *found)}
            self.data = arcs.changed_state() or self.data
        self.items |= {item.id: item for item in fold.turn()}
        self.known: ProjectState = arcs.state
        session = fold.session()
        assert session is not None
        self.session: Session = session

    def of(self, kind: str) -> list[Item]:
        return [item for item in self.items.values() if item.type == kind]

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
    """Feed bodies to the reducers as one session, 10 s apart.

    A pair is a session and a body; a `Recorded` is taken as it is.
    """

    def feed(*events: AnyBody | Recorded | tuple[int, AnyBody]) -> Fed:
        history = []
        for seq, one in enumerate(events, 1):
            if isinstance(one, Recorded):
                history.append(one)
            elif isinstance(one, tuple):
                history.append(replace(in_place(one[1], seq), session_id=one[0]))
            else:
                history.append(in_place(one, seq))
        return Fed(history)

    return feed
