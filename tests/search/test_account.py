"""What happened since a time, or in a session, is found whole and in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from observer.core.errors import BadInput, NotFound
from observer.core.events import Event, Reply
from observer.core.model import Item, Recorded, Session, item_id
from observer.core.value import TokenUsage
from observer.search import timeline as module
from observer.search.candidates import Sources
from observer.search.timeline import account, course, timeline
from observer.store.database import SqliteStore

Filled = Callable[..., Sources]
Make = Callable[..., Item]

NOW_MS = 1_800_000_000_000
HOUR_MS = 3_600_000


def ids(items: tuple[Item, ...]) -> list[int]:
    return [item.id for item in items]


def ran(store: SqliteStore, session_id: int, *, hours: tuple[int, int], **fields: Any) -> Session:
    """Store a session of project 2 that lasted from so many hours ago to so many."""
    first, last = (NOW_MS - ago * HOUR_MS for ago in hours)
    session = Session(
        id=session_id, external=f"s-{session_id}", client="x", project_id=2,
        started_ms=first, last_ms=last,
    )  # fmt: skip
    session = msgspec.structs.replace(session, **fields)
    with store.write() as writer:
        writer.put_session(session)
    return session


def test_what_happened_is_sorted_by_what_it_is(filled: Filled, an_item: Make) -> None:
    reader = filled(
        an_item(1, type="commit", files_modified=("a.py", "b.py")),
        an_item(2, type="file-write", files_modified=("b.py",)),
        an_item(3, type="command", category="failed"),
        an_item(4, type="tool-use", category="failed"),
        an_item(5, type="command"),
        an_item(6, type="fix"),
        an_item(7, type="decision"),
        an_item(8, kind="note", type="preference"),
        an_item(9, type="prompt"),
        an_item(20, type="commit"),
    ).reader
    shown = account(reader, NOW_MS - 10 * HOUR_MS, owner="")
    (share,) = shown.shares
    assert [ids(share.commits), ids(share.fixes), ids(share.noted)] == [[4], [24], [28, 32]]
    assert (share.failed, share.files, shown.is_partial) == (2, ("b.py", "a.py"), False)


def test_the_project_where_something_happened_last_comes_first(
    filled: Filled, an_item: Make, store: SqliteStore
) -> None:
    sources = filled(
        an_item(2, type="commit", project_id=3),
        an_item(3, type="commit"),
        an_item(4, kind="note", type="preference", project_id=None),
    )
    assert _projects(sources) == [3, 2, None]
    assert _projects(sources, project_id=2) == [2]
    ran(store, 7, hours=(9, 1))
    with store.read() as reader:
        assert _projects(reader) == [2, 3, None]


def _projects(reader: Any, **chosen: Any) -> list[int | None]:
    shown = account(getattr(reader, "reader", reader), NOW_MS - 30 * HOUR_MS, owner="", **chosen)
    return [share.project_id for share in shown.shares]


def test_a_session_that_went_on_into_the_time_is_shown_with_its_summary(
    filled: Filled, an_item: Make, store: SqliteStore
) -> None:
    ran(store, 7, hours=(40, 20))
    late = ran(store, 8, hours=(30, 2))
    filled(an_item(8, id=item_id(8, "summary"), kind="summary", type="summary"))
    with store.read() as reader:
        (share,) = account(reader, NOW_MS - 10 * HOUR_MS, owner="").shares
    (shown,) = share.sessions
    assert shown.session == late
    assert shown.summary
    assert shown.summary.kind == "summary"


def test_what_is_personal_is_shown_to_its_owner_alone(filled: Filled, an_item: Make) -> None:
    note = an_item(1, kind="note", type="preference", owner="ana", scope="personal")
    reader = filled(note).reader
    seen = [account(reader, 0, owner=owner).shares for owner in ("ana", "ben")]
    assert [len(shares) for shares in seen] == [1, 0]


def test_an_account_that_cannot_look_at_everything_says_so(
    filled: Filled, an_item: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = filled(an_item(1, type="commit"), an_item(2, type="commit")).reader
    monkeypatch.setattr(module, "MOST_ITEMS", 2)
    assert account(reader, 0, owner="").is_partial


@pytest.mark.parametrize("handle", ["7", "s-7"])
def test_the_course_of_a_session_is_shown_in_order(
    filled: Filled, an_item: Make, store: SqliteStore, handle: str
) -> None:
    session = ran(store, 7, hours=(5, 1))
    filled(*(an_item(n, session_id=7) for n in (1, 3, 5, 6)), an_item(2, session_id=8))
    with store.read() as reader:
        shown = course(reader, handle, owner="", limit=2)
    assert shown.ran.session == session
    assert (ids(shown.items), shown.left_out) == ([12, 4], 1)


def test_the_course_of_a_session_holds_what_its_children_did(
    filled: Filled, an_item: Make, store: SqliteStore
) -> None:
    ran(store, 7, hours=(5, 1), parent="s-7")
    child = ran(store, 8, hours=(4, 1), parent="s-7")
    ran(store, 9, hours=(4, 1), parent="s-7", client="y")
    filled(
        *(an_item(n, session_id=7) for n in (1, 3, 5)),
        *(an_item(n, session_id=8) for n in (2, 4)),
        an_item(6, session_id=9),
    )
    with store.read() as reader:
        said = course(reader, "7", owner="", limit=3)
    assert said.children == (child,)
    assert (ids(said.items), said.left_out) == ([12, 8, 4], 2)


def test_the_tokens_of_a_session_are_those_of_its_turns(filled: Filled, store: SqliteStore) -> None:
    ran(store, 7, hours=(5, 1))
    used = (TokenUsage(input=10, output=1), None, TokenUsage(input=5, cache_write=7))
    with store.write() as writer:
        for seq, usage in enumerate(used, start=7):
            body = Reply(text="Done.", usage=usage)
            event = Event(id=f"e{seq}", at_ms=NOW_MS - 2 * HOUR_MS, client="x", body=body)
            recorded = Recorded(seq=seq, event=event, project_id=2, session_id=7)
            writer.append(recorded, stored_ms=1)
    with store.read() as reader:
        answered = course(reader, "7", owner="", limit=3)
    assert answered.usage == TokenUsage(input=15, output=1, cache_write=7)


@pytest.mark.parametrize("handle", ["", "nosuch", "99"])
def test_a_session_that_is_not_there_is_refused(filled: Filled, handle: str) -> None:
    with pytest.raises(NotFound, match="no session"):
        course(filled("a").reader, handle, owner="", limit=2)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(2, 1, [(-2, 20), (-1, 16), (0, 12), (1, 8)], id="inside"),
        pytest.param(50, 50, [(-2, 20), (-1, 16), (0, 12), (1, 8), (2, 4)], id="more-than-is"),
        pytest.param(0, 0, [(0, 12)], id="alone"),
    ],
)
def test_positions_are_relative_to_the_anchor(
    filled: Filled, before: int, after: int, expected: list[tuple[int, int]]
) -> None:
    shown = timeline(filled(*"abcde").reader, 12, owner="", before=before, after=after)
    assert [(entry.position, entry.item.id) for entry in shown.entries] == expected
    assert shown.anchor.id == 12


def test_other_projects_are_left_out(filled: Filled, an_item: Make) -> None:
    reader = filled(*(an_item(n, project_id=2 + n % 2) for n in range(1, 7))).reader
    assert {entry.item.project_id for entry in timeline(reader, 12, owner="").entries} == {3}


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (0, 51)])
def test_a_depth_out_of_range_is_refused(filled: Filled, before: int, after: int) -> None:
    with pytest.raises(BadInput, match="depth"):
        timeline(filled("a").reader, 4, owner="", before=before, after=after)


def test_an_unknown_anchor_is_named(filled: Filled) -> None:
    with pytest.raises(NotFound, match="no item 99"):
        timeline(filled("a").reader, 99, owner="")
