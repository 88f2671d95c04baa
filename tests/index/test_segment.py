"""Rows against a reference in plain Python: what they hold, what they are worth, what is buried."""

from __future__ import annotations

import errno
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from msgspec.structs import replace

from observer.core.model import Item, ItemChange
from observer.core.value import Value
from observer.index.arrays import MARK, CorruptFile, load, release, save
from observer.index.segment import (
    COLUMNS,
    LENGTH_SHARE,
    SATURATION,
    SEPARATOR,
    WEIGHTS,
    WORD_CHARS,
    Codes,
    Segment,
    code,
    gathered,
    merged,
    pieces,
    segment,
    words_of,
)
from observer.index.view import LEAST_RARITY, Occurrences

from .conftest import (
    DIMENSIONS,
    MODEL,
    STEM,
    WORDS,
    a_vector,
    a_view,
    an_item,
    codes,
    found,
    near,
    query,
)

FIELDS = ("title", "subtitle", "narrative", "facts", "concepts", "files_modified")
STEP = 1 / 255
"""What an impact may be off by, and half as much again."""

TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
FILLED = st.tuples(TEXT, TEXT, TEXT, TEXT, TEXT, TEXT)


def made(changes: Sequence[ItemChange], codes: Codes, **given: Any) -> Segment:
    fields = {"model": MODEL, "dimensions": DIMENSIONS, "mean_length": 0.0} | given
    return segment(changes, codes, **fields)


def item_of(seq: int, columns: Sequence[str]) -> Item:
    listed = {
        name: (text,) if name in FIELDS[3:] else text
        for name, text in zip(FIELDS, columns, strict=True)
    }
    return an_item(seq, **listed)


def bm25(rows: Mapping[int, Sequence[str]], words: Sequence[str]) -> dict[int, float]:
    """BM25 as the books have it, with weights of columns."""
    lengths = {row: sum(len(text.split()) for text in columns) for row, columns in rows.items()}
    mean = max(1.0, sum(lengths.values()) / len(rows))
    weights = {row: Counter[str]() for row in rows}
    for row, columns in rows.items():
        for weight, text in zip(WEIGHTS, columns, strict=True):
            for word in text.split():
                weights[row][word] += weight
    scores = dict.fromkeys(rows, 0.0)
    for word in words:
        holding = sum(weights[row][word] > 0 for row in rows)
        rarity = max(LEAST_RARITY, math.log((len(rows) - holding + 0.5) / (holding + 0.5)))
        for row, each in weights.items():
            against = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths[row] / mean)
            share = each[word] / (each[word] + against)
            scores[row] += rarity * share * (SATURATION + 1)
    return scores


def changes_of(rows: Sequence[Sequence[str]]) -> list[ItemChange]:
    return [
        ItemChange(change=seq, id=4 * seq, item=item_of(seq, columns))
        for seq, columns in enumerate(rows, start=1)
    ]


@settings(max_examples=40)
@given(
    st.lists(FILLED, min_size=1, max_size=8), st.sets(st.sampled_from((*WORDS, "zz")), min_size=1)
)
def test_relevance_is_bm25(rows: list[tuple[str, ...]], words: set[str]) -> None:
    view = a_view(codes, made(changes_of(rows), codes))
    expected = bm25({4 * seq: columns for seq, columns in enumerate(rows, start=1)}, sorted(words))
    asked = query(view, *sorted(words))
    places = np.arange(len(rows), dtype=np.int64)
    exact = view.relevance(places, asked, view.occurrences(places, asked).weights())
    assert dict(zip(view.ids(places).tolist(), exact.tolist(), strict=True)) == pytest.approx(
        expected, abs=1e-5
    )
    about = found(view, *sorted(words))
    rarest = math.log(len(rows) + 0.5) * (SATURATION + 1) * max(1, len(words))
    for row, score in expected.items():
        assert about.get(row, 0.0) == pytest.approx(score, abs=rarest * STEP)


