"""A subject becomes a query only if it could tell its commit from others."""

from __future__ import annotations

import pytest
from evaluation.commits import query_of
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("Cache prices of the cart", "Cache prices of the cart"),
        ("feat(cart): cache prices (#12)", "cache prices"),
        ("fix!: lose no parcel", "lose no parcel"),
        ("[cart] cache prices", "cache prices"),
        ("Кэш цен корзины", "Кэш цен корзины"),
        ("修复购物车缓存", "修复购物车缓存"),
    ],
)
def test_a_subject_is_asked_without_how_it_was_filed(subject: str, query: str) -> None:
    assert query_of(subject) == query


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "wip",
        "Fix",
        "fix typo",
        "Update README",
        "chore: update docs",
        "cleanup",
        "Bump actions/checkout from 3 to 4",
        "v1.2.3",
        "1.2.3",
        "Release 2.0 of the shop",
        "chore(release): version 1.2.0",
        "Merge branch 'cart' into main",
        'Revert "Cache prices of the cart"',
        "fixup! Cache prices of the cart",
        "a b c d",
        "#123 456",
    ],
)
def test_a_subject_that_says_too_little_is_not_asked(subject: str) -> None:
    assert not query_of(subject)


@given(st.text(max_size=400))
def test_a_query_is_a_part_of_the_subject(subject: str) -> None:
    assert query_of(subject) in subject
