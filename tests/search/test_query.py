"""What a query asks for: its words, languages, times, and corrected spellings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.core.filters import Filters
from observer.search.candidates import Sources
from observer.search.find import NOTHING_HELD, SearchHits, search
from observer.search.query import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_SHAPES,
    MAX_TERMS,
    MAX_WORD,
    dated,
    day_start_ms,
    parse,
    parts,
    plan,
    tokens,
    uses_operators,
)

from .conftest import ELSEWHERE, HERE, NOW_MS, Filled, an_item


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


@pytest.mark.parametrize("text", [
    pytest.param("\0\x01\ud800", id="unusable"), pytest.param('"' * 1001, id="quotes"),
    pytest.param("(" * 5000 + ")" * 4999 + " AND x*", id="parentheses"),
    pytest.param("a NOT " * 500 + "b", id="many-operators"),
    pytest.param("title:" * 300 + "x", id="columns"),
    pytest.param("x" * 100_000, id="one-long-word"),
    pytest.param("lorem ipsum AND " * 7000, id="long-text"),
    pytest.param("aB" * 500 + " OR y", id="humps"), pytest.param("🙂 AND 🙃", id="emoji"),
    pytest.param("NEAR(a b, 9999) NEAR(", id="near"), pytest.param("नमस्ते OR 東京", id="scripts"),
])  # fmt: skip
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


@pytest.mark.parametrize(("text", "words"), [
    pytest.param("How do we fix the login?", ("fix", "login"), id="stop-words-out"),
    pytest.param("to be or not", ("to", "be", "or", "not"), id="only-stop-words"),
    pytest.param("Fix fix FIX", ("Fix",), id="once-each"),
    pytest.param("queryPromise", ("queryPromise", "query", "Promise"), id="humps"),
    pytest.param("load_vec src/a.ts", ("load", "vec", "src", "ts"), id="punctuation"),
    pytest.param('fix "JWT token"', ("fix", "JWT", "token"), id="phrase-words"),
    pytest.param("!!! ... 🙂", (), id="no-words"),
    pytest.param("x" * (MAX_WORD + 1) + " ok", ("ok",), id="monster"),
])  # fmt: skip
def test_prose_becomes_its_telling_words(text: str, words: tuple[str, ...]) -> None:
    assert plan(text).words == words


@pytest.mark.parametrize(("text", "shapes"), [
    pytest.param("queryPromise", ("query Promise",), id="camel"),
    pytest.param("load_sqlite_vec", ("load sqlite vec",), id="snake"),
    pytest.param("in src/auth.ts now", ("src auth ts",), id="path"),
    pytest.param('fix "JWT token" now', ("JWT token",), id="phrase"),
    pytest.param('the "it is" thing', (), id="stop-words-only"),
    pytest.param("plain words", (), id="plain"),
    pytest.param("登录 错误", ("登 录", "错 误"), id="without-blanks"),
])  # fmt: skip
def test_exact_sequences_are_kept(text: str, shapes: tuple[str, ...]) -> None:
    assert plan(text).shapes == shapes


@pytest.mark.parametrize(("text", "notice"), [
    pytest.param("plain words", "", id="prose"), pytest.param("a AND b", "", id="query"),
    pytest.param("a AND", "searched as plain words: a word is missing", id="malformed"),
    pytest.param("NOT FOUND error in OR gate", "operators stand between", id="prose-with-or"),
    pytest.param("why does AND fail here so often", "operators stand", id="long-run"),
    pytest.param('5" disk', "a quotation mark is not closed", id="quote"),
    pytest.param("404 NOT FOUND", "", id="idiom"),
    pytest.param("?!", "no word to search for", id="nothing"),
    pytest.param(" ".join(f"w{n}" for n in range(99)), "and the last 32", id="too-long"),
])  # fmt: skip
def test_the_notice_says_how_the_text_was_understood(text: str, notice: str) -> None:
    found = plan(text).notice
    assert notice in found
    assert bool(notice) == bool(found)


def test_a_plan_has_a_bounded_size() -> None:
    found = plan(" ".join(f"a{n}_b{n}" for n in range(200)))
    assert (len(found.words), len(found.shapes)) == (MAX_TERMS, MAX_SHAPES)


@pytest.mark.parametrize(("text", "prefixes"), [
    pytest.param("what did F8A5369 change?", ("F8A5369",), id="abbreviated"),
    pytest.param("1a2b3c4..9f8e7d6c5b4a", ("1a2b3c4", "9f8e7d6c5b4a"), id="range"),
    pytest.param("defaced 20261122 facade1x 1a2b3c", (), id="words-numbers-names"),
])  # fmt: skip
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


@pytest.mark.parametrize(("text", "meant"), [
    pytest.param(" How do we log in?\n", "How do we log in?", id="prose"),
    pytest.param("a\0b", "a b", id="unusable"),
    pytest.param("title:login AND page*", "login page", id="expression"),
    pytest.param("cafe\u0301", "caf\u00e9", id="composed"),
])  # fmt: skip
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


@pytest.mark.parametrize(("text", "fts"), [
    pytest.param("a AND b", '("a" AND "b")', id="and"),
    pytest.param("a OR b", '("a" OR "b")', id="or"),
    pytest.param("a NOT b", '("a" NOT "b")', id="not"),
    pytest.param("a AND NOT b", '("a" NOT "b")', id="and-not"),
    pytest.param("a b OR c", '(("a" AND "b") OR "c")', id="side-by-side-binds-tightest"),
    pytest.param("a OR b AND c NOT d", '("a" OR ("b" AND ("c" NOT "d")))', id="precedence"),
    pytest.param("(a OR b) AND c", '((("a" OR "b")) AND "c")', id="parentheses"),
    pytest.param('"a b"', '"a b"', id="phrase"),
    pytest.param('"a ""b"" c"', '"a ""b"" c"', id="quotes-inside"),
    pytest.param("authen*", '"authen" *', id="prefix"),
    pytest.param('"one tw"*', '"one tw" *', id="phrase-prefix"),
    pytest.param("title:auth*", 'title:"auth" *', id="column-prefix"),
    pytest.param("concepts:security", 'concepts:"security"', id="column"),
    pytest.param("files:src/a.ts", 'files:"src/a.ts"', id="column-path"),
    pytest.param("facts:(a OR b)", 'facts:(("a" OR "b"))', id="column-group"),
    pytest.param("NEAR(a b)", 'NEAR("a" "b")', id="near"),
    pytest.param('title:NEAR(a "b c", 5)', 'title:NEAR("a" "b c", 5)', id="near-distance"),
])  # fmt: skip
def test_an_expression_is_rendered_with_every_word_quoted(text: str, fts: str) -> None:
    assert parse(tokens(text)).fts == fts


@pytest.mark.parametrize(("text", "reason"), [
    pytest.param("AND a", "missing before AND", id="nothing-before"),
    pytest.param("a OR", "missing before the end", id="nothing-after"),
    pytest.param("(a OR b", "not closed", id="open-parenthesis"),
    pytest.param("a OR b)", "does not belong", id="stray-parenthesis"),
    pytest.param("()*", "missing before", id="empty-parentheses"),
    pytest.param('a AND "!?"', "no letter or digit", id="no-word"),
    pytest.param("NEAR(a b, x)", "not a number", id="near-distance"),
    pytest.param("NEAR(a, 5", "not closed", id="near-open"),
    pytest.param("a, b AND c", "missing before ,", id="comma"),
    pytest.param("(" * (MAX_DEPTH + 1) + "a", "inside each other", id="depth"),
    pytest.param(" OR ".join(["a"] * (MAX_TERMS + 1)), "operands", id="operands"),
])  # fmt: skip
def test_what_is_no_expression_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        parse(tokens(text))


def test_terms_leave_out_what_must_not_stand_there() -> None:
    assert parse(tokens("a OR (b NOT (c AND d)) OR e")).terms == ("a", "b", "e")


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("a AND b", True, id="operator"), pytest.param("auth*", True, id="prefix"),
    pytest.param("title:x", True, id="column"), pytest.param('"a b"', True, id="phrase-alone"),
    pytest.param("NEAR(a b)", True, id="near"), pytest.param("a b", False, id="words"),
    pytest.param('fix "a b"', False, id="phrase-among-words"),
    pytest.param("title: fix it", False, id="colon-of-prose"),
    pytest.param("error:x", False, id="no-column"),
    pytest.param("a and b or c", False, id="small-letters"),
    pytest.param("NOT NULL", False, id="idiom-after"),
    pytest.param("you MUST NOT push", False, id="idiom-before"),
    pytest.param("call f(x)", False, id="code"),
    pytest.param("*.py **bold**", False, id="stars-of-prose"),
    pytest.param("", False, id="nothing"),
])  # fmt: skip
def test_the_language_is_shown_from_prose(text: str, expected: bool) -> None:
    assert uses_operators(tokens(text)) is expected


TITLES = ("authentication of users", "a timeout in the logic", "catch the error", "the authors")


def run(sources: Sources, text: str, **filters: Any) -> SearchHits:
    return search(sources, text, Filters(**filters), limit=10, now_ms=NOW_MS)


@pytest.mark.parametrize(("text", "found"), [
    pytest.param("autentication", "authentication of users", id="a-letter-missing"),
    pytest.param("authenttication", "authentication of users", id="one-too-many"),
    pytest.param("authetnication", "authentication of users", id="two-turned-round"),
    pytest.param("authemtication", "authentication of users", id="another-letter"),
    pytest.param("Autentication", "authentication of users", id="capital"),
    pytest.param("tiemout", "a timeout in the logic", id="short"),
    pytest.param("autentication_check", "authentication of users", id="part-of-a-name"),
])  # fmt: skip
def test_a_slip_finds_what_was_meant(filled: Filled, text: str, found: str) -> None:
    answer = run(filled(*TITLES), text)
    assert [hit.item.title for hit in answer.hits] == [found]
    assert "which nothing holds" in answer.notice


@pytest.mark.parametrize("text", [
    pytest.param("login", id="short-words-are-words-of-their-own"),
    pytest.param("eror", id="too-short"), pytest.param("autetnicaton", id="two-slips"),
    pytest.param("title:autentication", id="an-expression"),
    pytest.param("zebra", id="nothing-like-it"), pytest.param("scratch", id="another-first-letter"),
    pytest.param("xcatch", id="a-letter-before-the-first"),
])  # fmt: skip
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


@pytest.mark.parametrize(("text", "held"), [
    pytest.param("planet", "a plane that flies", id="a-word-of-english"),
    pytest.param("devices", "dedicated to the crew", id="only-the-stem-is-near"),
    pytest.param("Apple", "the appeal of apples and appals", id="the-stem-is-held"),
    pytest.param("rationale", "a rational choice", id="a-word-that-the-model-knows"),
    pytest.param("kubelets", "the kubelex is down", id="two-slips-away"),
    pytest.param("vitesses", "vitessed twice", id="another-form-of-a-word-near-it"),
])  # fmt: skip
def test_a_word_that_is_right_stays(filled: Filled, text: str, held: str) -> None:
    assert "which nothing holds" not in run(filled(held, "something else"), f"{text} or so").notice


def test_a_slip_is_corrected_to_a_word_as_an_item_holds_it(filled: Filled) -> None:
    found = run(filled("Postgres keeps the orders", "posted gears"), "postgers port")
    assert found.notice == "searched 'postgres' for 'postgers', which nothing holds"
    assert found.hits[0].item.title == "Postgres keeps the orders"


def test_what_others_hold_is_no_correction(filled: Filled) -> None:
    sources = filled(an_item(1, title="authentication", project_id=ELSEWHERE), an_item(2))
    assert run(sources, "autentication", project_id=HERE).notice == NOTHING_HELD
    assert run(sources, "autentication").hits


def test_the_other_words_still_count(filled: Filled) -> None:
    found = run(filled(*TITLES, "users of the shop"), "autentication users")
    assert found.hits[0].item.title == TITLES[0]
    assert found.hits[0].signals.terms == ("authentication", "users")


NOON_MS = int(datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp() * 1000)
"""A Wednesday."""


@pytest.mark.parametrize(("text", "days", "rest"), [
    ("what did we do today", "2026-11-25", "what did we do"),
    ("login of yesterday", "2026-11-24", "login"),
    ("the login since yesterday", "from 2026-11-24", "the login"),
    ("before yesterday", "until 2026-11-23", ""), ("after yesterday", "from 2026-11-25", ""),
    ("until yesterday", "until 2026-11-24", ""), ("3 days ago", "2026-11-22", ""),
    ("two weeks ago login", "2026-11-09 to 2026-11-15", "login"),
    ("a month ago", "2026-10-01 to 2026-10-31", ""), ("a year ago", "2025-01-01 to 2025-12-31", ""),
    ("in the last 3 days", "2026-11-22 to 2026-11-25", ""),
    ("this week", "2026-11-23 to 2026-11-29", ""),
    ("last week's login", "2026-11-16 to 2026-11-22", "login"),
    ("This Month", "2026-11-01 to 2026-11-30", ""), ("last year", "2025-01-01 to 2025-12-31", ""),
    ("last Friday", "2026-11-20", ""), ("on Wednesday", "2026-11-25", ""),
    ("last wednesday", "2026-11-18", ""), ("decided since Monday", "from 2026-11-23", "decided"),
    ("in March", "2026-03-01 to 2026-03-31", ""), ("in december", "2025-12-01 to 2025-12-31", ""),
    ("in November", "2026-11-01 to 2026-11-30", ""),
    ("last November", "2025-11-01 to 2025-11-30", ""),
    ("in March 2024", "2024-03-01 to 2024-03-31", ""), ("before March", "until 2026-02-28", ""),
    ("on 2026-11-21", "2026-11-21", ""), ("in 2025", "2025-01-01 to 2025-12-31", ""),
])  # fmt: skip
def test_time_words_mean_days(text: str, days: str, rest: str) -> None:
    found = dated(text, now_ms=NOON_MS, zone=UTC)
    assert found
    assert (found.days, found.rest) == (days, rest)


@pytest.mark.parametrize("text", [
    "may fail", "march through the list", "the friday job", "2025", "error on 2026-13-40",
    "yesterdays", "pre-yesterday", '"last week"', "migration 2026-11-21", "days ago", "",
])  # fmt: skip
def test_other_words_do_not(text: str) -> None:
    assert dated(text, now_ms=NOON_MS, zone=UTC) is None


def test_a_day_is_one_of_the_persons_zone() -> None:
    east = timezone(timedelta(hours=13))
    found = dated("today", now_ms=NOON_MS, zone=east)
    assert found
    assert found.days == "2026-11-26"
    assert found.since_ms == int(datetime(2026, 11, 26, tzinfo=east).timestamp() * 1000)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_zone_of_the_machine_is_meant_summer_time_and_all(berlin: None) -> None:
    noon = int(datetime(2026, 10, 25, 12, tzinfo=UTC).timestamp() * 1000)
    found = dated("today", now_ms=noon)
    assert found
    assert found.since_ms is not None
    assert found.until_ms is not None
    assert (found.until_ms - found.since_ms) / 3_600_000 == 25


@given(st.text(max_size=60))
def test_any_text_may_be_read(text: str) -> None:
    found = dated(f"{text} yesterday", now_ms=NOON_MS, zone=UTC)
    assert found is None or found.days


@pytest.mark.parametrize(("ago", "hours_ahead", "expected"), [
    pytest.param(0, 0, "2026-11-25T00:00+00:00", id="today"),
    pytest.param(6, 0, "2026-11-19T00:00+00:00", id="six-days-ago"),
    pytest.param(0, 13, "2026-11-26T00:00+13:00", id="tomorrow-is-there-already"),
])  # fmt: skip
def test_a_day_begins_at_midnight_where_the_person_is(
    ago: int, hours_ahead: int, expected: str
) -> None:
    zone = timezone(timedelta(hours=hours_ahead))
    began_ms = day_start_ms(now_ms=NOON_MS, ago=ago, zone=zone)
    assert began_ms == datetime.fromisoformat(expected).timestamp() * 1000