@given(st.lists(FILLED, min_size=2, max_size=9), st.integers(1, 8))
def test_several_segments_are_as_good_as_one(rows: list[tuple[str, ...]], cut: int) -> None:
    changes = changes_of(rows)
    cut = min(cut, len(changes) - 1)
    parts = [made(changes[:cut], codes), made(changes[cut:], codes)]
    whole = a_view(codes, made(changes, codes))
    parted = a_view(codes, *parts)
    places = np.arange(len(rows), dtype=np.int64)
    asked = query(whole, *WORDS)
    for view in (whole, parted):
        assert view.size == len(rows)
        assert view.ids(places).tolist() == [change.id for change in changes]
    weights = [view.occurrences(places, asked).weights() for view in (whole, parted)]
    assert np.array_equal(*weights)
    assert np.allclose(
        whole.relevance(places, asked, weights[0]), parted.relevance(places, asked, weights[1])
    )


STEPS = st.lists(
    st.tuples(st.integers(1, 6), st.one_of(st.none(), FILLED), st.booleans()),
    min_size=2,
    max_size=12,
)


def history(steps: Sequence[Any]) -> list[ItemChange]:
    return [
        ItemChange(
            change=number,
            id=4 * seq,
            item=item_of(seq, columns) if columns else None,
            vector=a_vector(number) if columns and has_vector else None,
        )
        for number, (seq, columns, has_vector) in enumerate(steps, start=1)
    ]


def parted(changes: Sequence[ItemChange], codes: Codes, size: int) -> list[Segment]:
    parts: list[Segment] = []
    for begin in range(0, len(changes), size):
        new = made(changes[begin : begin + size], codes, mean_length=5.0)
        for older in parts:
            older.mark_deleted(new.ids)
        parts.append(new)
    return parts


@given(STEPS, st.integers(1, 5))
def test_merged_is_the_same_as_made_at_once(steps: list[Any], size: int) -> None:
    changes = history(steps)
    parts = parted(changes, codes, size)
    one = merged(parts, mean_length=5.0)
    whole = made(changes, codes, mean_length=5.0)
    assert (one.last_change, one.model, one.words) == (len(steps), MODEL, whole.words)
    assert set(one.arrays) == set(whole.arrays)
    for name, array in whole.arrays.items():
        assert one.arrays[name].dtype == array.dtype, name
        assert np.array_equal(one.arrays[name], array), name


