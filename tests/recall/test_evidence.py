from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.model import Item
from observer.recall.evidence import matched, passage

Make = Callable[..., Item]


def lower(word: str) -> tuple[str, ...]:
    return (word.casefold(),) if word.strip() else ()


@pytest.mark.parametrize(
    ("title", "terms", "close"),
    [
        pytest.param("fix the login token", ("Login", "token"), 1.0, id="side-by-side"),
        pytest.param("login " + "x " * 20 + "token", ("Login", "token"), 0.0, id="apart"),
        pytest.param("a token", ("token",), 0.0, id="one"),
        pytest.param("nothing", (), 0.0, id="none"),
        pytest.param("loginToken", ("Login", "token"), 1.0, id="camel-case"),
    ],
)
def test_matched_words_and_their_closeness(
    an_item: Make, title: str, terms: tuple[str, ...], close: float
) -> None:
    assert matched(an_item(title=title), ["Login", "token"], stem=lower) == (terms, close)


@pytest.mark.parametrize("field", ["facts", "concepts", "files_modified", "files_read"])
def test_lists_are_looked_through(an_item: Make, field: str) -> None:
    assert matched(an_item(**{field: ("x", "token")}), ["token"], stem=lower)[0] == ("token",)


def test_letters_beyond_ascii_are_matched_by_stem(an_item: Make) -> None:
    def fold(word: str) -> tuple[str, ...]:
        return (word.casefold().replace("é", "e"),)

    assert matched(an_item(title="Élan élan"), ["elan"], stem=fold)[0] == ("elan",)


@pytest.mark.parametrize(
    ("text", "limit", "words", "expected"),
    [
        pytest.param("short", 10, (), "short", id="fits"),
        pytest.param("one two three four", 12, (), "one two …", id="start"),
        pytest.param("x" * 50, 12, (), "…", id="one-long-word"),
        pytest.param("First one. Then the bug. End of it.", 22, ["bug"], "… Then the bug. End …",
                     id="sentence"),
        pytest.param("a b c d e f g h i j k bug", 14, ["bug"], "… bug", id="word"),
        pytest.param("one two three four", 12, ["absent"], "one two …", id="absent"),
        pytest.param("İ" * 4 + " two three bug", 12, ["bug"], "İİİİ two …", id="case-folding"),
    ],
)  # fmt: skip
def test_a_passage_is_the_useful_part(
    text: str, limit: int, words: list[str], expected: str
) -> None:
    assert passage(text, limit, words=words) == expected


@given(st.text(), st.integers(8, 60), st.lists(st.text(max_size=5), max_size=3))
def test_a_passage_never_exceeds_its_limit_and_never_parts_a_word(
    text: str, limit: int, words: list[str]
) -> None:
    shown = passage(text, limit, words=words)
    assert len(shown) <= limit
    kept = shown.removeprefix("… ").removesuffix(" …").removesuffix("…")
    assert kept in text
    assert set(kept.split()) <= set(text.split())
