"""A sub-agent's work stands under the delegation to it, and nothing is lost by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.model import Item, Session
from observer.search.candidates import Sources
from observer.search.timeline import DEEPEST, course, nested, timeline
from observer.store.database import SqliteStore

Filled = Callable[..., Sources]
Make = Callable[..., Item]

AT_MS = 1_800_000_000_000
COMMAND = Item(id=1, uuid="c", kind="observation", type="command", title="make", created_ms=AT_MS)


def did(number: int, subtitle: str = "", session: int = 7, kind: str = "command") -> Item:
    at_ms = AT_MS + number
    return replace(
        COMMAND, id=number, subtitle=subtitle, type=kind, created_ms=at_ms, session_id=session
    )


def task(number: int, subtitle: str = "to Explore", session: int = 7) -> Item:
    return did(number, subtitle, session, "delegation")


def ran(number: int, parent: str = "", at: int = 0) -> Session:
    return Session(
        id=number, external=f"s{number}", client="kilo", project_id=2, parent=parent,
        started_ms=AT_MS + at, last_ms=AT_MS + 100,
    )  # fmt: skip


def tree(items: list[Item], *sessions: Session) -> list[tuple[int, int | None, int]]:
    return [(row.item.id, row.under, row.depth) for row in nested(items, sessions)]


def test_the_work_of_one_session_is_told_by_the_names_of_its_sub_agents() -> None:
    """Also where the sub-agent handed something on, or came back before it was recorded."""
    items = [
        did(1, "in docs, by sub-agent Explore/a1"),
        task(2, "to Explore, by sub-agent Explore/a1"),
        task(3, "to Plan"),
        task(4, "to Explore, by sub-agent Plan/b1"),
        did(5, "by sub-agent Explore/a2"),
        did(6, "by sub-agent Other/c1"),
        did(7),
    ]
    assert tree(items) == [
        *((2, None, 0), (1, 2, 1), (3, None, 0), (4, 3, 1), (5, 4, 2), (6, None, 1), (7, None, 0)),
    ]


def test_a_session_of_a_sub_agent_stands_under_what_began_it_at_any_depth() -> None:
    items = [task(10), task(20, session=8), did(30, session=9), did(40, session=8), did(50)]
    sessions = (ran(7), ran(8, "s7", at=9), ran(9, "s8", at=19))
    expected = [(10, None, 0), (20, 10, 1), (30, 20, 2), (40, 10, 1), (50, None, 0)]
    assert tree(items, *sessions) == expected
    assert tree(items[2:], *sessions) == [(30, None, 1), (40, None, 1), (50, None, 0)]


def test_what_is_deeper_than_the_deepest_level_is_shown_at_it() -> None:
    count = 3 * DEEPEST
    items = [task(10 * number, session=number) for number in range(1, count)]
    sessions = [ran(number, f"s{number - 1}", at=10 * (number - 1)) for number in range(1, count)]
    rows = nested(items, sessions)
    assert [row.depth for row in rows][-2:] == [DEEPEST, DEEPEST]
    assert rows[-1].under == items[-2].id


subtitles = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "to a", "to b"]),
        st.sampled_from(["", *(f", by sub-agent {name}" for name in ("", "a", "a/1", "b/1"))]),
    ),
)


@given(st.lists(st.tuples(subtitles, st.integers(1, 4), st.booleans()), max_size=12), st.data())
def test_every_item_is_shown_once_whoever_claims_to_have_started_whom(
    drawn: list[tuple[str, int, bool]], data: Any
) -> None:
    items = [
        (task if is_task else did)(number, subtitle, session)
        for number, (subtitle, session, is_task) in enumerate(drawn, start=1)
    ]
    parents = data.draw(st.lists(st.sampled_from(["", "s1", "s2", "s3", "s4"]), min_size=4))
    sessions = [ran(number, parents[number - 1], at=number) for number in range(1, 5)]
    assert sorted(row.item.id for row in nested(items, sessions)) == [item.id for item in items]


def test_a_timeline_and_a_course_show_sub_agents_of_sub_agents(
    filled: Filled, an_item: Make, store: SqliteStore
) -> None:
    """The anchor is where it was in time, whatever stands above it."""
    with store.write() as writer:
        for session in (ran(7), ran(8, "s7"), ran(9, "s8")):
            writer.put_session(replace(session, started_ms=0))
    filled(
        an_item(5, type="delegation", session_id=7),
        an_item(4, session_id=9),
        an_item(3, type="delegation", session_id=8),
        an_item(2, session_id=7),
    )
    with store.read() as reader:
        shown = timeline(reader, 16, owner="").entries
        assert [child.id for child in course(reader, "7", owner="", limit=9).children] == [8, 9]
    seen = [(entry.item.id, entry.position, entry.under, entry.depth) for entry in shown]
    assert seen == [(20, -1, None, 0), (12, 1, 20, 1), (16, 0, 12, 2), (8, 2, None, 0)]
