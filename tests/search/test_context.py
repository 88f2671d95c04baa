from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.core.model import Item, Project, Session, SummaryFields, Validity, item_id
from observer.observations.drafts import QUESTION
from observer.search.candidates import Sources
from observer.search.context import (
    KNOWLEDGE_SHARE,
    MOST_MISSES,
    NO_ROOM,
    NOTHING_FITS,
    SAID,
    FinishedSession,
    Pack,
    PackEntry,
    PackRequest,
    TokenCosts,
    pack,
)
from observer.search.rank import NEAR
from observer.search.snippet import Repeats
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


def test_knowledge_comes_first_however_old(filled: Filled) -> None:
    fresh = (an_item(n, title=f"login {n * 'x'}") for n in range(1, 60))
    sources = filled(*fresh, a_note(5000, title="Use builders"))
    first = packed(sources).entries[0].hit
    assert (first.item.id, first.score <= 1.0) == (20_000, True)


def test_a_query_that_finds_nothing_still_packs_and_a_bad_one_says_so(filled: Filled) -> None:
    found = packed(filled("one", "two"), query="zebra AND")
    assert ids(found) == [4, 8]
    assert found.notice.startswith("searched as plain words")


def test_old_matches_are_found_behind_many_new_items(filled: Filled) -> None:
    fresh = (an_item(n, title=f"thing {n * 'y'}") for n in range(1, 250))
    sources = filled(*fresh, an_item(4000, title="login"))
    first = packed(sources, query="login").entries[0].hit
    assert (first.item.id, first.signals.terms) == (16_000, ("login",))


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
        seq,
        kind="summary",
        type="summary",
        session_id=session_id,
        summary=SummaryFields(request=f"Request number {seq}"),
        **fields,
    )


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
    ("query", "shown"), [("", [4, 8, 12, 16, 20]), ("login", [32]), ("zebra", [4, 8, 12, 16, 20])]
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


def test_of_two_notes_that_differ_none_stands_for_the_other(filled: Filled) -> None:
    notes = (a_note(n, title="Rule", narrative=f"Keep it {n * 'x'}.") for n in (1, 2))
    assert sorted(ids(packed(filled(*notes)))) == [4, 8]


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


ANSWERS = SummaryFields.__struct_fields__


def entry_price(entry: PackEntry) -> int:
    return 5 + len(f"{entry.hit.item.title}{entry.content}") // 4


def summary_price(answered: FinishedSession) -> int:
    fields = answered.item.summary or SummaryFields()
    return 5 + len(answered.item.title + "".join(getattr(fields, name) for name in ANSWERS)) // 4


PRICES = TokenCosts(entry=entry_price, summary=summary_price, line=lambda _: 1, overhead=0)


def answered(sources: Sources, budget: int = 2000, query: str = "login", **fields: Any) -> Pack:
    request = PackRequest(
        project_id=HERE, budget_tokens=budget, now_ms=NOW_MS, query=query, **fields
    )
    return pack(sources, request, PRICES)


def contents(found: Pack) -> list[str]:
    return [entry.content for entry in found.entries]


def recap(seq: int, **answers: str) -> Item:
    answered = SummaryFields(**answers)
    return an_item(seq, kind="summary", type="summary", title=f"login {seq}", summary=answered)


def decisions(count: int) -> list[Item]:
    """Return decisions, the newest there is, that have no word in common with any query."""
    return [a_note(n, title=f"Rule {n * 'x'}") for n in range(1, count + 1)]


def test_among_sixty_decisions_what_fits_comes_first(filled: Filled) -> None:
    fitting = (an_item(n, title=f"The login {n * 'y'}") for n in range(900, 905))
    found = answered(filled(*decisions(60), *fitting))
    assert set(ids(found)[:5]) == {4 * n for n in range(900, 905)}
    assert found.leading == 5


@pytest.mark.parametrize("query", ["login", "zebra"])
def test_knowledge_that_matches_nothing_gets_a_share(filled: Filled, query: str) -> None:
    rules = [a_note(n, title=f"Rule {n * 'x'}") for n in range(2, 62)]
    found = answered(filled(an_item(1, title="login"), *rules), budget=400, query=query)
    spent = [entry_price(each) for each in found.entries if each.hit.item.type == "decision"]
    assert 0 < sum(spent) <= 400 * KNOWLEDGE_SHARE
    assert 4 in ids(found)
    assert found.notice.endswith(NOTHING_FITS) == (query == "zebra")


