from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import spaced
from observer.search.snippet import held_whole, snippet


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


@given(_NEAR_WORDS, st.text("ab_1é", min_size=1, max_size=3))
def test_a_word_is_held_whole_where_no_letter_digit_or_underscore_is_beside_it(
    text: str, word: str
) -> None:
    assert held_whole(text, [word]) == (word in re.findall(r"\w+", text))
