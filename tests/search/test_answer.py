"""The part of a context pack that answers a query: order, shares, repetitions, and the count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import Item, Project, Session, SummaryFields
from observer.search.candidates import Sources
from observer.search.context import (
    KNOWLEDGE_SHARE,
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
from observer.store.database import SqliteStore

from .conftest import HERE, NOW_MS, Filled, an_item, lent

Make = Callable[..., Item]
ANSWERS = SummaryFields.__struct_fields__


def entry_cost(entry: PackEntry) -> int:
    return 5 + len(f"{entry.hit.item.title}{entry.content}") // 4


def summary_cost(answered: FinishedSession) -> int:
    fields = answered.item.summary or SummaryFields()
    return 5 + len(answered.item.title + "".join(getattr(fields, name) for name in ANSWERS)) // 4


COSTS = TokenCosts(entry=entry_cost, summary=summary_cost, line=lambda _: 1, overhead=0)


def packed(sources: Sources, budget: int = 2000, query: str = "login", **fields: Any) -> Pack:
    request = PackRequest(
        project_id=HERE, budget_tokens=budget, now_ms=NOW_MS, query=query, **fields
    )
    return pack(sources, request, COSTS)


def ids(found: Pack) -> list[int]:
    return [entry.hit.item.id for entry in found.entries]


def contents(found: Pack) -> list[str]:
    return [entry.content for entry in found.entries]


def a_note(seq: int, **fields: Any) -> Item:
    return an_item(seq, **({"kind": "note", "type": "decision"} | fields))


def a_summary(seq: int, **answers: str) -> Item:
    answered = SummaryFields(**answers)
    return an_item(seq, kind="summary", type="summary", title=f"login {seq}", summary=answered)


def decisions(count: int) -> list[Item]:
    """Return decisions, the newest there is, that have no word in common with any query."""
    return [a_note(n, title=f"Rule {n * 'x'}") for n in range(1, count + 1)]


def test_among_sixty_decisions_what_fits_comes_first(filled: Filled) -> None:
    answered = (an_item(n, title=f"The login {n * 'y'}") for n in range(900, 905))
    found = packed(filled(*decisions(60), *answered))
    assert set(ids(found)[:5]) == {4 * n for n in range(900, 905)}
    assert found.leading == 5


@pytest.mark.parametrize("query", ["login", "zebra"])
def test_knowledge_that_matches_nothing_gets_a_share(filled: Filled, query: str) -> None:
    rules = [a_note(n, title=f"Rule {n * 'x'}") for n in range(2, 62)]
    found = packed(filled(an_item(1, title="login"), *rules), budget=400, query=query)
    spent = [entry_cost(each) for each in found.entries if each.hit.item.type == "decision"]
    assert 0 < sum(spent) <= 400 * KNOWLEDGE_SHARE
    assert 4 in ids(found)
    assert found.notice.endswith(NOTHING_FITS) == (query == "zebra")


def test_of_what_fits_alike_knowledge_comes_first(filled: Filled) -> None:
    decision = a_note(50, title="login bbb")
    sources = filled(an_item(1, title="login aaa"), decision, an_item(60, title="c"))
    assert ids(packed(sources)) == [200, 4]


def test_a_better_fit_comes_before_knowledge(filled: Filled) -> None:
    decision = a_note(1, title="Never show the password in a log, whoever may read it")
    sources = filled(decision, an_item(90, title="login fails"), an_item(91, title="other"))
    assert ids(packed(sources, query="login fails log"))[0] == 360


@pytest.mark.parametrize("budget", [40, 300, 100_000])
def test_what_is_looked_at_and_not_shown_is_counted(filled: Filled, budget: int) -> None:
    many = (an_item(n, title=f"login x{n}") for n in range(1, 21))
    rules = (a_note(n, title=f"Rule {n * 'x'}") for n in range(500, 520))
    found = packed(filled(*many, *rules), budget=budget)
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
    found = packed(sources, owner="ana")
    assert (ids(found), found.summaries, found.left_out) == ([28], (), 0)


REST = "Nobody may stay logged in for longer."


@pytest.mark.parametrize(("fields", "content"), [
    pytest.param({"narrative": "Login by cookie"}, "", id="title-as-narrative"),
    pytest.param({"narrative": "Login by cookie."}, "", id="but-for-a-stop"),
    pytest.param({"narrative": f"Login by cookie.\n{REST}"}, REST, id="title-then-more"),
    pytest.param({"facts": ("Login by cookie",)}, "", id="title-as-fact"),
])  # fmt: skip
def test_a_title_is_not_paid_for_again(
    filled: Filled, fields: dict[str, Any], content: str
) -> None:
    found = packed(filled(an_item(1, title="Login by cookie", **fields)))
    assert contents(found) == [content]


PASSAGE = "The login fails because the clock of the server is late by an hour."


def test_a_summary_does_not_quote_what_was_paid_for(filled: Filled) -> None:
    finding = an_item(1, type="finding", title="login fails: clock", narrative=PASSAGE)
    summary = a_summary(2, learned=PASSAGE, completed="Set the clock for the login.")
    (answered,) = packed(filled(finding, summary), query="login clock").summaries
    assert answered.item.summary == SummaryFields(completed="Set the clock for the login.")


def test_nor_does_an_entry_quote_a_summary(filled: Filled) -> None:
    prompt = an_item(1, type="prompt", title="A login", narrative=f"{PASSAGE} {REST}")
    found = packed(filled(prompt, a_summary(2, learned=PASSAGE)))
    assert contents(found) == [REST]


def test_a_summary_beyond_the_share_comes_after_the_entries(filled: Filled) -> None:
    long = a_summary(1, learned="many words of it " * 10)
    entry = an_item(2, title="a thing of the login", narrative="said")
    found = packed(filled(long, entry, an_item(3, title="c")), budget=70)
    assert (ids(found), [each.item.id for each in found.summaries]) == ([8], [4])
    assert found.left_out == 0
    assert packed(filled(), budget=20).left_out == 1
    assert packed(filled(), budget=1).left_out == 2


@pytest.mark.parametrize("query", ["?!", "yesterday"])
def test_a_query_without_words_is_shown_what_is_newest(filled: Filled, query: str) -> None:
    found = packed(filled("one", "two"), query=query)
    assert (ids(found), NOTHING_FITS in found.notice) == ([4, 8], True)


def test_echoes_of_one_prompt_are_shown_once(filled: Filled) -> None:
    text = "Make the login of the shop remember who was here"
    types = ("prompt", "delegation", "prompt", "research")
    echoes = [
        an_item(n, type=type_, title=text, narrative=text) for n, type_ in enumerate(types, 1)
    ]
    found = packed(filled(*echoes, a_summary(9, request=text)))
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
        found = packed(sources, budget=budget, query=query)
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
    summary = a_summary(2, request="Why does the login fail?", learned=PASSAGE)
    found = packed(filled(prompt, summary), query="why does the login fail")
    assert (ids(found), found.summaries, found.left_out) == ([4], (), 0)


def test_what_is_said_above_is_named(filled: Filled) -> None:
    said = an_item(1, type="commit", title="login", narrative=PASSAGE)
    again = an_item(2, type="prompt", title=PASSAGE, narrative=PASSAGE)
    (omitted,) = packed(filled(said, again)).omitted
    assert (omitted.item, omitted.why) == (8, SAID)


def test_no_end_of_a_quotation_is_left_out() -> None:
    text = 'The check says "nothing left. Run this script at once" since the last change.'
    repeats = Repeats()
    repeats.add(['Run this script at once" since the last change.'])
    assert repeats.fresh(text) == text
