"""What happened since a time, or in a session, whole, in order, and under its delegation."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.events import Command, Event, Reply
from observer.core.model import Item, Recorded, Session, item_id
from observer.core.value import TokenUsage
from observer.git.blame import BlamedCommit
from observer.search import timeline as module
from observer.search.code_history import committer
from observer.search.timeline import DEEPEST, account, course, nested, timeline
from observer.store.database import SqliteStore

from .conftest import ELSEWHERE, HERE, NOW_MS, Filled, an_item

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


def test_what_happened_is_sorted_by_what_it_is(filled: Filled) -> None:
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
    filled: Filled, store: SqliteStore
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
    filled: Filled, store: SqliteStore
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


def test_what_is_personal_is_shown_to_its_owner_alone(filled: Filled) -> None:
    note = an_item(1, kind="note", type="preference", owner="ana", scope="personal")
    reader = filled(note).reader
    seen = [account(reader, 0, owner=owner).shares for owner in ("ana", "ben")]
    assert [len(shares) for shares in seen] == [1, 0]


def test_an_account_that_cannot_look_at_everything_says_so(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = filled(an_item(1, type="commit"), an_item(2, type="commit")).reader
    monkeypatch.setattr(module, "MOST_ITEMS", 2)
    assert account(reader, 0, owner="").is_partial


@pytest.mark.parametrize("handle", ["7", "s-7"])
def test_the_course_of_a_session_is_shown_in_order(
    filled: Filled, store: SqliteStore, handle: str
) -> None:
    session = ran(store, 7, hours=(5, 1))
    filled(*(an_item(n, session_id=7) for n in (1, 3, 5, 6)), an_item(2, session_id=8))
    with store.read() as reader:
        shown = course(reader, handle, owner="", limit=2)
    assert shown.ran.session == session
    assert (ids(shown.items), shown.left_out) == ([12, 4], 1)


def test_the_course_of_a_session_holds_what_its_children_did(
    filled: Filled, store: SqliteStore
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


@pytest.mark.parametrize(("before", "after", "expected"), [
    pytest.param(2, 1, [(-2, 20), (-1, 16), (0, 12), (1, 8)], id="inside"),
    pytest.param(50, 50, [(-2, 20), (-1, 16), (0, 12), (1, 8), (2, 4)], id="more-than-is"),
    pytest.param(0, 0, [(0, 12)], id="alone"),
])  # fmt: skip
def test_positions_are_relative_to_the_anchor(
    filled: Filled, before: int, after: int, expected: list[tuple[int, int]]
) -> None:
    shown = timeline(filled(*"abcde").reader, 12, owner="", before=before, after=after)
    assert [(entry.position, entry.item.id) for entry in shown.entries] == expected
    assert shown.anchor.id == 12


def test_other_projects_are_left_out(filled: Filled) -> None:
    reader = filled(*(an_item(n, project_id=2 + n % 2) for n in range(1, 7))).reader
    assert {entry.item.project_id for entry in timeline(reader, 12, owner="").entries} == {3}


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (0, 51)])
def test_a_depth_out_of_range_is_refused(filled: Filled, before: int, after: int) -> None:
    with pytest.raises(BadInput, match="depth"):
        timeline(filled("a").reader, 4, owner="", before=before, after=after)


def test_an_item_that_is_not_there_has_no_neighbours(filled: Filled) -> None:
    with pytest.raises(NotFound, match="there is no item 404"):
        timeline(filled("a").reader, 404, owner="")


AT_MS = 1_800_000_000_000
COMMAND = Item(id=1, uuid="c", kind="observation", type="command", title="make", created_ms=AT_MS)


def did(number: int, subtitle: str = "", session: int = 7, kind: str = "command") -> Item:
    at_ms = AT_MS + number
    return replace(
        COMMAND, id=number, subtitle=subtitle, type=kind, created_ms=at_ms, session_id=session
    )


def task(number: int, subtitle: str = "to Explore", session: int = 7) -> Item:
    return did(number, subtitle, session, "delegation")


def ran_by(number: int, parent: str = "", at: int = 0) -> Session:
    return Session(
        id=number, external=f"s{number}", client="kilo", project_id=2, parent=parent,
        started_ms=AT_MS + at, last_ms=AT_MS + 100,
    )  # fmt: skip


def tree(items: list[Item], *sessions: Session) -> list[tuple[int, int | None, int]]:
    return [(row.item.id, row.under, row.depth) for row in nested(items, sessions)]


def test_the_work_of_one_session_is_named_by_its_sub_agents() -> None:
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
        *((2, None, 0), (1, 2, 1), (3, None, 0), (4, 3, 1), (5, 4, 2), (6, None, 1), (7, None, 0))
    ]


def test_a_session_of_a_sub_agent_stands_under_what_began_it_at_any_depth() -> None:
    items = [task(10), task(20, session=8), did(30, session=9), did(40, session=8), did(50)]
    sessions = (ran_by(7), ran_by(8, "s7", at=9), ran_by(9, "s8", at=19))
    expected = [(10, None, 0), (20, 10, 1), (30, 20, 2), (40, 10, 1), (50, None, 0)]
    assert tree(items, *sessions) == expected
    assert tree(items[2:], *sessions) == [(30, None, 1), (40, None, 1), (50, None, 0)]


def test_what_is_deeper_than_the_deepest_level_is_shown_at_it() -> None:
    count = 3 * DEEPEST
    items = [task(10 * number, session=number) for number in range(1, count)]
    sessions = [
        ran_by(number, f"s{number - 1}", at=10 * (number - 1)) for number in range(1, count)
    ]
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
    sessions = [ran_by(number, parents[number - 1], at=number) for number in range(1, 5)]
    assert sorted(row.item.id for row in nested(items, sessions)) == [item.id for item in items]


def test_a_timeline_and_a_course_show_sub_agents_of_sub_agents(
    filled: Filled, store: SqliteStore
) -> None:
    """The anchor is where it was in time, whatever stands above it."""
    with store.write() as writer:
        for session in (ran_by(7), ran_by(8, "s7"), ran_by(9, "s8")):
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


COMMIT = BlamedCommit(hash="ab" * 20, authored_ms=AT_MS, committed_ms=AT_MS)


@pytest.mark.parametrize(("project", "command", "output", "is_found"), [
    pytest.param(HERE, "git commit -m x", "x", True, id="it-committed"),
    pytest.param(HERE, "make commit", "x", False, id="it-ran-no-git"),
    pytest.param(HERE, "./ship", "[main abababa] x\n", True, id="git-says-so"),
    pytest.param(ELSEWHERE, "git commit -m x", "x", False, id="it-committed-elsewhere"),
])  # fmt: skip
def test_who_committed_ran_git_in_the_project(
    store: SqliteStore, project: int, command: str, output: str, *, is_found: bool
) -> None:
    body = Command(command=command, output=output)
    event = Event(id="e", at_ms=AT_MS + 10, client="c", session="s", body=body)
    recorded = Recorded(seq=1, event=event, project_id=project, session_id=1)
    session = Session(
        id=1, external="s", client="c", project_id=project, started_ms=AT_MS, last_ms=AT_MS + 20
    )
    with store.write() as writer:
        writer.put_session(session)
        writer.append(recorded, stored_ms=AT_MS)
    with store.read() as reader:
        found = committer(reader, HERE, COMMIT)
    assert (found is not None) == is_found
