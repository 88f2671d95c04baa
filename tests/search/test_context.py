from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.core.model import Item, Project, Session, SummaryFields, Validity, item_id
from observer.observations.drafts import QUESTION
from observer.search.candidates import Sources
from observer.search.context import (
    MOST_MISSES,
    FinishedSession,
    Pack,
    PackEntry,
    PackRequest,
    TokenCosts,
    pack,
)
from observer.search.start import LINE_CHARS, MOST_OMITTED, CardFact
from observer.store.database import SqliteStore

from .conftest import ELSEWHERE, HERE, NOW_MS, Filled, an_item, lent, stand

OVERHEAD = 10


def entry_cost(entry: PackEntry) -> int:
    return -(-len(f"{entry.hit.item.title}: {entry.content}") // 4)


def summary_cost(shown: FinishedSession) -> int:
    return -(-len(shown.item.title) // 4)


def line_cost(line: CardFact) -> int:
    return -(-len(f"#{line.item} {line.why} {line.text[:LINE_CHARS]}") // 4)


COSTS = TokenCosts(entry=entry_cost, summary=summary_cost, line=line_cost, overhead=OVERHEAD)


def packed(sources: Sources, budget: int = 2000, **fields: Any) -> Pack:
    request = PackRequest(project_id=HERE, budget_tokens=budget, now_ms=NOW_MS, **fields)
    return pack(sources, request, COSTS)


def ids(found: Pack) -> list[int]:
    return [entry.hit.item.id for entry in found.entries]


def a_note(seq: int, **fields: Any) -> Item:
    return an_item(seq, **({"kind": "note", "type": "decision"} | fields))


def test_newest_come_first_without_a_query(filled: Filled) -> None:
    assert ids(packed(filled("one", "two", "three"))) == [4, 8, 12]


def test_knowledge_comes_first_however_old(filled: Filled) -> None:
    fresh = (an_item(n, title=f"login {n * 'x'}") for n in range(1, 60))
    sources = filled(*fresh, a_note(5000, title="Use builders"))
    first = packed(sources).entries[0].hit
    assert (first.item.id, first.score <= 1.0) == (20_000, True)


def test_what_fits_the_query_comes_first(filled: Filled) -> None:
    found = packed(filled("one", "two", "login fails"), query="login")
    assert ids(found)[0] == 12
    assert found.entries[0].hit.signals.terms == ("login",)


def test_a_query_that_finds_nothing_still_packs_and_a_bad_one_says_so(filled: Filled) -> None:
    found = packed(filled("one", "two"), query="zebra AND")
    assert ids(found) == [4, 8]
    assert found.notice.startswith("searched as plain words")


def test_old_matches_are_found_behind_many_new_items(filled: Filled) -> None:
    fresh = (an_item(n, title=f"thing {n * 'y'}") for n in range(1, 250))
    sources = filled(*fresh, an_item(4000, title="login"))
    assert ids(packed(sources, query="login"))[0] == 16_000


def test_smaller_entries_follow_one_that_does_not_fit(filled: Filled) -> None:
    found = packed(filled("a" * 400, "small"), budget=OVERHEAD + 10)
    assert (ids(found), found.left_out) == ([8], 1)


def test_after_many_that_do_not_fit_no_other_is_tried(filled: Filled) -> None:
    sources = filled(*(chr(97 + n) * 400 for n in range(MOST_MISSES)), "small", "tiny")
    found = packed(sources, budget=OVERHEAD + 10)
    assert (ids(found), found.left_out) == ([], MOST_MISSES + 2)


@pytest.mark.parametrize(("query", "expected"), [("", [4]), ("login", [8])])
def test_a_commit_that_is_gone_is_shown_only_where_it_is_asked_for(
    store: SqliteStore, filled: Filled, query: str, expected: list[int]
) -> None:
    stand(store, {8: (Validity(reason="elsewhere"),)})
    sources = filled("one", an_item(2, type="commit", title="login"))
    assert ids(packed(sources, query=query)) == expected


def test_knowledge_is_shortened_rather_than_dropped(filled: Filled) -> None:
    note = a_note(1, title="Rule", narrative="Keep it simple. " * 100)
    found = packed(filled(note), budget=OVERHEAD + 40)
    assert ids(found) == [4]
    assert found.entries[0].content.endswith("simple. Keep …")


def test_content_follows_the_query(filled: Filled) -> None:
    text = "Nothing of note here. " * 30 + "The login broke. " + "More of it. " * 30
    found = packed(filled(an_item(1, title="Ran", narrative=text)), query="login")
    assert found.entries[0].content.startswith("… The login broke.")


@pytest.mark.parametrize(("fields", "content"), [
    pytest.param({"narrative": "n", "facts": ("f",), "subtitle": "s"}, "n", id="narrative"),
    pytest.param({"facts": ("f", "g"), "subtitle": "s"}, "f; g", id="facts"),
    pytest.param({"subtitle": "s"}, "s", id="subtitle"),
])  # fmt: skip
def test_content_is_the_fullest_text(filled: Filled, fields: dict[str, Any], content: str) -> None:
    assert packed(filled(an_item(1, **fields))).entries[0].content == content


def test_repetitions_are_shown_once_and_not_counted(filled: Filled) -> None:
    said = "Modified auth.ts, updating {} lines of the login"
    sources = filled(
        *(an_item(n, title="Modified auth.ts", narrative=said.format(n)) for n in range(1, 9)),
        an_item(9, title="Modified auth.ts", narrative="Renamed every function in it"),
    )
    found = packed(sources)
    assert (ids(found), found.left_out) == ([4, 36], 0)


def test_other_projects_stay_out_and_notes_of_none_count_half(filled: Filled) -> None:
    sources = filled(
        an_item(1, project_id=ELSEWHERE),
        a_note(2, project_id=None, scope="personal", owner="ana", type="preference"),
        a_note(3, project_id=None, scope="personal", owner="ben", type="preference"),
        an_item(4),
    )
    found = packed(sources, owner="ana")
    assert sorted(ids(found)) == [8, 16]
    assert {e.hit.item.id: e.hit.signals.project_match for e in found.entries} == {8: 0.5, 16: 1.0}


def a_summary(seq: int, session_id: int | None, **fields: Any) -> Item:
    return an_item(
        seq, kind="summary", type="summary", session_id=session_id,
        summary=SummaryFields(request=f"Request number {seq}"), **fields,
    )  # fmt: skip


def test_the_newest_finished_summaries_are_packed(store: SqliteStore, filled: Filled) -> None:
    with store.write() as writer:
        for number, status in ((1, "active"), (2, "ended"), (3, "idle")):
            writer.put_session(
                Session(
                    id=number, external=f"s{number}", client="c", project_id=HERE, status=status
                )  # type: ignore[arg-type]  # a table
            )
    sessions = [1, 2, 3, None, 99, 2, 2, 2]
    sources = filled(*(a_summary(n, one) for n, one in enumerate(sessions, start=1)))
    shown = [(each.item.id, each.session) for each in packed(sources).summaries]
    assert shown == [(8, "s2"), (12, "s3"), (16, ""), (20, ""), (24, "s2")]


@pytest.mark.parametrize(
    ("query", "shown"),
    [("", [4, 8, 12, 16, 20]), ("login", [32]), ("zebra", [4, 8, 12, 16, 20])],
)
def test_with_a_query_only_sessions_that_fit_it_are_shown_if_any_do(
    filled: Filled, query: str, shown: list[int]
) -> None:
    newer = (a_summary(n, None, title=f"thing {n * 'y'}") for n in range(1, 8))
    found = packed(filled(*newer, a_summary(8, None, title="login")), query=query)
    assert [each.item.id for each in found.summaries] == shown


def test_summaries_leave_room_and_are_counted_when_left_out(filled: Filled) -> None:
    sources = filled(
        *(a_summary(n, None, title="s" * 40) for n in (1, 2, 3)), an_item(4, title="tiny")
    )
    found = packed(sources, budget=OVERHEAD + 30)
    assert (len(found.summaries), ids(found), found.left_out) == (1, [16], 2)


def test_a_budget_below_the_overhead_is_refused(filled: Filled) -> None:
    with pytest.raises(BadInput, match="cannot hold even an empty answer"):
        packed(filled("a"), budget=OVERHEAD - 1)


def a_session(store: SqliteStore, number: int, title: str, **fields: Any) -> Item:
    """Store a session; return its summary."""
    with store.write() as writer:
        writer.put_session(
            Session(id=number, external="s", client="kiro", project_id=HERE, last_ms=number)
        )
    number_of_summary = {"id": item_id(number, "summary"), "title": title}
    return a_summary(number, number, **number_of_summary, **fields)


def test_the_card_does_not_replace_the_entries(store: SqliteStore, filled: Filled) -> None:
    summary = a_session(store, 1, "Round the total")
    sources = filled(summary, a_note(2, title="Short"))
    found = packed(sources, card_tokens=600)
    assert ([line.item for line in found.card], ids(found)) == ([5], [8])


def test_a_session_of_which_nothing_is_shown_is_not_the_last(
    store: SqliteStore, filled: Filled
) -> None:
    a_session(store, 2, "begun this moment")
    sources = filled(a_session(store, 1, "Round the total"))
    assert [line.item for line in packed(sources, card_tokens=600).card] == [5]


def test_no_card_takes_more_than_its_share(store: SqliteStore, filled: Filled) -> None:
    others = [
        a_session(store, n, f"{n * 'x'} {'y' * 300}", files_modified=(f"{n}.py",))
        for n in range(1, 9)
    ]
    sources = filled(*others)
    assert (
        0 < sum(map(line_cost, packed(sources, budget=OVERHEAD + 150, card_tokens=600).card)) <= 75
    )
    less = packed(sources, budget=OVERHEAD + 100, card_tokens=600)
    assert less.omitted[0].why.startswith("costs ")


def test_what_says_the_same_is_named_and_not_counted(filled: Filled) -> None:
    found = packed(filled("same", "same"))
    (omitted,) = found.omitted
    assert (omitted.item, omitted.why, found.left_out) == (8, "says the same as #4", 0)


def test_not_all_that_does_not_fit_is_named(filled: Filled) -> None:
    def many(first: int, **fields: Any) -> Iterator[Item]:
        numbers = range(first, first + 20)
        return (an_item(n, title=f"{n * 'x'} {'y' * 200}", **fields) for n in numbers)

    facts, decisions = ({"kind": "note", "type": kind} for kind in ("fact", "decision"))
    sources = filled(*many(1), *many(21, **facts), *many(41, **decisions))
    found = packed(sources, budget=OVERHEAD + 1)
    assert (len(found.omitted), found.left_out) == (MOST_OMITTED, 60)


TEXT = st.text("ab c.\n", max_size=80)


@pytest.mark.measured
@given(
    st.lists(
        st.tuples(st.sampled_from(["command", "decision", "summary"]), TEXT, TEXT), max_size=12
    ),
    st.integers(OVERHEAD, 90),
    st.sampled_from(["", "a", "ab AND c", "b*"]),
    st.sampled_from([{}, {"card_tokens": 600}, {"card_tokens": 20}]),
)
def test_a_pack_never_exceeds_its_budget(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    budget: int,
    query: str,
    card: dict[str, Any],
) -> None:
    kinds = {"decision": "note", "summary": "summary"}
    store = SqliteStore(tmp_path_factory.mktemp("budget") / "observer.db")
    sessions = [a_session(store, 50, title) for _, title, _ in rows[:1]]
    with store.write() as writer:
        writer.put_items(sessions)
        writer.put_project(Project(id=HERE, uuid="u", name="app"))
        writer.put_items(
            an_item(
                n, kind=kinds.get(type_, "observation"), type=type_, title=title, narrative=shown
            )
            for n, (type_, title, shown) in enumerate(rows, start=1)
        )
    with lent(store) as sources:
        found = packed(sources, budget=budget, query=query, **card)
    store.close()
    spent = sum(map(entry_cost, found.entries)) + sum(map(summary_cost, found.summaries))
    spent += sum(map(line_cost, found.card))
    assert OVERHEAD + spent == found.used_tokens <= found.budget_tokens == budget


@pytest.mark.parametrize("query", ["", "retry limit"])
def test_a_prompt_that_only_asks_comes_last(filled: Filled, query: str) -> None:
    asked = an_item(1, type="turn", category=QUESTION, title="What did we say of the retry limit?")
    answer = an_item(90, title="The retry limit is 5")
    assert ids(packed(filled(asked, answer), query=query)) == [answer.id, asked.id]


@pytest.mark.parametrize("query", ["", "login"])
def test_what_took_the_place_of_an_item_stands_before_it(
    filled: Filled, store: SqliteStore, query: str
) -> None:
    old, new = a_note(1, title="login by cookie"), a_note(4000, title="tokens")
    fresh = [a_note(n, title=f"login {n * 'x'}") for n in range(2, 60)]
    shown = Validity(reason="superseded", subject=str(new.id), target=new.id)
    stand(store, {old.id: (shown,)})
    order = ids(packed(filled(old, new, *fresh), query=query, budget=9000))
    assert order.index(new.id) < order.index(old.id)


def test_an_answer_to_a_question_is_no_knowledge(filled: Filled) -> None:
    answer = an_item(9, type="decision", title="Use Redis")
    sources = filled(answer, a_note(90, title="Use tabs"), an_item(1, title="make"))
    assert ids(packed(sources)) == [360, 4, 36]
