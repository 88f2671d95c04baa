from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.filters import Filters
from observer.core.model import Item, Project, Validity
from observer.observations.drafts import QUESTION
from observer.search import candidates
from observer.search.candidates import LEGS, Leg, Sources
from observer.search.find import (
    MERELY_NEAR,
    NEWEST_FIRST,
    NOTHING_HELD,
    NOTHING_NEAR,
    ONLY_RECORDS,
    SOME_NEAR,
    SearchHits,
    answering,
    search,
)
from observer.search.rank import NEAR, Hit, HitSignals, fit
from observer.store.database import SqliteStore
from observer.tools import render

from .conftest import ELSEWHERE, HERE, NOW_MS, Filled, an_item, lent, stand


def run(
    sources: Sources, text: str, *, limit: int = 10, legs: tuple[Leg, ...] = LEGS, **filters: Any
) -> SearchHits:
    return search(sources, text, Filters(**filters), limit=limit, now_ms=NOW_MS, legs=legs)


def titles(found: SearchHits) -> list[str]:
    return [hit.item.title for hit in found.hits]


CORPUS = (
    "authentication with JWT tokens",
    "authorization middleware",
    "OAuth authentication",
    "validate the JWT token",
    "queryPromise in src/auth.ts",
    "promise of a better query language, one day",
)


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("authentication AND JWT", {0}, id="and"),
    pytest.param("authentication OR authorization", {0, 1, 2}, id="or"),
    pytest.param("authentication NOT OAuth", {0}, id="not"),
    pytest.param('"JWT token"', {0, 3}, id="phrase"), pytest.param("authen*", {0, 2}, id="prefix"),
    pytest.param("title:midd*", {1}, id="column"),
    pytest.param("narrative:middleware", set(), id="other-column"),
    pytest.param("validating authentications", {0, 2, 3}, id="prose-stemmed"),
    pytest.param("src/auth.ts", {2, 4}, id="file"), pytest.param("zebra", set(), id="nothing"),
])  # fmt: skip
def test_the_language_finds_what_it_says(filled: Filled, text: str, expected: set[int]) -> None:
    assert set(titles(run(filled(*CORPUS), text))) == {CORPUS[place] for place in expected}


@pytest.mark.parametrize(
    "text", ["登录", "登录过期", '"登录"', "title:登录", "登录 NOT 密码", "登* AND 会话"]
)
def test_what_is_written_without_blanks_is_found_by_its_words(filled: Filled, text: str) -> None:
    sources = filled("登山记录的错误", "修复用户登录时会话过期的错误", "用户密码")
    assert titles(run(sources, text))[0] == "修复用户登录时会话过期的错误"


@pytest.mark.parametrize(
    "text", ["query promise", "queryPromise", "query_promise", "auth.ts", "src/auth.ts"]
)
def test_an_identifier_or_file_name_beats_its_scattered_words(filled: Filled, text: str) -> None:
    assert titles(run(filled(*CORPUS), text))[0] == CORPUS[4]


@pytest.mark.parametrize("length", [7, 8, 10, 12, 40])
@pytest.mark.parametrize("text", ["{}", "what did {} change?", "commit {}"])
def test_a_commit_is_found_by_its_hash_however_short(
    filled: Filled, text: str, length: int
) -> None:
    known = "e7fe8be056f1a8d7f3974d2f00376d96c5f3a141"
    shown = {"subtitle": f"commit {known[:10]}", "facts": (f"commit {known}",)}
    others = [an_item(seq, title=f"commit and change {seq}") for seq in (2, 3, 4)]
    sources = filled(an_item(title="the wanted", **shown), *others)
    assert titles(run(sources, text.format(known[:length])))[0] == "the wanted"


@pytest.mark.parametrize("text", ["?!", "()", "..."])
def test_a_text_without_words_finds_nothing_and_says_so(filled: Filled, text: str) -> None:
    found = run(filled(*CORPUS), text)
    assert (found.hits, found.notice) == ((), "there is no word to search for")


def test_recency_orders_equals_only(filled: Filled) -> None:
    sources = filled(
        an_item(3, title="login page", narrative="green"),
        an_item(2, title="login page", narrative="amber"),
        an_item(1, title="a page about the other things of the login"),
    )
    assert [hit.item.id for hit in run(sources, "login page").hits] == [8, 12, 4]


