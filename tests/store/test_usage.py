"""What became of items in sessions: what `store/interface.py` promises of uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Event, Prompt, SessionStart
from observer.core.model import UNASSIGNED, Recorded, UsageEvent
from observer.store.interface import Store
from observer.store.sqlite.database import SqliteStore

SHOWN = UsageEvent(item=4, session=7, sort="shown", at_ms=1000)
CITED = UsageEvent(item=4, session=7, sort="cited", at_ms=2000)
OTHER = UsageEvent(item=8, session=9, sort="shown", at_ms=1500)


@pytest.fixture(params=["sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore(tmp_path / "store" / "observer.db")
    yield opened
    opened.close()


def uses(store: Store, **restricted: Any) -> list[UsageEvent]:
    with store.read() as reader:
        return reader.uses(**restricted)


def put(store: Store, *uses: UsageEvent) -> None:
    with store.write() as writer:
        writer.put_uses(uses)


def append(store: Store, seq: int, session: int | None, body: SessionStart | Prompt) -> None:
    event = Event(id=f"e{seq}", at_ms=seq, client="c", body=body)
    with store.write() as writer:
        writer.append(
            Recorded(seq=seq, event=event, project_id=UNASSIGNED, session_id=session), stored_ms=seq
        )


def test_uses_come_back_oldest_first(store: Store) -> None:
    put(store, CITED, OTHER, SHOWN)
    assert uses(store) == [SHOWN, OTHER, CITED]


def test_uses_are_of_items_and_of_sessions(store: Store) -> None:
    put(store, SHOWN, CITED, OTHER)
    assert uses(store, items=[8]) == uses(store, sessions=[9]) == [OTHER]
    assert uses(store, items=[8], sessions=[7]) == uses(store, items=[]) == []


@pytest.mark.parametrize("at_ms", [500, 3000])
def test_a_use_that_is_known_keeps_its_later_time(store: Store, at_ms: int) -> None:
    put(store, SHOWN)
    put(store, UsageEvent(item=4, session=7, sort="shown", at_ms=at_ms))
    assert [use.at_ms for use in uses(store)] == [max(1000, at_ms)]


def test_uses_are_dropped_by_age_and_by_item(store: Store) -> None:
    put(store, SHOWN, CITED, OTHER)
    with store.write() as writer:
        assert writer.drop_uses(before_ms=1500) == 1
        assert writer.drop_uses([4], before_ms=9999) == 1
    assert uses(store) == [OTHER]


def test_a_rebuild_keeps_uses(store: Store) -> None:
    put(store, SHOWN)
    with store.write() as writer:
        writer.clear_projection()
    assert uses(store) == [SHOWN]


def test_how_far_the_log_was_followed_is_kept(store: Store) -> None:
    with store.write() as writer:
        assert (writer.followed(), writer.newest_seq()) == (None, 0)
        writer.put_uses((), followed=3)
        writer.put_uses((), followed=5)
        writer.put_uses((SHOWN,))
        assert writer.followed() == 5


def test_the_log_is_read_by_kind_and_by_what_was_shown(store: Store) -> None:
    append(store, 1, 1, SessionStart())
    append(store, 2, 1, Prompt(text="before"))
    append(store, 3, 3, SessionStart())
    append(store, 4, 3, Prompt(text="to nobody"))
    append(store, 5, None, Prompt(text="of no session"))
    append(store, 6, 1, Prompt(text="after"))
    put(
        store,
        UsageEvent(item=4, session=1, sort="shown", at_ms=1),
        UsageEvent(item=4, session=3, sort="cited", at_ms=1),
    )
    with store.read() as reader:
        starts = reader.log_of_kind("session-start", after_seq=0, until_seq=6)
        shown = reader.log_of_shown(after_seq=1, until_seq=6, limit=9)
        assert [recorded.seq for recorded in starts] == [1, 3]
        assert [recorded.seq for recorded in shown] == [2, 6]
        assert reader.log_of_shown(after_seq=1, until_seq=5, limit=9) == shown[:1]
        assert reader.log_of_shown(after_seq=1, until_seq=6, limit=1) == shown[:1]
        assert reader.newest_seq() == 6
