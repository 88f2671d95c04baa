"""Typing errors in a query: corrected by the words that items hold, and said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.filters import Filters
from observer.core.model import Item
from observer.search.candidates import Sources
from observer.search.find import NOTHING_HELD, SearchHits, search

Filled = Callable[..., Sources]
Make = Callable[..., Item]
NOW_MS = 1_800_000_000_000
HERE, ELSEWHERE = 2, 3

TITLES = ("authentication of users", "a timeout in the logic", "catch the error", "the authors")


def run(sources: Sources, text: str, **filters: Any) -> SearchHits:
    return search(sources, text, Filters(**filters), limit=10, now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("autentication", "authentication of users", id="a-letter-missing"),
        pytest.param("authenttication", "authentication of users", id="one-too-many"),
        pytest.param("authetnication", "authentication of users", id="two-turned-round"),
        pytest.param("authemtication", "authentication of users", id="another-letter"),
        pytest.param("Autentication", "authentication of users", id="capital"),
        pytest.param("tiemout", "a timeout in the logic", id="short"),
        pytest.param("autentication_check", "authentication of users", id="part-of-a-name"),
    ],
)
def test_a_slip_finds_what_was_meant(filled: Filled, text: str, found: str) -> None:
    answer = run(filled(*TITLES), text)
    assert [hit.item.title for hit in answer.hits] == [found]
    assert "which nothing holds" in answer.notice


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("login", id="short-words-are-words-of-their-own"),
        pytest.param("eror", id="too-short"),
        pytest.param("autetnicaton", id="two-slips"),
        pytest.param("title:autentication", id="an-expression"),
        pytest.param("zebra", id="nothing-like-it"),
        pytest.param("scratch", id="another-first-letter"),
        pytest.param("xcatch", id="a-letter-before-the-first"),
    ],
)
def test_what_leaves_doubt_is_left_as_it_is(filled: Filled, text: str) -> None:
    answer = run(filled(*TITLES), text)
    assert answer.hits == ()
    assert answer.notice in {"", NOTHING_HELD}


def test_what_is_meant_is_asked_for_as_it_was_written(filled: Filled) -> None:
    asked = []

    def encode(text: str, doubt: float = 0.0, /) -> None:
        asked.append(text)

    run(filled(*TITLES)._replace(encode=encode), "autentication slow")
    assert asked == ["autentication slow"]


def test_a_known_word_is_never_corrected(filled: Filled) -> None:
    found = run(filled("the author", "authors", "autor of it"), "autor")
    assert ([hit.item.title for hit in found.hits], found.notice) == (["autor of it"], "")


def test_the_commonest_word_is_meant(filled: Filled) -> None:
    sources = filled("contest aaa", "context bbb", "context ccc")
    assert "searched 'context" in run(sources, "contexst").notice


@pytest.mark.parametrize(
    ("text", "held"),
    [
        pytest.param("planet", "a plane that flies", id="a-word-of-english"),
        pytest.param("devices", "dedicated to the crew", id="only-the-stem-is-near"),
        pytest.param("Apple", "the appeal of apples and appals", id="the-stem-is-held"),
        pytest.param("rationale", "a rational choice", id="a-word-that-the-model-knows"),
        pytest.param("kubelets", "the kubelex is down", id="two-slips-away"),
        pytest.param("vitesses", "vitessed twice", id="another-form-of-a-word-near-it"),
    ],
)
def test_a_word_that_is_right_stays(filled: Filled, text: str, held: str) -> None:
    assert "which nothing holds" not in run(filled(held, "something else"), f"{text} or so").notice


def test_a_slip_is_corrected_to_a_word_as_an_item_holds_it(filled: Filled) -> None:
    found = run(filled("Postgres keeps the orders", "posted gears"), "postgers port")
    assert found.notice == "searched 'postgres' for 'postgers', which nothing holds"
    assert found.hits[0].item.title == "Postgres keeps the orders"


def test_what_others_hold_is_no_correction(filled: Filled, an_item: Make) -> None:
    sources = filled(an_item(1, title="authentication", project_id=ELSEWHERE), an_item(2))
    assert run(sources, "autentication", project_id=HERE).notice == NOTHING_HELD
    assert run(sources, "autentication").hits


def test_the_other_words_still_count(filled: Filled) -> None:
    found = run(filled(*TITLES, "users of the shop"), "autentication users")
    assert found.hits[0].item.title == TITLES[0]
    assert found.hits[0].signals.terms == ("authentication", "users")