def test_each_hit_explains_itself(filled: Filled) -> None:
    best = run(filled(*CORPUS), "JWT tokens zebra").hits[0]
    assert best.item.title == CORPUS[0]
    assert best.signals.terms == ("JWT", "tokens")
    assert 0.25 < best.signals.fts5 < 0.5, "zebra is nowhere"
    assert best.signals.close == 0.5
    assert 0.9 < best.signals.recency < 1.0


def test_a_rank_is_the_place_in_the_answer_of_one_leg(filled: Filled) -> None:
    sources = filled("apple pie", "apple tart", "a pie", meanings=True)
    shown = {hit.item.title: hit.signals for hit in run(sources, "apple pie").hits}
    assert shown["apple pie"].words_rank == 1
    assert {shown[title].meaning_rank for title in shown} == {1, 2, 3}


@pytest.mark.parametrize(("text", "signals"), [
    pytest.param("JWT tokens", {"close": 1.0, "phrase": 1.0}, id="side-by-side"),
    pytest.param("tokens JWT", {"close": 1.0, "phrase": 0.0}, id="turned-round"),
    pytest.param("authentication tokens", {"close": 1.0, "phrase": 0.0}, id="near"),
    pytest.param('"JWT tokens" now', {"exact": 1.0}, id="quoted"),
    pytest.param("src/auth.ts queryPromise other_name", {"exact": 2 / 3}, id="names"),
    pytest.param("JWT", {"close": 0.0, "phrase": 0.0, "exact": 0.0}, id="one-word"),
])  # fmt: skip
def test_what_stands_together_is_shown(
    filled: Filled, text: str, signals: dict[str, float]
) -> None:
    best = run(filled(*CORPUS), text).hits[0].signals
    shown = {name: getattr(best, name) for name in signals}
    assert shown == pytest.approx(signals)


def test_both_lists_are_filled_up_to_the_limit(filled: Filled) -> None:
    kinds = ["observation", "note", "summary", "inference"]
    sources = filled(
        *(an_item(n, title=f"login {chr(96 + n)}", kind=kinds[n % 4]) for n in range(1, 25))
    )
    found = [hit.item.kind for hit in run(sources, "login", limit=4).hits]
    assert found.count("summary") == 4
    assert found.count("observation") + found.count("note") == 4
    assert "inference" not in found


def test_what_says_the_same_is_one_hit_that_names_the_others(filled: Filled) -> None:
    sources = filled(
        *(an_item(n, title="Ran the login", narrative=f"in {n} seconds") for n in range(1, 9)),
        an_item(9, title="Ran the login", narrative="and broke everything on the way"),
        an_item(10, title="Ran another login"),
    )
    shown = sorted(sorted((hit.item.id, *hit.alike)) for hit in run(sources, "login").hits)
    assert shown == [[4 * n for n in range(1, 9)], [36], [40]]


def test_what_happened_in_two_projects_is_no_repetition(filled: Filled) -> None:
    places = (HERE, ELSEWHERE, HERE)
    sources = filled(
        *(
            an_item(n, title="login fails", narrative=f"Port {n}", project_id=place)
            for n, place in enumerate(places, 1)
        )
    )
    shown = [(hit.item.project_id, hit.alike) for hit in run(sources, "login").hits]
    assert shown == [(HERE, (12,)), (ELSEWHERE, ())]


@pytest.mark.parametrize(("narrowed", "notice"), [
    pytest.param({"types": ("command",)}, NOTHING_HELD, id="other-words"),
    pytest.param({"types": ("commands", "command")}, "no item is of type 'commands'", id="type"),
    pytest.param({"branch": "origin/main"}, "no item is of branch 'origin/main'", id="branch"),
])  # fmt: skip
def test_an_empty_answer_names_the_filter_that_nothing_can_pass(
    filled: Filled, narrowed: dict[str, Any], notice: str
) -> None:
    sources = filled(an_item(type="command", title="login", branch="main"))
    assert run(sources, "zebra", **narrowed).notice == notice


def test_repetitions_do_not_use_up_the_limit(filled: Filled) -> None:
    sources = filled(
        *(an_item(n, title="login login", created_ms=n) for n in range(2, 40)),
        an_item(1, title="a login of another kind, long ago and far away"),
    )
    found = run(sources, "login", limit=2)
    assert [hit.item.id for hit in found.hits] == [4 * 39, 4]


