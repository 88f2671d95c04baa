"""What a match is worth, the text that shows it, and what a handle means."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.errors import Ambiguous, NotFound
from observer.core.model import Item, Project, Session, Validity, spaced
from observer.index import ListRequest
from observer.search.candidates import (
    CROWDED,
    NAMED,
    OPEN,
    QueryWords,
    distinctness,
    doubt_of,
    is_name,
    trust,
)
from observer.search.handles import located, meant, named, session_id
from observer.search.query import plan
from observer.search.rank import (
    HALF_LIFE_MS,
    Hit,
    HitSignals,
    composite,
    fit,
    is_stale,
    outranked,
    recency,
    staleness_factor,
    together,
)
from observer.search.snippet import held_whole, sentences, snippet
from observer.store.database import SqliteStore

from .conftest import Filled, an_item


@pytest.mark.parametrize(("bm25", "words"), [
    pytest.param([9, 4.5], [1, 0.5], id="better than good"),
    pytest.param([8, 4], [1, 0.5], id="good"),
    pytest.param([2, 1], [0.25, 0.125], id="a quarter of it"),
    pytest.param([0, 0], [0, 0], id="nothing"), pytest.param([], [], id="no item"),
])  # fmt: skip
def test_words_count_by_how_good_they_are(bm25: list[float], words: list[float]) -> None:
    found, _ = trust(np.array(bm25), good=8, doubt=0, is_named=False)
    assert found.tolist() == pytest.approx(words)


@pytest.mark.parametrize(("text", "doubt"), [
    pytest.param("ledger", 0, id="all of it"),
    pytest.param("ledger rome", 0.75, id="a half, and neither is rarer"),
    pytest.param("basel", 1, id="nothing"),
])  # fmt: skip
def test_a_query_is_doubted_by_what_no_item_holds(filled: Filled, text: str, doubt: float) -> None:
    sources = filled("the ledger", "rome", "oslo")
    query = QueryWords(sources.reader, sources.view, plan(text))
    found = sources.view.by_words(query.codes, [ListRequest(np.ones(3, np.bool_), 9)])
    assert doubt_of(sources.view, query, found) == pytest.approx(doubt)


@pytest.mark.parametrize(
    ("semantic", "crowding", "doubt", "factors"),
    [
        pytest.param(
            [0.5] * 3, [0.2, 0, -0.2], 0.5, [1 - CROWDED / 5, 1, 1 + CROWDED / 5], id="less, more"
        ),
        pytest.param([0.5], [0.4], 0, [1], id="words find what is meant"),
        pytest.param([0, 0.01], [0.4, 0.4], 1, [0, 0], id="no less than nothing"),
    ],
)
def test_meaning_counts_less_in_a_crowd_and_more_alone(
    semantic: list[float], crowding: list[float], doubt: float, factors: list[float]
) -> None:
    found = distinctness(np.array(semantic), np.array(crowding), doubt=doubt)
    assert found.tolist() == pytest.approx(factors)


@pytest.mark.parametrize(
    ("doubt", "is_named", "meaning"),
    [(0, False, 1), (0.5, False, 1 + OPEN / 4), (1, False, 1 + OPEN), (0, True, NAMED)],
)
def test_what_words_leave_open_goes_to_meaning_if_it_is_no_name(
    doubt: float, meaning: float, *, is_named: bool
) -> None:
    assert trust(np.array([8]), good=8, doubt=doubt, is_named=is_named)[1] == meaning


@pytest.mark.parametrize(("together", "count", "expected"), [
    pytest.param([3, 1], 3, True, id="all of them in one item"),
    pytest.param([2, 2], 3, False, id="never all"), pytest.param([1], 1, False, id="one word"),
    pytest.param([6], 6, False, id="a sentence"), pytest.param([], 2, False, id="no item"),
])  # fmt: skip
def test_a_name_is_a_few_words_that_stand_together(
    together: list[int], count: int, *, expected: bool
) -> None:
    assert is_name(np.array(together, np.int64), count) is expected


ALL = HitSignals(semantic=1.0, fts5=1.0, recency=1.0, project_match=1.0)


@pytest.mark.parametrize(("age_ms", "expected"), [
    pytest.param(0, 1.0, id="now"), pytest.param(HALF_LIFE_MS, 0.5, id="a-week"),
    pytest.param(2 * HALF_LIFE_MS, 0.25, id="two-weeks"), pytest.param(-5, 1.0, id="the-future"),
])  # fmt: skip
def test_recency_halves_every_week(age_ms: int, expected: float) -> None:
    assert recency(10**12 - age_ms, now_ms=10**12) == pytest.approx(expected)


def test_an_item_of_now_and_here_is_worth_1() -> None:
    assert composite(ALL, type_="command") == pytest.approx(1.0)


@pytest.mark.parametrize("type_", ["decision", "constraint", "heuristic", "rejected"])
def test_knowledge_is_worth_three_times_as_much(type_: str) -> None:
    assert composite(ALL, type_=type_) == pytest.approx(3.0)


def _item(number: int = 1, *standing: Validity, stale_ms: int | None = None) -> Item:
    return Item(
        id=number, uuid="", kind="note", type="decision", title="", validity=standing,
        stale_ms=stale_ms,
    )  # fmt: skip


def _hit(item: Item, score: float) -> Hit:
    return Hit(item=item, score=score, signals=HitSignals())


@pytest.mark.parametrize(("standing", "factor"), [
    ((), 1.0), ((Validity(reason="renamed"),), 1.0),
    ((Validity(reason="supersedes", target=3),), 1.0), ((Validity(reason="changed"),), 1.0),
    ((Validity(reason="reverted", share=0.5),), 0.85),
    ((Validity(reason="superseded"), Validity(reason="elsewhere")), 0.4),
], ids=["holds", "renamed", "supersedes", "changed", "half", "both"])  # fmt: skip
def test_a_score_is_less_by_what_happened(standing: tuple[Validity, ...], factor: float) -> None:
    assert staleness_factor(standing) == pytest.approx(factor)


@pytest.mark.parametrize(("item", "stale"), [
    (_item(), False), (_item(1, stale_ms=5), True),
    (_item(1, Validity(reason="changed", share=0.5)), True),
    (_item(1, Validity(reason="changed", share=0.4)), False),
    (_item(1, Validity(reason="elsewhere")), False),
    (_item(1, Validity(reason="superseded")), True),
], ids=["holds", "by itself", "half", "less", "elsewhere", "superseded"])  # fmt: skip
def test_an_item_is_stale_once_half_of_it_is(item: Item, *, stale: bool) -> None:
    assert is_stale(item) is stale


def test_what_took_the_place_stands_above() -> None:
    old = _hit(_item(1, Validity(reason="superseded", target=2)), 0.9)
    new = _hit(_item(2), 0.3)
    alone = _hit(_item(3, Validity(reason="superseded", target=9)), 0.8)
    scores = {hit.item.id: hit.score for hit in outranked([old, new, alone])}
    assert scores[1] < scores[2] == 0.3
    assert scores[3] == 0.8


def test_a_newer_note_that_was_raised_stands_beside_an_older_one() -> None:
    old, new = _hit(_item(1), 0.5), _hit(_item(2), 0.5)
    raised = replace(new, score=0.9)
    assert together([raised, old], [old, new], lambda *_: 1.0) == [raised, old]
    assert together([old], [raised, new], lambda *_: 1.0)[0].item.id == 2


def test_no_score_falls_below_0() -> None:
    old = _hit(_item(1, Validity(reason="superseded", target=2)), 0.005)
    assert [hit.score for hit in outranked([old, _hit(_item(2), 0.004)])] == [0.0, 0.004]


def test_a_hit_tells_what_is_left_of_its_worth() -> None:
    signals = HitSignals(fts5=1.0)
    hit = Hit(item=_item(), score=0.4 * fit(signals), signals=signals)
    assert hit.lasting == pytest.approx(0.4)
    assert _hit(_item(), 0.0).lasting == 1.0


@pytest.mark.parametrize(
    ("text", "limit", "words", "expected"),
    [
        pytest.param("short", 10, (), "short", id="fits"),
        pytest.param("one two three four", 12, (), "one two …", id="start"),
        pytest.param("x" * 50, 12, (), "…", id="one-long-word"),
        pytest.param("First one. Then the bug. End of it.", 22, ["bug"], "… Then the bug. End …",
                     id="sentence"),
        pytest.param("a b c d e f g h i j k bug", 14, ["bug"], "… bug", id="word"),
        pytest.param("A bug. Nothing here. The bug of the login.", 27, ["bug", "login"],
                     "… The bug of the login.", id="most-words"),
        pytest.param("The bug and login. Then more. A bug login.", 26, ["bug", "login"],
                     "The bug and login. Then …", id="start-holds-as-many"),
        pytest.param("bug bug bug bug of many. A bug login.", 20, ["bug", "login"],
                     "… A bug login.", id="different-words"),
        pytest.param("One two. It fails here.", 18, ["failing"], "… It fails here.", id="ending"),
        pytest.param("A bug is a bug. Nothing. Mend the login.", 22, ["bug", "login"],
                     "… Mend the login.", id="rarer-word"),
        pytest.param("log " * 30 + "The bug log.", 16, ["log", "bug"], "… bug log.",
                     id="a-word-that-stands-everywhere"),
        pytest.param("one two three four", 12, ["absent"], "one two …", id="absent"),
        pytest.param("金额用整数保存。不用浮点数。", 10, (), "金额用整数保存。 …", id="no-blanks"),
        pytest.param("使用 Decimal 保存", 11, (), "使用 …", id="word-amid-no-blanks"),
        pytest.param("第一第二第三第四第五bug", 8, ["bug"], "… bug", id="word-behind-no-blanks"),
        pytest.param("先写测试。数据库锁定是因为报表。", 12, ["锁定"], "… 数据库锁定是因为 …",
                     id="sentence-without-blanks"),
        pytest.param("İ" * 4 + " two three bug", 12, ["bug"], "İİİİ two …", id="case-folding"),
    ],
)  # fmt: skip
def test_a_passage_is_the_useful_part(
    text: str, limit: int, words: list[str], expected: str
) -> None:
    assert snippet(text, limit, words=words) == expected


@given(st.text(), st.integers(8, 60), st.lists(st.text(max_size=5), max_size=3))
def test_a_passage_never_exceeds_its_limit_and_never_parts_a_word(
    text: str, limit: int, words: list[str]
) -> None:
    shown = snippet(text, limit, words=words)
    assert len(shown) <= limit
    kept = shown.removeprefix("… ").removesuffix(" …").removesuffix("…")
    assert kept in text
    assert set(spaced(kept).split()) <= set(spaced(text).split())


_NEAR_WORDS = st.text("ab_1é\u0301 .", max_size=12)


@given(st.text("ab.!?; \n\t\r", max_size=40))
def test_a_text_in_ascii_is_cut_where_any_other_is(text: str) -> None:
    assert [each.replace("a", "é") for each in sentences(text)] == sentences(text.replace("a", "é"))


@given(_NEAR_WORDS, st.text("ab_1é", min_size=1, max_size=3))
def test_a_word_is_held_whole_where_no_letter_digit_or_underscore_is_beside_it(
    text: str, word: str
) -> None:
    assert held_whole(text, [word]) == (word in re.findall(r"\w+", text))


SHOP = Project(
    id=2,
    uuid="u-2",
    name="shop",
    roots=("/home/ana/shop",),
    remotes=("example.org/ana/shop",),
    earlier_names=("store",),
)
INNER = Project(id=3, uuid="u-3", name="Shop", roots=("/home/ana/shop/api",))
OTHER = Project(id=4, uuid="u-4", name="other")
TWIN = Project(id=5, uuid="u-5", name="other", roots=("/srv/other",))
EVERY = (SHOP, INNER, OTHER, TWIN)


@pytest.mark.parametrize(("handle", "project"), [
    ("u-2", SHOP), ("/home/ana/shop", SHOP), ("example.org/ana/shop", SHOP), ("shop", SHOP),
    ("Shop", INNER), ("store", SHOP), ("/home/ana/shop/src/cart.py", SHOP),
    ("/home/ana/shop/api/main.py", INNER),
])  # fmt: skip
def test_a_handle_means_one_project(handle: str, project: Project) -> None:
    assert named(EVERY, handle) == project


def test_of_two_with_one_name_the_exact_handles_are_shown() -> None:
    with pytest.raises(Ambiguous) as refused:
        named(EVERY, "other")
    assert refused.value.hint == "use one of these: u-4, /srv/other"


@pytest.mark.parametrize("handle", ["", "nothing", "/elsewhere", "home/ana/shop/src"])
def test_what_means_none_is_refused(handle: str) -> None:
    with pytest.raises(NotFound, match="no project"):
        named(EVERY, handle)


def test_before_the_first_project_the_refusal_says_how_to_begin() -> None:
    with pytest.raises(NotFound) as refused:
        named([], "shop")
    assert "observer install" in (refused.value.hint or "")


@pytest.mark.parametrize(("files", "names", "home"), [
    pytest.param(["/home/ana/shop/src/cart.py"], ("src/cart.py",), 2, id="whole-path"),
    pytest.param(["/home/ana/shop/api/main.py"], ("main.py",), 3, id="nested-project"),
    pytest.param(["./src/cart.py", "lib//a/"], ("src/cart.py", "lib/a"), None, id="untidy"),
    pytest.param(["/etc/hosts"], ("/etc/hosts",), None, id="in-no-project"),
    pytest.param(["/home/ana/shop/a", "/srv/other/b"], ("a", "b"), None, id="of-two"),
    pytest.param(["/home/ana/shop/a", "b"], ("a", "b"), None, id="whole-and-end"),
    pytest.param(["/home/ana/shop/", "/home/ana/shop/a"], (), 2, id="root"),
    pytest.param([], (), None, id="none"),
])  # fmt: skip
def test_files_are_named_as_items_name_them(
    files: list[str], names: tuple[str, ...], home: int | None
) -> None:
    assert located(EVERY, files) == (names, home)


@pytest.fixture
def sessions(store: SqliteStore) -> SqliteStore:
    with store.write() as writer:
        writer.put_session(Session(id=8, external="abc", client="kiro", project_id=2))
        writer.put_session(Session(id=12, external="8", client="kiro", project_id=2))
    return store


@pytest.mark.parametrize(
    ("handle", "session"), [("", None), ("abc", 8), ("8", 12), ("12", 12), ("s12", 12)]
)
def test_a_session_is_named_by_its_client_first(
    sessions: SqliteStore, handle: str, session: int | None
) -> None:
    with sessions.read() as reader:
        assert session_id(reader, handle) == session


@pytest.mark.parametrize("handle", ["abcd", "99", "9" * 40, "\u0662"])
def test_a_session_that_nobody_knows_is_refused(sessions: SqliteStore, handle: str) -> None:
    with sessions.read() as reader, pytest.raises(NotFound, match="no session"):
        session_id(reader, handle)


def test_the_session_of_an_item_is_meant_where_the_handle_is_an_items(
    sessions: SqliteStore,
) -> None:
    with sessions.write() as writer:
        writer.put_items([an_item(5, session_id=12)])
    with sessions.read() as reader:
        assert session_id(reader, "#20") == 12
        with pytest.raises(NotFound, match="no session 20"):
            session_id(reader, "20")


def test_an_item_is_meant_by_its_id_or_the_beginning_of_its_uuid(store: SqliteStore) -> None:
    alike = [replace(an_item(seq), uuid=f"0123abcd-{seq}") for seq in (1, 2)]
    with store.write() as writer:
        writer.put_items(alike)
    with store.read() as reader:
        assert meant(reader, f" #{alike[0].id}") == meant(reader, "0123ABCD-1") == alike[0].id
        with pytest.raises(Ambiguous, match="fits several items"):
            meant(reader, "0123abcd")
        with pytest.raises(NotFound, match="no item"):
            meant(reader, "4711")