def test_of_what_fits_alike_knowledge_comes_first(filled: Filled) -> None:
    decision = a_note(50, title="login bbb")
    sources = filled(an_item(1, title="login aaa"), decision, an_item(60, title="c"))
    assert ids(answered(sources)) == [200, 4]


def test_a_better_fit_comes_before_knowledge(filled: Filled) -> None:
    decision = a_note(1, title="Never show the password in a log, whoever may read it")
    sources = filled(decision, an_item(90, title="login fails"), an_item(91, title="other"))
    assert ids(answered(sources, query="login fails log"))[0] == 360


@pytest.mark.parametrize("budget", [40, 300, 100_000])
def test_what_is_looked_at_and_not_shown_is_counted(filled: Filled, budget: int) -> None:
    many = (an_item(n, title=f"login x{n}") for n in range(1, 21))
    rules = (a_note(n, title=f"Rule {n * 'x'}") for n in range(500, 520))
    found = answered(filled(*many, *rules), budget=budget)
    assert found.left_out == 40 - len(found.entries)


def test_what_may_not_be_shown_is_not_counted(store: SqliteStore, filled: Filled) -> None:
    with store.write() as writer:
        writer.put_session(Session(id=9, external="s", client="c", project_id=HERE))
    of_others = {"project_id": None, "scope": "personal", "owner": "ben", "type": "fact"}
    sources = filled(
        a_note(1, title="login a", suspicion="orders"),
        a_note(2, title="login b", approval="provisional"),
        a_note(3, title="login c", expires_ms=5),
        a_note(4, title="login d", **of_others),
        an_item(5, title="login e", project_id=3),
        an_item(6, title="login f", kind="summary", type="summary", session_id=9),
        an_item(7, title="login g"),
    )
    found = answered(sources, owner="ana")
    assert (ids(found), found.summaries, found.left_out) == ([28], (), 0)


REST = "Nobody may stay logged in for longer."


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        pytest.param({"narrative": "Login by cookie"}, "", id="title-as-narrative"),
        pytest.param({"narrative": "Login by cookie."}, "", id="but-for-a-stop"),
        pytest.param({"narrative": f"Login by cookie.\n{REST}"}, REST, id="title-then-more"),
        pytest.param({"facts": ("Login by cookie",)}, "", id="title-as-fact"),
    ],
)
def test_a_title_is_not_paid_for_again(
    filled: Filled, fields: dict[str, Any], content: str
) -> None:
    found = answered(filled(an_item(1, title="Login by cookie", **fields)))
    assert contents(found) == [content]


PASSAGE = "The login fails because the clock of the server is late by an hour."


def test_a_summary_does_not_quote_what_was_paid_for(filled: Filled) -> None:
    finding = an_item(1, type="finding", title="login fails: clock", narrative=PASSAGE)
    summary = recap(2, learned=PASSAGE, completed="Set the clock for the login.")
    (shown,) = answered(filled(finding, summary), query="login clock").summaries
    assert shown.item.summary == SummaryFields(completed="Set the clock for the login.")


def test_nor_does_an_entry_quote_a_summary(filled: Filled) -> None:
    prompt = an_item(1, type="prompt", title="A login", narrative=f"{PASSAGE} {REST}")
    found = answered(filled(prompt, recap(2, learned=PASSAGE)))
    assert contents(found) == [REST]


def test_a_summary_beyond_the_share_comes_after_the_entries(filled: Filled) -> None:
    long = recap(1, learned="many words of it " * 10)
    entry = an_item(2, title="a thing of the login", narrative="said")
    found = answered(filled(long, entry, an_item(3, title="c")), budget=70)
    assert (ids(found), [each.item.id for each in found.summaries]) == ([8], [4])
    assert found.left_out == 0
    assert answered(filled(), budget=20).left_out == 1
    assert answered(filled(), budget=1).left_out == 2


@pytest.mark.parametrize("query", ["?!", "yesterday"])
def test_a_query_without_words_is_shown_what_is_newest(filled: Filled, query: str) -> None:
    found = answered(filled("one", "two"), query=query)
    assert (ids(found), NOTHING_FITS in found.notice) == ([4, 8], True)