@pytest.mark.parametrize("kinds", [("summary",), ("inference",), ("note", "summary")])
def test_only_the_kinds_asked_for_are_found(filled: Filled, kinds: tuple[str, ...]) -> None:
    every = ["observation", "note", "summary", "inference"]
    sources = filled(*(an_item(n, title="login", kind=every[n % 4]) for n in range(1, 9)))
    assert {hit.item.kind for hit in run(sources, "login", kinds=kinds).hits} == set(kinds)


@pytest.mark.parametrize("text", ["common", "common usual", "common rare", "comm*", "usual NOT zz"])
def test_common_words_find_their_best_matches(filled: Filled, text: str) -> None:
    sources = filled("rare common usual", *(f"common usual {c}" for c in "abcdefghijklmnopqrstuv"))
    found = run(sources, text, limit=3)
    assert len(found.hits) == 3
    assert (titles(found)[0] == "rare common usual") or "rare" not in text


def test_only_the_newest_matches_of_an_expression_are_ranked_and_that_is_said(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST_MATCHES", 3)
    found = run(filled(*(f"login {c}" for c in "abcde")), "log*")
    assert sorted(hit.item.id for hit in found.hits) == [12, 16, 20]
    assert "only the newest 3 matches" in found.degraded


@pytest.mark.parametrize(("files", "ids"), [
    pytest.param(("src/auth.ts",), {4, 8}, id="path"),
    pytest.param(("auth.ts",), {4, 8, 16}, id="name"), pytest.param(("src",), {4, 8}, id="folder"),
    pytest.param(("auth",), set(), id="half-a-name"),
    pytest.param(("lib/auth.ts", "tests/"), {12, 16}, id="several"),
    pytest.param(('"', "é AND ("), set(), id="no-file"),
])  # fmt: skip
def test_only_what_touched_a_file_is_found(
    filled: Filled, files: tuple[str, ...], ids: set[int]
) -> None:
    sources = filled(
        an_item(1, title="login a", files_modified=("src/auth.ts",)),
        an_item(2, title="login b", files_read=("x", "src/auth.ts")),
        an_item(3, title="login c", files_read=("tests/auth-test.ts",)),
        an_item(4, title="login d", files_read=("lib/auth.ts",)),
        an_item(5, title="login src/auth.ts"),
    )
    assert {hit.item.id for hit in run(sources, "login", files=files).hits} == ids


@pytest.mark.parametrize("folder", ["index", 'a "b"', "a\\b", "日本"])
def test_what_touched_a_file_is_not_lost_among_what_only_sounds_like_it(
    filled: Filled, folder: str
) -> None:
    likely = [
        an_item(seq, title="login", narrative=f"{seq}", files_read=(f"{folder}.ts", "c"))
        for seq in range(1, 2 * candidates.BY_WORDS)
    ]
    meant = an_item(999, title="the login that is meant", files_modified=("x", f"{folder}/a.ts"))
    found = run(filled(*likely, meant), "login", files=(folder,))
    assert titles(found) == [meant.title]


def test_words_without_letters_of_the_index_do_no_harm(filled: Filled) -> None:
    """Python takes for letters what the engine's older Unicode does not know."""
    young = "\u19b0\u19b1 \u19b2"
    sources = filled("login page")
    assert titles(run(sources, f'login "{young}"')) == ["login page"]
    assert run(sources, f"{young} \u19b3").hits == ()


@pytest.mark.parametrize("text", ["résumé", "re\u0301sume\u0301", "resume", "RÉSUMÉ.md"])
@pytest.mark.parametrize("title", ["wrote résumé.md", "wrote re\u0301sume\u0301.md"])
def test_accents_are_found_composed_or_not(filled: Filled, title: str, text: str) -> None:
    """As file names are on macOS."""
    assert titles(run(filled(title), text)) == [title]


def test_what_fits_better_has_the_higher_score_however_well_others_fit() -> None:
    worths = [fit(HitSignals(semantic=n / 10, meaning_weight=7.0)) for n in range(1, 11)]
    assert worths == sorted(set(worths))
    assert 0 < worths[0] < worths[-1] < 1


def test_meaning_finds_what_no_word_does(filled: Filled) -> None:
    sources = filled("banana", "apple", "cherry", meanings=True)
    found = run(sources, "avocado")
    assert titles(found)[0] == "apple"
    best = found.hits[0].signals
    assert (best.semantic, best.meaning_rank, best.words_rank) == (
        pytest.approx(1, abs=0.01),
        1,
        None,
    )
    assert (found.degraded, best.terms) == ("", ())
    assert found.notice == MERELY_NEAR
    assert run(sources, "avocado cherry").notice == SOME_NEAR


def test_the_length_of_what_holds_a_name_counts_little(filled: Filled) -> None:
    name, filler = "retry with backoff limit", " ".join(f"part{number}" for number in range(30))
    sources = filled(
        an_item(1, title="mentioned", narrative=name),
        an_item(2, title=name, narrative=filler, facts=(name,)),
        *(an_item(seq, title=f"other {seq}") for seq in range(3, 20)),
    )
    assert titles(run(sources, "backoff limit retry"))[0] == name


def test_one_known_word_of_many_does_not_outweigh_meaning(filled: Filled) -> None:
    others = (an_item(seq, title=f"unlike long weekend {seq}") for seq in (2, 3, 4))
    sources = filled(an_item(1, title="deploys wait for monday"), *others, meanings=True)
    asked = "do frozen releases stall during the long weekend"
    assert titles(run(sources, asked))[0] == "deploys wait for monday"


@pytest.mark.parametrize("factor", [pytest.param(0, id="nothing"), pytest.param(-1, id="opposite")])
def test_what_is_not_near_is_not_found(filled: Filled, factor: int) -> None:
    """Where a model knows none of the words, all is as far as all else."""
    sources = filled("apple", meanings=True)
    meaning = sources.encode("apple")
    assert meaning is not None
    assert titles(run(sources._replace(encode=lambda *_: factor * meaning), "zebra")) == []


def test_how_much_has_no_meaning_yet_is_said(store: SqliteStore, filled: Filled) -> None:
    with store.write() as writer:
        writer.put_items([an_item(n, title="bare") for n in (7, 8, 9)])
    found = run(filled("apple", meanings=True), "apple")
    assert found.degraded.startswith("75% of the items are found by words alone")


def test_both_legs_speak_for_what_both_find(filled: Filled) -> None:
    sources = filled("a far thing", "zebra apple", "apple", meanings=True)
    assert titles(run(sources, "apple"))[0] == "apple"
    assert titles(run(sources, "apple", legs=("words",)))[:1] == ["apple"]
    assert "a far thing" in titles(run(sources, "apple", legs=("meaning",)))
    assert "a far thing" not in titles(run(sources, "apple", legs=("words",)))


def test_an_expression_is_not_widened_by_meaning(filled: Filled) -> None:
    sources = filled("apple pie", "apple", "avocado", meanings=True)
    found = run(sources, "apple NOT pie")
    assert titles(found) == ["apple"]
    assert found.hits[0].signals.semantic > 0.9


def test_without_a_model_words_are_searched_alone_and_that_is_said(filled: Filled) -> None:
    assert run(filled(*CORPUS), "login").degraded == candidates.NO_MEANING
    assert run(filled(*CORPUS), "login", legs=("words",)).degraded == ""


@given(
    st.lists(
        st.tuples(
            st.sampled_from([HERE, ELSEWHERE, None]),
            st.sampled_from(["observation", "note", "summary"]),
            st.sampled_from(["project", "personal", "team"]),
            st.sampled_from(["ana", "ben"]),
        ),
        max_size=12,
    ),
    st.sampled_from(["login", "login OR here", "log*", "title:login", "NOT login"]),
    st.booleans(),
)
def test_no_answer_crosses_projects_or_owners(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int | None, str, str, str]],
    text: str,
    with_global: bool,
) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("crossing") / "observer.db")
    with store.write() as writer:
        for project in (HERE, ELSEWHERE):
            writer.put_project(Project(id=project, uuid=str(project), name="app"))
        writer.put_items(
            # The words of another item may well be those that the index uses for places.
            an_item(
                seq, title="login zqp2", project_id=project, kind=kind, scope=scope, owner=owner
            )
            for seq, (project, kind, scope, owner) in enumerate(rows, start=1)
        )
    with lent(store) as sources:
        found = run(sources, text, project_id=HERE, owner="ana", with_global=with_global)
    store.close()
    assert all(
        hit.item.project_id in {HERE, *([None] if with_global else [])} for hit in found.hits
    )
    assert all(hit.item.scope != "personal" or hit.item.owner == "ana" for hit in found.hits)


