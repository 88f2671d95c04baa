"""Occurrences against a reference that goes through the words one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.index.segment import WEIGHTS
from observer.index.tokens import COLUMNS, SEPARATOR
from observer.index.view import Occurrences

Row = Sequence[Sequence[int]]
"""The codes of each column."""

CODES = st.integers(1, 6)
ROW = st.lists(st.lists(CODES, max_size=7), min_size=COLUMNS, max_size=COLUMNS)
QUERY = st.lists(CODES, min_size=1, max_size=5, unique=True)


def occurrences(rows: Sequence[Row], query: Sequence[int]) -> Occurrences:
    streams = [[code for column in row for code in (*column, SEPARATOR)] for row in rows]
    tokens = np.array([code for stream in streams for code in stream], np.uint32)
    return Occurrences(tokens, np.array(query, np.uint32))


def most_together(row: Row, query: Sequence[int], span: int) -> int:
    windows = [
        set(column[begin : begin + span]) & set(query)
        for column in row
        for begin in range(len(column))
    ]
    return max(map(len, windows), default=0)


def holds(row: Row, sequence: Sequence[int]) -> bool:
    size = len(sequence)
    return any(
        list(column[begin : begin + size]) == list(sequence)
        for column in row
        for begin in range(len(column) - size + 1)
    )


@given(st.lists(ROW, max_size=4), QUERY, st.integers(1, 9))
def test_words_together_are_counted_inside_a_span(
    rows: list[Row], query: list[int], span: int
) -> None:
    expected = [most_together(row, query, span) for row in rows]
    assert occurrences(rows, query).together(span).tolist() == expected


@given(st.lists(ROW, max_size=4), QUERY, st.lists(CODES, min_size=1, max_size=4))
def test_a_sequence_is_held_side_by_side_in_one_column(
    rows: list[Row], query: list[int], sequence: list[int]
) -> None:
    assert occurrences(rows, query).hold(sequence).tolist() == [holds(r, sequence) for r in rows]


@given(st.lists(ROW, max_size=4), QUERY)
def test_a_word_weighs_by_the_columns_it_stands_in(rows: list[Row], query: list[int]) -> None:
    expected = [
        [
            sum(2 * w * list(column).count(code) for w, column in zip(WEIGHTS, row, strict=True))
            for code in query
        ]
        for row in rows
    ]
    found = occurrences(rows, query).weights()
    assert found.shape == (len(rows), len(query))
    assert found.tolist() == expected


@pytest.mark.parametrize("rows", [[], [[[1]] * COLUMNS]])
def test_no_codes_are_a_sequence_that_nothing_holds(rows: list[Any]) -> None:
    assert not occurrences(rows, [1]).hold([]).any()


def test_a_sequence_longer_than_everything_is_not_held() -> None:
    assert occurrences([[[1]] * COLUMNS], [1]).hold([1] * 99).tolist() == [False]


def test_sixty_four_words_stand_together() -> None:
    query = list(range(1, 65))
    row = [query, *([[]] * (COLUMNS - 1))]
    assert occurrences([row], query).together(64).tolist() == [64]
    assert occurrences([row], query).together(10).tolist() == [10]