def test_the_beginning_of_a_vector_is_compared_until_its_rest_is_there() -> None:
    whole = a_vector(1)
    change = ItemChange(change=1, id=4, item=an_item(1, "aa"), vector=whole[: DIMENSIONS // 2])
    one = made([change], codes)
    assert (one.embedded, one.whole(MODEL)) == (1, 0)
    assert 0.5 < near(a_view(codes, one), whole)[4] < 0.9
    one = made([replace(change, vector=whole)], codes)
    assert (one.whole(MODEL), one.whole("other")) == (1, 0)
    assert near(a_view(codes, one), whole)[4] > 0.99


@pytest.mark.parametrize("vector", [b"", b"\x01" * (DIMENSIONS + 1), bytes(DIMENSIONS)])
def test_a_vector_that_is_none_is_not_found(vector: bytes) -> None:
    change = ItemChange(change=1, id=4, item=an_item(1, "aa"), vector=vector)
    assert near(a_view(codes, made([change], codes)), a_vector(1)) == {}


def test_of_equal_rows_the_newest_come_first_and_none_answer_nothing() -> None:
    changes = [ItemChange(change=n, id=4 * n, item=an_item(n, "aa")) for n in range(1, 9)]
    changes += [ItemChange(change=n, id=4 * n, item=an_item(n, "bb")) for n in range(9, 40)]
    parts = a_view(codes, made(changes[:5], codes), made(changes[5:], codes))
    assert list(found(parts, "aa"))[:3] == [32, 28, 24]
    empty = a_view(codes)
    assert (found(empty, "aa"), near(empty, b"\x01" * DIMENSIONS), empty.size) == ({}, {}, 0)


@given(st.lists(FILLED, min_size=1, max_size=30), st.integers(1, 5))
def test_a_limit_cuts_the_worst(rows: list[tuple[str, ...]], limit: int) -> None:
    changes = changes_of(rows)
    view = a_view(codes, *parted(changes, codes, 7))
    every, best = (list(found(view, *WORDS, limit=n).values()) for n in (999, limit))
    # Words that most items hold, worth a millionth, count only where they fill a list.
    assert best == pytest.approx(every[:limit], abs=1e-5)
    assert sorted(every, reverse=True) == every


@pytest.mark.parametrize("asked", [(), (4,), (4, 12), (8,), (4, 8, 12, 16), (-1, 99)])
def test_rows_are_found_by_item(asked: tuple[int, ...]) -> None:
    one = made([ItemChange(change=n, id=8 * n - 4, item=an_item(n)) for n in (1, 2)], codes)
    rows = one.find(np.array(asked, np.int64))
    assert one.ids[rows].tolist() == [each for each in asked if each in {4, 12}]


def test_what_is_inverted_in_parts_is_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    titles = [f"w{n} aa w{n % 3} bb w{n}" for n in range(40)]
    changes = [
        ItemChange(change=n, id=n, item=an_item(n, title), vector=None)
        for n, title in enumerate(titles, start=1)
    ]
    whole = made(changes, codes).postings
    monkeypatch.setattr("observer.index.segment._OF_A_PART", 3)
    monkeypatch.setattr("observer.index.segment.ROWS_AT_ONCE", 2)
    in_parts = made(changes, codes).postings
    assert all(map(np.array_equal, whole, in_parts))
    assert [each.dtype for each in whole] == [each.dtype for each in in_parts]


@pytest.mark.parametrize("at_once", [1, 2, 7])
def test_stretches_gathered_in_parts_stand_one_behind_the_other(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("observer.index.segment.ROWS_AT_ONCE", at_once)
    tokens = np.arange(100, dtype=np.uint32)
    starts, found = gathered(tokens, np.array([40, 0, 7, 99]), np.array([3, 2, 0, 1]))
    assert starts.tolist() == [0, 3, 5, 5, 6]
    assert found.tolist() == [40, 41, 42, 0, 1, 99]
    assert found.dtype == tokens.dtype
    nothing = np.zeros(0, np.int64)
    assert [each.tolist() for each in gathered(tokens, nothing, nothing)] == [[0], []]


class Facts(Value):
    name: str
    number: int


FACTS = Facts(name="é", number=7)


TYPES = ("uint8", "int8", "bool", "uint16", "uint32", "int64", "uint64", "float32")
ARRAYS = st.sampled_from(TYPES).flatmap(
    lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(max_dims=2, min_side=0))
)


@given(st.dictionaries(st.text(max_size=3), ARRAYS, max_size=4))
def test_what_is_saved_is_loaded(tmp_path: Path, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    arrays = arrays | {"not in one piece": np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]}
    save(tmp_path / "a", FACTS, arrays)
    saved = load(tmp_path / "a")
    assert saved.facts == b'{"name":"\xc3\xa9","number":7}'
    assert list(saved.arrays) == list(arrays)
    for name, array in arrays.items():
        mapped = saved.arrays[name]
        assert (mapped.dtype, mapped.shape) == (array.dtype, array.shape)
        assert mapped.tobytes() == array.tobytes()
        assert not mapped.flags.writeable


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    save(tmp_path / "a", FACTS, {"x": np.arange(20, dtype=np.int64), "y": np.zeros(0, np.uint8)})
    return (tmp_path / "a").read_bytes()


def test_a_file_cut_anywhere_or_with_more_behind_it_is_torn(tmp_path: Path, whole: bytes) -> None:
    for torn in (whole + b"\0", *(whole[:length] for length in range(len(whole)))):
        (tmp_path / "a").write_bytes(torn)
        with pytest.raises(CorruptFile):
            load(tmp_path / "a")


@pytest.mark.parametrize("is_header", [True, False], ids=["header", "array"])
def test_a_header_or_an_array_with_one_wrong_byte_is_torn(
    tmp_path: Path, whole: bytes, *, is_header: bool
) -> None:
    end = whole.index(b"]", whole.index(b"slots")) + len(b',"size_bytes":160}')
    begin = whole.index(np.arange(20, dtype=np.int64).tobytes())
    for place in range(end) if is_header else range(begin, begin + 160):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / "a").write_bytes(changed)
        with pytest.raises(CorruptFile, match="." if is_header else "x is damaged"):
            load(tmp_path / "a")


def test_what_is_foreign_missing_or_a_folder_is_torn(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"else", MARK, MARK + b"\xff" * 8, b"\0" * 999)):
        (tmp_path / str(number)).write_bytes(content)
    for path in (*tmp_path.iterdir(), tmp_path / "missing", tmp_path):
        with pytest.raises(CorruptFile):
            load(path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there_which_is_its_owners_only(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    for name in ("a", "b"):
        with pytest.raises(OSError, match="No space"):
            save(tmp_path / name, FACTS, {"x": np.arange(9)})
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["a"]
    assert (tmp_path / "a").read_bytes() == whole
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def _mapped_kib(path: Path) -> int:
    """Return how much of a file is in this process's memory (Linux)."""
    at_file = Path("/proc/self/smaps").read_text(errors="replace").partition(str(path))[2]
    return int(re.findall(r"^Rss: +(\d+) kB", at_file, re.MULTILINE)[0])


def test_what_is_released_is_read_again_and_no_memory_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    count = 1_000_000
    save(path, FACTS, {"first": np.arange(9), "all": np.arange(count)})
    arrays = load(path).arrays
    assert arrays["all"].sum() == sum(range(count))
    before = _mapped_kib(path)
    release(arrays["all"])
    assert _mapped_kib(path) < before / 10
    assert arrays["all"].sum() == sum(range(count))
    assert arrays["first"].tolist() == list(range(9))


def test_what_is_not_mapped_stays_when_it_is_released() -> None:
    array = np.arange(9)
    release(array[2:])
    assert array.tolist() == list(range(9))


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


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        pytest.param("HTTPServer runs", ["httpserver", "http", "server", "run"], id="hump"),
        pytest.param("get_user", ["get", "user"], id="underscore"),
        pytest.param("aB", ["ab", "a", "b"], id="short"),
        pytest.param("ABC", ["abc"], id="capitals"),
        pytest.param("src/a.ts", ["src", "a", "ts"], id="path"),
        pytest.param("x\0y", ["x", "y"], id="nul"),
        pytest.param("\0" * 9, [], id="nuls"),
        pytest.param("a\ud800b", ["a", "b"], id="half-a-character"),
        pytest.param("x" * WORD_CHARS, ["x" * WORD_CHARS], id="long"),
        pytest.param("y " + "x" * (WORD_CHARS + 1), ["y"], id="too-long"),
        pytest.param("🙂 -- !", [], id="no-words"),
        pytest.param("v2登录は セ・ン", ["v2", "登", "录", "は", "セ", "ン"], id="without-blanks"),
    ],
)
def test_text_becomes_codes(text: str, stems: list[str]) -> None:
    assert columns(codes, an_item(1, text))[0] == coded(*stems)


def test_each_field_has_its_column_and_a_whole_word_comes_without_its_parts() -> None:
    item = an_item(
        1,
        "a",
        subtitle="b",
        narrative="c",
        facts=("d", "e"),
        concepts=("f", "g"),
        files_modified=("h", "i"),
        files_read=("h", "j"),
    )
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
