from __future__ import annotations

import pytest

from observer.core.errors import BadInput
from observer.search.query import MAX_DEPTH, MAX_TERMS, parse, tokens, uses_operators


@pytest.mark.parametrize(
    ("text", "fts"),
    [
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
    ],
)
def test_an_expression_is_rendered_with_every_word_quoted(text: str, fts: str) -> None:
    assert parse(tokens(text)).fts == fts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
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
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        parse(tokens(text))


def test_terms_leave_out_what_must_not_stand_there() -> None:
    assert parse(tokens("a OR (b NOT (c AND d)) OR e")).terms == ("a", "b", "e")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a AND b", True, id="operator"),
        pytest.param("auth*", True, id="prefix"),
        pytest.param("title:x", True, id="column"),
        pytest.param('"a b"', True, id="phrase-alone"),
        pytest.param("NEAR(a b)", True, id="near"),
        pytest.param("a b", False, id="words"),
        pytest.param('fix "a b"', False, id="phrase-among-words"),
        pytest.param("title: fix it", False, id="colon-of-prose"),
        pytest.param("error:x", False, id="no-column"),
        pytest.param("a and b or c", False, id="small-letters"),
        pytest.param("NOT NULL", False, id="idiom-after"),
        pytest.param("you MUST NOT push", False, id="idiom-before"),
        pytest.param("call f(x)", False, id="code"),
        pytest.param("*.py **bold**", False, id="stars-of-prose"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_the_language_is_shown_from_prose(text: str, expected: bool) -> None:
    assert uses_operators(tokens(text)) is expected