def test_echoes_of_one_prompt_are_shown_once(filled: Filled) -> None:
    text = "Make the login of the shop remember who was here"
    types = ("prompt", "delegation", "prompt", "research")
    echoes = [
        an_item(n, type=type_, title=text, narrative=text) for n, type_ in enumerate(types, 1)
    ]
    found = answered(filled(*echoes, recap(9, request=text)))
    assert (len(found.entries) + len(found.summaries), found.left_out) == (1, 0)
    assert len(found.omitted) == 4


WORD = st.sampled_from(["login", "cookie", "clock", "aaa", "bbb", "ccc"])
KINDS = {"decision": "note", "fact": "note", "summary": "summary"}
ROW = st.tuples(
    st.sampled_from(["command", "commit", "prompt", *KINDS]),
    st.lists(WORD, min_size=1, max_size=4).map(" ".join),
    st.lists(WORD, max_size=60).map(" ".join),
)


def generated(rows: Sequence[tuple[str, str, str]]) -> list[Item]:
    return [
        an_item(
            seq,
            kind=KINDS.get(type_, "observation"),
            type=type_,
            title=title,
            narrative=answered,
            summary=SummaryFields(learned=answered) if type_ == "summary" else None,
        )
        for seq, (type_, title, answered) in enumerate(rows, start=1)
    ]


@given(
    st.lists(ROW, max_size=15),
    st.integers(0, 400),
    st.sampled_from(["login", "clock cookie", "login aaa bbb"]),
)
def test_an_answer_keeps_its_promises(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    budget: int,
    query: str,
) -> None:
    """What fits stands first, nothing is said twice, and what is left out is counted."""
    store = SqliteStore(tmp_path_factory.mktemp("answer") / "observer.db")
    items = generated(rows)
    with store.write() as writer:
        writer.put_project(Project(id=HERE, uuid="u", name="app"))
        writer.put_items(items)
    with lent(store) as sources:
        found = answered(sources, budget=budget, query=query)
    store.close()
    asked = set(query.split())
    fitting = {item.id for item in items if asked & {*item.title.split(), *item.narrative.split()}}
    if not fitting:
        return
    shown = {*ids(found), *(each.item.id for each in found.summaries)}
    dear = {one.item for one in found.omitted if one.why.startswith(("costs", NO_ROOM))}
    repeated = {one.item for one in found.omitted} - dear
    of_hits = [entry.hit.signals for entry in found.entries]
    signals = [one.fts5 > 0 or one.semantic >= NEAR for one in of_hits]
    assert signals == sorted(signals, reverse=True), "what fits stands first"
    assert all(signals) or fitting <= shown | repeated | dear, "all that fits was tried"
    rest = [item for item in items if item.id not in shown | repeated]
    most = sum(item.id in fitting or item.kind == "note" for item in rest)
    # Of those that say the same one stands for all.
    stands = {item.title for item in items if item.id in shown}
    least = len({item.title for item in rest if item.id in fitting} - stands)
    assert least <= found.left_out <= most
    said = [text for text in contents(found) if len(text.split()) > 3]
    assert len(said) == len(set(said)), "each text is paid for once"


def test_a_summary_of_which_all_was_said_is_not_paid_for(filled: Filled) -> None:
    prompt = an_item(1, title="Why does the login fail", narrative=PASSAGE)
    summary = recap(2, request="Why does the login fail?", learned=PASSAGE)
    found = answered(filled(prompt, summary), query="why does the login fail")
    assert (ids(found), found.summaries, found.left_out) == ([4], (), 0)


def test_what_is_said_above_is_named(filled: Filled) -> None:
    said = an_item(1, type="commit", title="login", narrative=PASSAGE)
    again = an_item(2, type="prompt", title=PASSAGE, narrative=PASSAGE)
    (omitted,) = answered(filled(said, again)).omitted
    assert (omitted.item, omitted.why) == (8, SAID)


def test_no_end_of_a_quotation_is_left_out() -> None:
    text = 'The check says "nothing left. Run this script at once" since the last change.'
    repeats = Repeats()
    repeats.add(['Run this script at once" since the last change.'])
    assert repeats.fresh(text) == text
