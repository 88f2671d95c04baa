from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.model import Item, Project
from observer.recall import search as search_module
from observer.recall.search import Found, search
from observer.store.interface import Filters, Reader
from observer.store.sqlite import SqliteStore

Filled = Callable[..., Reader]
Make = Callable[..., Item]
NOW_MS = 1_800_000_000_000
HERE, ELSEWHERE = 2, 3


def run(reader: Reader, text: str, *, limit: int = 10, **filters: Any) -> Found:
    return search(reader, text, Filters(**filters), limit=limit, now_ms=NOW_MS)


def titles(found: Found) -> list[str]:
    return [hit.item.title for hit in found.hits]


CORPUS = (
    "authentication with JWT tokens",
    "authorization middleware",
    "OAuth authentication",
    "validate the JWT token",
    "queryPromise in src/auth.ts",
    "promise of a better query language, one day",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("authentication AND JWT", {0}, id="and"),
        pytest.param("authentication OR authorization", {0, 1, 2}, id="or"),
        pytest.param("authentication NOT OAuth", {0}, id="not"),
        pytest.param('"JWT token"', {0, 3}, id="phrase"),
        pytest.param("authen*", {0, 2}, id="prefix"),
        pytest.param("title:midd*", {1}, id="column"),
        pytest.param("narrative:middleware", set(), id="other-column"),
        pytest.param("validating authentications", {0, 2, 3}, id="prose-stemmed"),
        pytest.param("src/auth.ts", {2, 4}, id="file"),
        pytest.param("zebra", set(), id="nothing"),
    ],
)
def test_the_language_finds_what_it_says(filled: Filled, text: str, expected: set[int]) -> None:
    assert set(titles(run(filled(*CORPUS), text))) == {CORPUS[place] for place in expected}


@pytest.mark.parametrize(
    "text", ["query promise", "queryPromise", "query_promise", "auth.ts", "src/auth.ts"]
)
def test_an_identifier_or_file_name_beats_its_scattered_words(filled: Filled, text: str) -> None:
    assert titles(run(filled(*CORPUS), text))[0] == CORPUS[4]


def test_an_exact_error_text_comes_first(filled: Filled) -> None:
    reader = filled(
        "TypeError while reading properties of the undefined user",
        'TypeError: Cannot read properties of "undefined"',
        "Cannot write the undefined properties",
    )
    found = run(reader, 'TypeError: Cannot read properties of "undefined"')
    assert titles(found)[0].startswith("TypeError: Cannot")


def test_a_malformed_query_falls_back_to_words_and_says_so(filled: Filled) -> None:
    found = run(filled(*CORPUS), "middleware AND (")
    assert titles(found) == [CORPUS[1]]
    assert found.notice.startswith("searched as plain words")


@pytest.mark.parametrize("text", ["", "   ", "?!", "\0"])
def test_a_text_without_words_finds_nothing_and_says_so(filled: Filled, text: str) -> None:
    found = run(filled(*CORPUS), text)
    assert (found.hits, found.notice) == ((), "there is no word to search for")


def test_recency_orders_equals_only(filled: Filled, an_item: Make) -> None:
    reader = filled(
        an_item(3, title="login page"),
        an_item(2, title="login page"),
        an_item(1, title="a page about the other things of the login"),
    )
    assert [hit.item.id for hit in run(reader, "login page").hits] == [8, 12, 4]


def test_each_hit_explains_itself(filled: Filled) -> None:
    best = run(filled(*CORPUS), "JWT tokens zebra").hits[0]
    assert best.item.title == CORPUS[0]
    assert best.signals.terms == ("JWT", "tokens")
    assert best.signals.fts5 == best.score == 1.0
    assert best.signals.close == 0.5
    assert 0.9 < best.signals.recency < 1.0


def test_both_lists_are_filled_up_to_the_limit(filled: Filled, an_item: Make) -> None:
    kinds = ["observation", "note", "summary", "inference"]
    reader = filled(*(an_item(n, title="login", kind=kinds[n % 4]) for n in range(1, 25)))
    found = [hit.item.kind for hit in run(reader, "login", limit=4).hits]
    assert found.count("summary") == 4
    assert found.count("observation") + found.count("note") == 4
    assert "inference" not in found


@pytest.mark.parametrize("kinds", [("summary",), ("inference",), ("note", "summary")])
def test_only_the_kinds_asked_for_are_found(
    filled: Filled, an_item: Make, kinds: tuple[str, ...]
) -> None:
    every = ["observation", "note", "summary", "inference"]
    reader = filled(*(an_item(n, title="login", kind=every[n % 4]) for n in range(1, 9)))
    assert {hit.item.kind for hit in run(reader, "login", kinds=kinds).hits} == set(kinds)


@pytest.mark.parametrize("text", ["common", "common usual", "common rare", "comm*", "usual NOT zz"])
def test_common_words_find_their_best_matches(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """With a budget far below the matches, hits are fewer at worst, never wrong."""
    monkeypatch.setattr(search_module, "BUDGET", 8)
    reader = filled("rare common usual", *["common usual thing"] * 30)
    found = run(reader, text, limit=3)
    assert len(found.hits) == 3 or "rare" in text
    assert ("rare" in text) == (titles(found)[0] == "rare common usual")


def test_a_word_that_every_item_holds_still_finds(filled: Filled) -> None:
    found = run(filled(*["login"] * 5), "login")
    assert [hit.score for hit in found.hits] == [1.0] * 5


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
    an_item: Make,
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
    with store.read() as reader:
        found = run(reader, text, project_id=HERE, owner="ana", with_global=with_global)
    store.close()
    assert all(
        hit.item.project_id in {HERE, *([None] if with_global else [])} for hit in found.hits
    )
    assert all(hit.item.scope != "personal" or hit.item.owner == "ana" for hit in found.hits)
