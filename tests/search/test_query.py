from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.search.query import MAX_CHARS, MAX_SHAPES, MAX_TERMS, MAX_WORD, parts, plan


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5 (title, subtitle, narrative, facts, concepts, files,"
        " tokenize='porter unicode61')"
    )
    yield connection
    connection.close()


def ask(index: apsw.Connection, expression: str) -> list[Any]:
    asked = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank"
    return list(index.execute(asked, (expression,)).fetchall())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\0\x01\ud800", id="unusable"),
        pytest.param('"' * 1001, id="quotes"),
        pytest.param("(" * 5000 + ")" * 4999 + " AND x*", id="parentheses"),
        pytest.param("a NOT " * 500 + "b", id="many-operators"),
        pytest.param("title:" * 300 + "x", id="columns"),
        pytest.param("x" * 100_000, id="one-long-word"),
        pytest.param("lorem ipsum AND " * 7000, id="long-text"),
        pytest.param("aB" * 500 + " OR y", id="humps"),
        pytest.param("🙂 AND 🙃", id="emoji"),
        pytest.param("NEAR(a b, 9999) NEAR(", id="near"),
        pytest.param("नमस्ते OR 東京", id="scripts"),
    ],
)
def test_hostile_text_is_a_legal_query_or_none(index: apsw.Connection, text: str) -> None:
    if expression := plan(text).expression:
        assert ask(index, expression) == []


SIGNS = """AND OR NOT ( ) " * , : NEAR( title: files: "a b" a* aB x_y src/a.ts ^ + - { } \0"""
PIECES = st.one_of(st.text(max_size=8), st.sampled_from(SIGNS.split(" ")))


@given(st.lists(PIECES, max_size=14), st.sampled_from(["", " "]))
def test_any_text_is_a_legal_query_or_none(
    index: apsw.Connection, pieces: list[str], joint: str
) -> None:
    wanted = plan(joint.join(pieces))
    if wanted.expression:
        assert wanted.words
        ask(index, wanted.expression)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("How do we fix the login?", ("fix", "login"), id="stop-words-out"),
        pytest.param("to be or not", ("to", "be", "or", "not"), id="only-stop-words"),
        pytest.param("Fix fix FIX", ("Fix",), id="once-each"),
        pytest.param("queryPromise", ("queryPromise", "query", "Promise"), id="humps"),
        pytest.param("load_vec src/a.ts", ("load", "vec", "src", "ts"), id="punctuation"),
        pytest.param('fix "JWT token"', ("fix", "JWT", "token"), id="phrase-words"),
        pytest.param("!!! ... 🙂", (), id="no-words"),
        pytest.param("x" * (MAX_WORD + 1) + " ok", ("ok",), id="monster"),
    ],
)
def test_prose_becomes_its_telling_words(text: str, words: tuple[str, ...]) -> None:
    assert plan(text).words == words


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        pytest.param("queryPromise", ("query Promise",), id="camel"),
        pytest.param("load_sqlite_vec", ("load sqlite vec",), id="snake"),
        pytest.param("in src/auth.ts now", ("src auth ts",), id="path"),
        pytest.param('fix "JWT token" now', ("JWT token",), id="phrase"),
        pytest.param('the "it is" thing', (), id="stop-words-only"),
        pytest.param("plain words", (), id="plain"),
        pytest.param("登录 错误", ("登 录", "错 误"), id="without-blanks"),
    ],
)
def test_exact_sequences_are_kept(text: str, shapes: tuple[str, ...]) -> None:
    assert plan(text).shapes == shapes


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        pytest.param("plain words", "", id="prose"),
        pytest.param("a AND b", "", id="query"),
        pytest.param("a AND", "searched as plain words: a word is missing", id="malformed"),
        pytest.param("NOT FOUND error in OR gate", "operators stand between", id="prose-with-or"),
        pytest.param("why does AND fail here so often", "operators stand", id="long-run"),
        pytest.param('5" disk', "a quotation mark is not closed", id="quote"),
        pytest.param("404 NOT FOUND", "", id="idiom"),
        pytest.param("?!", "no word to search for", id="nothing"),
        pytest.param(" ".join(f"w{n}" for n in range(99)), "and the last 32", id="too-long"),
    ],
)
def test_the_notice_says_how_the_text_was_understood(text: str, notice: str) -> None:
    found = plan(text).notice
    assert notice in found
    assert bool(notice) == bool(found)


def test_a_plan_has_a_bounded_size() -> None:
    found = plan(" ".join(f"a{n}_b{n}" for n in range(200)))
    assert (len(found.words), len(found.shapes)) == (MAX_TERMS, MAX_SHAPES)


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        pytest.param("what did F8A5369 change?", ("F8A5369",), id="abbreviated"),
        pytest.param("1a2b3c4..9f8e7d6c5b4a", ("1a2b3c4", "9f8e7d6c5b4a"), id="range"),
        pytest.param("defaced 20261122 facade1x 1a2b3c", (), id="words-numbers-names"),
    ],
)
def test_an_abbreviated_hash_is_the_beginning_of_a_word(
    text: str, prefixes: tuple[str, ...]
) -> None:
    assert plan(text).prefixes == prefixes


@pytest.mark.parametrize(
    ("text", "expression", "words", "prefixes"),
    [
        pytest.param("login page", "", ("login", "page"), (), id="prose"),
        pytest.param(
            "login NOT OAuth", '("login" NOT "OAuth")', ("login",), (), id="excluded-words-out"
        ),
        pytest.param("auth* AND b", '("auth" * AND "b")', ("auth", "b"), ("auth",), id="prefix"),
        pytest.param('"a b"', '"a b"', ("b",), (), id="phrase"),
    ],
)
def test_operators_are_taken_at_their_word(
    text: str, expression: str, words: tuple[str, ...], prefixes: tuple[str, ...]
) -> None:
    found = plan(text)
    assert (found.expression, found.words, found.prefixes) == (expression, words, prefixes)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        pytest.param(" How do we log in?\n", "How do we log in?", id="prose"),
        pytest.param("a\0b", "a b", id="unusable"),
        pytest.param("title:login AND page*", "login page", id="expression"),
        pytest.param("cafe\u0301", "caf\u00e9", id="composed"),
    ],
)
def test_what_a_text_means_is_its_words_as_written(text: str, meant: str) -> None:
    assert plan(text).text == meant


def test_a_text_without_end_is_cut_and_that_is_said() -> None:
    found = plan("word " * MAX_CHARS)
    assert len(found.text) <= MAX_CHARS
    assert "only the first and the last 2,000 characters were read" in found.notice


@pytest.mark.parametrize("frames", [80, 2_000], ids=["too-many-words", "too-many-characters"])
def test_the_error_at_the_end_of_a_long_trace_is_looked_for(frames: int) -> None:
    trace = "".join(f"  File a{n}.py, line {n}\n" for n in range(frames))
    found = plan(f"Traceback\n{trace}sqlite3.OperationalError: database is locked")
    assert "sqlite3 Operational Error" in found.shapes
    assert {"Traceback", "OperationalError", "database", "locked"} <= set(found.words)


def test_parts_are_those_of_the_index() -> None:
    assert parts("HTTPServer x_y plain") == ["HTTP", "Server", "x", "y", "plain"]