def test_a_commit_is_never_the_same_as_another(filled: Filled) -> None:
    picked = (an_item(n, type="commit", title="Mend the login", narrative="x") for n in (1, 2))
    assert [hit.alike for hit in run(filled(*picked), "login").hits] == [(), ()]


def _stand(store: SqliteStore, item: int, *standing: Validity) -> None:
    stand(store, {item: standing})


def test_what_has_changed_yields_to_what_holds(filled: Filled, store: SqliteStore) -> None:
    newer, older = an_item(1, title="login form"), an_item(2, title="login form")
    sources = filled(newer, msgspec.structs.replace(older, type="commit"))
    _stand(store, newer.id, Validity(reason="reverted"))
    with store.read() as reader:
        found = run(sources._replace(reader=reader), "login form")
    assert [hit.item.id for hit in found.hits] == [older.id, newer.id]
    assert [each.reason for each in found.hits[1].item.validity] == ["reverted"]


def test_a_file_is_found_under_its_new_name(filled: Filled, store: SqliteStore) -> None:
    item = an_item(1, title="login form", files_modified=("auth.py",))
    sources = filled(item, an_item(2, title="login page", files_modified=("shop.py",)))
    _stand(store, item.id, Validity(reason="renamed", subject="auth.py", path="src/session.py"))
    with store.read() as reader:
        found = run(sources._replace(reader=reader), "login", files=("session.py",))
        assert titles(found) == ["login form"]
        assert titles(run(sources._replace(reader=reader), "login", files=("auth.py",))) == [
            "login form"
        ]


