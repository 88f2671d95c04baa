"""The data file of token formats holds what the search relies on."""

from __future__ import annotations

import re

import pytest

from observer.redaction.tokens import BASE64_FORMATS, TOKEN_FORMATS, TokenFormat, token_secrets


@pytest.mark.parametrize(
    "token", [*TOKEN_FORMATS, *BASE64_FORMATS], ids=lambda token: token.pattern.pattern[:40]
)
def test_a_format_says_its_class_and_never_matches_nothing(token: TokenFormat) -> None:
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", token.name)
    assert all(token.anchors)
    assert not token.pattern.search("")


def test_no_format_stands_there_twice() -> None:
    rows = [(token.anchors, token.pattern.pattern) for token in (*TOKEN_FORMATS, *BASE64_FORMATS)]
    assert len(set(rows)) == len(rows)


def test_a_token_is_found_with_its_place_and_class() -> None:
    text = "key: gh" + "p_" + "aB3dE6gH9j" * 4 + "."
    (span,) = token_secrets(text)
    assert (text[span.start : span.end], span[2]) == (text[5:-1], "github-token")
