"""The data file of token formats holds what the search relies on."""

from __future__ import annotations

import re

from observer.redaction.issued import BASE64_TOKENS, TOKENS, long_runs, token_secrets


def test_a_format_says_its_class_and_never_matches_nothing() -> None:
    for token in (*TOKENS, *BASE64_TOKENS):
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", token.name), token
        assert all(token.anchors), token
        assert not token.pattern.search(""), token


def test_no_format_stands_there_twice() -> None:
    rows = [(token.anchors, token.pattern.pattern) for token in (*TOKENS, *BASE64_TOKENS)]
    assert len(set(rows)) == len(rows)


def test_a_token_is_found_with_its_place_and_class() -> None:
    text = "key: gh" + "p_" + "aB3dE6gH9j" * 4 + "."
    span, *_ = token_secrets(text, long_runs(text))
    assert (text[span.start : span.end], span[2]) == (text[5:-1], "github-token")