@pytest.fixture
def worked(filled: Filled) -> Sources:
    """Five reports on totals, and newer pieces of work of two sessions on something else."""
    names = ("cart", "bill", "order", "stock", "price")
    said = [an_item(n, title=f"round the total of the {name}") for n, name in enumerate(names, 1)]
    others = [an_item(n, type="command", title=f"list shelves {n}") for n in range(6, 17)]
    newest = [
        an_item(
            seq, type="turn", title=title, session_id=of, files_modified=("a.py",), created_ms=seq
        )
        for seq, of, title in ((20, 1, "Move the shop"), (21, 2, "Open it"), (22, 2, "Till"))
    ]
    return filled(*said, *others, *newest, an_item(23, type="turn", title="What is a till?"))


def titles_of_newest(hits: Sequence[Hit]) -> list[str]:
    return [hit.item.title if hit.signals.is_newest else "" for hit in hits]


def test_the_last_piece_of_each_session_stands_among_what_fits_best(worked: Sources) -> None:
    found = run(worked, "round the total of zebras and badgers", project_id=HERE).hits
    assert titles_of_newest(found)[:5] == ["", "", "", "Till", ""]
    assert all(hit in SearchHits(hits=found).above_floor().hits for hit in found)


def test_the_newest_work_comes_first_where_words_choose_nothing(worked: Sources) -> None:
    found = run(worked, "shelves", project_id=HERE).hits
    assert titles_of_newest(found)[:3] == ["Till", "Move the shop", ""]


def test_behind_it_stands_the_newest_that_holds_the_words(filled: Filled) -> None:
    """However well older ones fit."""
    older = [an_item(n, title=f"shelves shelves {n}", created_ms=n) for n in range(1, 200)]
    newer = an_item(300, title="Mend what the shelves of a shop stand on", created_ms=300)
    work = an_item(301, type="turn", title="Till", files_modified=("a.py",), created_ms=301)
    assert titles(run(filled(*older, newer, work), "shelves", project_id=HERE))[:2] == [
        "Till",
        newer.title,
    ]


def test_of_the_newest_work_five_pieces_are_shown(filled: Filled) -> None:
    held = an_item(1, title="count zebras of the northern herds", created_ms=1)
    work = [
        an_item(n, type="turn", title=f"Till {n}", session_id=n, files_modified=("a.py",))
        for n in range(2, 10)
    ]
    found = run(filled(held, *work), "count all zebras of the herds", project_id=HERE)
    assert sum(hit.signals.is_newest for hit in found.hits) == 5


