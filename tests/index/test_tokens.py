"""Text becomes codes of words; occurrences against a reference that goes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import Item
from observer.index.segment import (
    COLUMNS,
    SEPARATOR,
    WEIGHTS,
    WORD_CHARS,
    Codes,
    code,
    pieces,
    words_of,
)
from observer.index.view import Occurrences
from observer.store.connection import stemmer

from .conftest import an_item, codes

STEM = stemmer()


def columns(codes: Codes, item: Item) -> list[list[int]]:
    """Return the codes of each column."""
    stream = codes.of_item(item).tolist()
    ends = [-1, *(place for place, each in enumerate(stream) if each == SEPARATOR)]
    assert (len(ends), ends[-1]) == (COLUMNS + 1, len(stream) - 1)
    return [stream[begin + 1 : end] for begin, end in pairwise(ends)]


def coded(*stems: str) -> list[int]:
    return [code(stem) for stem in stems]


# The engine knows an older Unicode: of letters since then they may differ.
SMALL = st.characters(
    max_codepoint=0x24F, categories=["Ll", "Lo", "Nd", "No", "Zs", "Po", "Pc", "Sm"]
)
TEXTS = st.text(st.one_of(SMALL, st.sampled_from("aéos\u0301 \n_-/.")), max_size=40)


@given(TEXTS)
def test_codes_are_those_of_the_engines_stems(text: str) -> None:
    """No capitals, so no humps: those are ours alone."""
    assert columns(codes, an_item(1, text))[0] == coded(*STEM(text))


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_words_of_ascii_are_the_same_amid_other_text(text: str) -> None:
    assert words_of(f"{text} \u00e9") == [*words_of(text), "\u00e9"]


@pytest.mark.parametrize(("text", "stems"), [
    pytest.param("HTTPServer runs", ["httpserver", "http", "server", "run"], id="hump"),
    pytest.param("get_user", ["get", "user"], id="underscore"),
    pytest.param("aB", ["ab", "a", "b"], id="short"), pytest.param("ABC", ["abc"], id="capitals"),
    pytest.param("src/a.ts", ["src", "a", "ts"], id="path"),
    pytest.param("x\0y", ["x", "y"], id="nul"), pytest.param("\0" * 9, [], id="nuls"),
    pytest.param("a\ud800b", ["a", "b"], id="half-a-character"),
    pytest.param("x" * WORD_CHARS, ["x" * WORD_CHARS], id="long"),
    pytest.param("y " + "x" * (WORD_CHARS + 1), ["y"], id="too-long"),
    pytest.param("🙂 -- !", [], id="no-words"),
    pytest.param("v2登录は セ・ン", ["v2", "登", "录", "は", "セ", "ン"], id="without-blanks"),
])  # fmt: skip
def test_text_becomes_codes(text: str, stems: list[str]) -> None:
    assert columns(codes, an_item(1, text))[0] == coded(*stems)


def test_each_field_has_its_column_and_a_whole_word_comes_without_its_parts() -> None:
    item = an_item(
        1, "a", subtitle="b", narrative="c", facts=("d", "e"), concepts=("f", "g"),
        files_modified=("h", "i"), files_read=("h", "j"),
    )  # fmt: skip
    expected = [coded(*stems) for stems in ("a", "b", "c", "de", "fg", "hij")]
    assert columns(codes, item) == expected
    long = columns(codes, an_item(1, "ab" + "CdefG" * 100))[0]
    assert long[:2] == coded("ab", "cdef"), "the parts of its beginning"
    assert list(codes.whole("HTTPServer")) == coded("httpserver")
    assert codes.whole("x" * (WORD_CHARS + 1)) == ()


def test_words_are_kept_at_hand_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("observer.index.segment.MOST_KNOWN", 5)
    asked: list[str] = []

    def stem(word: str) -> tuple[str, ...]:
        asked.append(word)
        return (word,)

    codes = Codes(stem)
    for text in ("a b a b", *(f"w{n} a" for n in range(20))):
        assert columns(codes, an_item(1, text))[0] == coded(*text.split())
    assert len(codes) <= 6
    assert asked.count("b") == 1


def test_no_stem_has_the_code_of_the_separator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("observer.index.segment.zlib.crc32", lambda _: 0)
    assert code("anything") != SEPARATOR


@given(st.text("abAB9_é", max_size=12))
def test_pieces_are_the_whole_word_in_parts(word: str) -> None:
    assert "".join(pieces(word)) == word
    assert all(pieces(piece) == [piece] for piece in pieces(word))


@given(
    st.lists(
        st.text(st.characters(codec="ascii", categories=["L"]), min_size=1)
        | st.text(st.characters(categories=["L", "N", "P"]), max_size=12)
        | st.just("a" * (WORD_CHARS + 1))
    )
)
def test_many_words_have_the_codes_of_each(words: list[str]) -> None:
    codes = Codes(STEM)
    assert codes.whole_each(words) == [codes.whole(word) for word in words]


def test_plain_words_are_stemmed_in_one_call_and_a_letter_that_parts_a_word_keeps_both() -> None:
    asked: list[str] = []

    def stem(word: str) -> tuple[str, ...]:
        asked.append(word)
        return STEM(word)

    Codes(stem).whole_each(["tests", "text"])
    assert asked == ["tests text"]
    # The engine takes this letter of New Tai Lue for a separator.
    assert codes.whole_each(["ab\u19b0cd", "x"]) == [(code("ab"), code("cd")), (code("x"),)]


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


def test_nothing_holds_no_codes_or_too_many_and_sixty_four_stand_together() -> None:
    one = [[1]] * COLUMNS
    for rows, sequence in (([], []), ([one], []), ([one], [1] * 99)):
        assert not occurrences(rows, [1]).hold(sequence).any()
    query = list(range(1, 65))
    row = [query, *([[]] * (COLUMNS - 1))]
    assert occurrences([row], query).together(64).tolist() == [64]
    assert occurrences([row], query).together(10).tolist() == [10]
