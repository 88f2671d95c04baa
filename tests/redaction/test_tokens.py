"""The data files of redaction hold what the search relies on."""

from __future__ import annotations

import re
from pathlib import Path

from observer.redaction import redact
from observer.redaction.issued import BASE64_TOKENS, TOKENS, long_runs, token_secrets
from observer.redaction.patterns import Patterns, table


def test_a_format_stands_there_once_says_its_class_and_never_matches_nothing() -> None:
    for token in (*TOKENS, *BASE64_TOKENS):
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", token.name), token
        assert all(token.anchors), token
        assert not token.pattern.search(""), token
    rows = [(token.anchors, token.pattern.pattern) for token in (*TOKENS, *BASE64_TOKENS)]
    assert len(set(rows)) == len(rows)


def test_a_token_is_found_with_its_place_and_class() -> None:
    text = "key: gh" + "p_" + "aB3dE6gH9j" * 4 + "."
    span, *_ = token_secrets(text, long_runs(text))
    assert (text[span.start : span.end], span[2]) == (text[5:-1], "github-token")


def test_every_pattern_is_used_and_every_one_used_is_there() -> None:
    modules = {path.stem: path.read_text() for path in Path(redact.__file__).parent.glob("*.py")}
    for part, rows in table("patterns.toml").items():
        of_all = (re.findall(r"\bSHAPES\.(\w+)", source) for source in modules.values())
        of_one = re.findall(r"\b_IS\.(\w+)", modules[part])
        of_one += rows.keys() & re.findall(r'"(\w+)"', modules[part])  # by `getattr`
        used = {name for names in of_all for name in names} if part == "shapes" else set(of_one)
        assert set(rows) == used, part
        for name in rows:  # each compiles, and holds no end of a line
            assert "\n" not in getattr(Patterns(part), name).pattern, name
            assert "    " not in getattr(Patterns(part), name).pattern, name