def test_across_projects_the_newest_work_says_nothing(worked: Sources) -> None:
    found = run(worked, "round the total of zebras and badgers").hits
    assert not any(hit.signals.is_newest for hit in found)


def test_a_few_words_that_one_item_holds_look_it_up(filled: Filled) -> None:
    older = an_item(1, type="turn", title="Count the zebras", created_ms=1)
    half = an_item(2, type="turn", title="Count the badgers", created_ms=2)
    work = an_item(3, type="turn", title="Till", files_modified=("a.py",), created_ms=3)
    found = run(filled(older, half, work), "count zebras", project_id=HERE)
    assert titles(found) == ["Count the zebras", "Count the badgers", "Till"]


def test_the_newest_work_that_fits_best_is_not_marked(worked: Sources) -> None:
    found = run(worked, "till zebras and badgers", project_id=HERE).hits
    assert found[0].item.title == "Till"
    assert not found[0].signals.is_newest


@pytest.mark.parametrize("summed_up", ["round the total of zebras and badgers", "the total"])
def test_a_turn_stands_in_the_place_of_its_sessions_summary(filled: Filled, summed_up: str) -> None:
    """Whichever of the two fits better, and where the turn is found for being new alone."""
    both = {"title": "Why is it off?", "session_id": 2}
    turn = an_item(1, type="turn", narrative="Rounding.", files_modified=("a.py",), **both)
    summary = an_item(2, kind="summary", type="summary", narrative=summed_up, **both)
    found = run(filled(turn, summary, an_item(3)), "round the total", project_id=HERE)
    assert [hit.item.type for hit in found.hits if hit.item.title == turn.title] == ["turn"]


@pytest.mark.parametrize(("asked", "filters"), [
    pytest.param("round the total of zebras", {"types": ("command", "turn")}, id="types"),
    pytest.param("round OR zebras", {}, id="an expression"),
])  # fmt: skip
def test_the_newest_work_is_not_shown_where_more_is_asked_for(
    worked: Sources, asked: str, filters: dict[str, Any]
) -> None:
    found = run(worked, asked, **filters).hits
    assert len(found) > 3
    assert not any(hit.signals.is_newest for hit in found)


def test_questions_crowd_no_answer_out(filled: Filled) -> None:
    question = "What did we decide about the retry limit?"
    asked = [
        an_item(seq, type="turn", category=QUESTION, title=f"{question} {seq}") for seq in range(9)
    ]
    answer = an_item(20, title="The retry limit is 5")
    assert run(filled(*asked, answer), question, limit=2).hits[0].item.id == answer.id


def superseded(store: SqliteStore, old: Item, new: Item, how: str = "superseded") -> None:
    """Say that an item took the place of another."""
    shown = Validity(reason=how, subject=str(new.id), target=new.id)  # type: ignore[arg-type]
    stand(store, {old.id: (shown,)})


@pytest.mark.parametrize("how", ["superseded", "amended"])
def test_what_was_asked_in_old_words_is_answered_by_the_newer_one(
    filled: Filled, store: SqliteStore, how: str
) -> None:
    old, new = (
        an_item(9, title="money is stored as cents"),
        an_item(1, title="amounts are decimals"),
    )
    superseded(store, old, new, how)
    found = run(filled(old, new, "stored elsewhere"), "money stored as cents", limit=2)
    assert titles(found) == [new.title, old.title]


def test_a_newer_one_that_the_filters_leave_out_is_not_found(
    filled: Filled, store: SqliteStore
) -> None:
    old, new = (
        an_item(9, title="money is stored as cents"),
        an_item(1, title="decimals", type="fix"),
    )
    superseded(store, old, new)
    assert titles(run(filled(old, new), "money", types=("command",))) == [old.title]


def test_the_summary_of_a_session_stands_below_what_took_the_place_of_its_words(
    filled: Filled, store: SqliteStore
) -> None:
    old, new = an_item(9, title="cents", session_id=3), an_item(1, title="decimals", session_id=4)
    summary = an_item(8, kind="summary", type="summary", title="cents in money", session_id=3)
    superseded(store, old, new)
    assert titles(run(filled(old, new, summary), "cents in money"))[0] == new.title


@pytest.mark.parametrize(("title", "session", "expected"), [
    pytest.param("retry limit", 3, ["fix", "turn"], id="one-title"),
    pytest.param("retry limit of uploads", 3, ["fix", "summary", "turn"], id="another"),
    pytest.param("retry limit", 4, ["fix", "summary", "turn"], id="other-session"),
])  # fmt: skip
def test_of_a_summary_and_a_turn_of_its_title_one_is_shown(
    filled: Filled, title: str, session: int, expected: list[str]
) -> None:
    turn = an_item(1, type="turn", title=title, session_id=session)
    summary = an_item(2, kind="summary", type="summary", title="retry limit", session_id=3)
    fix = an_item(3, type="fix", title="the uploads, at last, and what became of them")
    found = run(filled(turn, summary, fix), "retry limit of uploads")
    assert sorted(hit.item.type for hit in found.hits) == expected


def test_a_session_that_only_asked_stands_below_what_answers(filled: Filled) -> None:
    question = "What did we decide about the retry limit?"
    asked = an_item(1, kind="summary", type="summary", category=QUESTION, title=question)
    answer = an_item(20, title="The retry limit is 5")
    found = run(filled(asked, answer), question)
    assert [hit.item.id for hit in found.hits] == [answer.id, asked.id]


DAY_MS = 86_400_000


def days_ago(*days: int, **fields: Any) -> list[Item]:
    return [an_item(n, created_ms=NOW_MS - n * DAY_MS, title=f"login {n}", **fields) for n in days]


@pytest.mark.parametrize("text", ["", "   ", "\0"])
def test_no_query_browses_the_newest(filled: Filled, text: str) -> None:
    items = [*days_ago(300, 1, 200), an_item(9, title="Use tabs", kind="note", type="decision")]
    found = run(filled(*items), text, limit=3)
    assert [hit.item.id for hit in found.hits] == [36, 4, 800]
    assert found.notice == NEWEST_FIRST
    assert found.above_floor() == found
    assert [hit.item.id for hit in run(filled(), text, types=("decision",)).hits] == [36]


@pytest.mark.parametrize(("text", "found", "notice"), [
    pytest.param("login of yesterday", [1], "only of", id="words"),
    pytest.param("what happened yesterday?", [1], "only of", id="anything"),
    pytest.param("yesterday", [1], "only of", id="nothing-else"),
    pytest.param("login 2 days ago", [2], "only of", id="ago"),
    pytest.param("zebra of yesterday", [], "nothing of", id="nothing-fits"),
    pytest.param("login 20 days ago", [1, 2, 3, 4], "nothing of", id="nothing-of-then"),
    pytest.param('"login" "of yesterday"', [], "", id="quoted"),
    pytest.param("title:login AND yesterday", [], "", id="expression"),
])  # fmt: skip
def test_time_words_restrict_unless_nothing_of_then_fits(
    filled: Filled, text: str, found: list[int], notice: str
) -> None:
    shown = run(filled(*days_ago(1, 2, 3, 4)), text)
    assert sorted(hit.item.id // 4 for hit in shown.hits) == found
    assert shown.notice.startswith(notice)
    assert bool(shown.notice) == bool(notice)


def test_a_time_that_is_given_is_not_read_from_the_words(filled: Filled) -> None:
    found = run(filled(*days_ago(1, 2)), "login yesterday", since_ms=0)
    assert (len(found.hits), found.notice) == (2, "")


def test_weak_hits_are_left_out_and_counted(filled: Filled) -> None:
    sources = filled(
        "the login cookie expires soon",
        "login cookie expires",
        "a cookie recipe for many guests",
        "cookie jar",
        *(f"thing {letter}" for letter in "abcdefgh"),
    )
    found = run(sources, "login cookie expires soon")
    assert len(found.hits) == 4
    strong = found.above_floor()
    assert titles(strong) == ["the login cookie expires soon", "login cookie expires"]
    assert strong.notice == "2 weak hits left out"


@pytest.mark.parametrize(("text", "titles_", "kept"), [
    pytest.param("login", ["login", "login " * 9 + "thing " * 90], 2, id="all-words-are-held"),
    pytest.param("zebra", ["login"], 0, id="nothing"),
    pytest.param("login page", ["a login", "a page"], 2, id="none-is-better"),
])  # fmt: skip
def test_what_is_not_weaker_is_kept(
    filled: Filled, text: str, titles_: list[str], kept: int
) -> None:
    found = run(filled(*titles_, *"abcdefgh"), text).above_floor()
    assert (len(found.hits), found.notice) == (kept, "" if kept else NOTHING_HELD)


def test_what_took_the_place_of_a_hit_is_not_weak(filled: Filled, store: SqliteStore) -> None:
    old, new = an_item(1, title="login by cookie"), an_item(40, title="Tokens")
    shown = Validity(reason="superseded", subject=str(new.id), target=new.id)
    stand(store, {old.id: (shown,)})
    found = run(filled(old, new, an_item(50, title="a cookie")), "login cookie").above_floor()
    assert titles(found)[0] == "Tokens"


def test_what_shares_nothing_with_the_query_is_not_shown(filled: Filled) -> None:
    sources = filled(
        an_item(1, title="login", kind="summary", type="summary"),
        an_item(2, title="other", kind="summary", type="summary"),
        an_item(3, title="paint"),
        meanings=True,
    )
    assert titles(run(sources, "login")) == ["login"]


@pytest.mark.parametrize("word", ["zorblequax", "vempdru fnortik"])
def test_a_word_that_means_nothing_finds_nothing_and_says_so(filled: Filled, word: str) -> None:
    found = run(filled("banana", "apple", "cherry", meanings=True), word)
    assert (found.hits, found.notice) == ((), NOTHING_NEAR)


@pytest.mark.parametrize(("text", "is_found"), [
    pytest.param("fruit", True, id="known"), pytest.param("repidipi mewalome", False, id="made-up"),
    pytest.param("fruitBowl", True, id="known-by-a-part"),
    pytest.param("repidipi 水果", True, id="of-another-script"),
])  # fmt: skip
def test_made_up_words_are_near_to_nothing(filled: Filled, text: str, *, is_found: bool) -> None:
    sources = filled("banana", "apple", "cherry", meanings=True)
    encode = sources.encode
    towards, aside = encode("a"), encode("z")
    assert towards is not None
    assert aside is not None
    turned = (towards + 3 * aside) / np.linalg.norm(towards + 3 * aside)
    hits = run(sources._replace(encode=lambda *_: turned), text).hits
    assert any(hit.signals.semantic < NEAR for hit in hits) is is_found


def test_words_that_only_records_hold_are_said_to_be_there(filled: Filled) -> None:
    ran = an_item(9, title="make deploy", kind="record", type="command")
    sources = filled(ran, "banana", "apple", "cherry", meanings=True)
    where = ONLY_RECORDS.format(types="command")
    assert run(sources, "deploy").notice == f"{where}, and nothing is near in meaning"
    assert run(sources, "avocado deploy").notice.startswith(f"{where}; what was found is merely")
    assert titles(run(sources, "deploy", types=("command",))) == ["make deploy"]


def test_what_is_near_in_meaning_stands_apart(filled: Filled) -> None:
    found = run(filled("banana", "apple", "cherry pie", meanings=True), "avocado cherry")
    near, held = (
        next(hit for hit in found.hits if bool(hit.signals.fts5) is has) for has in (False, True)
    )
    for hits in (found.hits, (near, held, near)):
        shown = render.hits(hits, lambda _: "", remarks=(found.notice,)).splitlines()
        assert [line for line in shown if line.startswith("(") or line.endswith(":")] == [
            f"({SOME_NEAR})",
            "near in meaning:",
            "with words of the query, and the newest work:",
        ]


@pytest.mark.parametrize(("means", "nearest", "count"), [(1, 0.3, 3), (1, 0.15, 1), (0, 0.3, 1)])
def test_one_near_item_that_is_no_chance_stands_for_those_less_near(
    means: int, nearest: float, count: int
) -> None:
    signals = (HitSignals(fts5=1), HitSignals(semantic=nearest), HitSignals(semantic=0.1))
    hits = [Hit(item=an_item(n), score=0.1, signals=each) for n, each in enumerate(signals)]
    assert len(answering(hits, means=bool(means))) == count
