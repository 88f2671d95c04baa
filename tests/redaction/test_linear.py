"""No pattern takes more than linear time on text that nearly fits it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import product
from re import Pattern
from types import FrameType

import pytest

from observer.redaction.issued import _BY_ANCHOR, BASE64_TOKENS, TOKENS
from observer.redaction.patterns import _PATTERNS, Patterns

UNITS = (
    *"aAf0-_./+= \n\\\"'(@",
    *("aA", "a0", "A0", "ab-", "a.", "a_", "a/", "Aa", "Aaa", "AAa", "aaaB", "a1b", "-a-", "a,"),
    *("a=", "a:", "0.", "a b ", "$a", "a$", '\\"', "x;", "%41", "abc "),
)
LINES = ("bars", "lines_drawn", "tabs", "semicolons", "commas", "blanks")
"""Patterns that are asked about whole lines of at most 400 characters only."""
DEADLINE_S = 120


def patterns() -> Iterator[tuple[str, Pattern[str]]]:
    for part, names in _PATTERNS.items():
        yield from ((f"{part}.{name}", getattr(Patterns(part), name)) for name in names)
    yield from ((token.name, token.pattern) for token in (*TOKENS, *BASE64_TOKENS))
    for row in (row for rows in _BY_ANCHOR.values() for row in rows):
        yield from ((row.name, each) for each in (row.pattern, row.tail, row.program))


@pytest.mark.slow
def test_no_pattern_tries_the_same_text_in_many_ways() -> None:
    at = ""

    def is_late(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"does not end: {at}")

    before = signal.signal(signal.SIGALRM, is_late)
    signal.alarm(DEADLINE_S)
    try:
        tried = 0
        for (name, pattern), unit, end in product(patterns(), UNITS, ("!", "7f")):
            at, text = f"{name} on {unit!r}", (unit * 200)[:200] + end
            pattern.fullmatch(text)
            if name.partition(".")[2] not in LINES:
                pattern.search(text)
            tried += 1
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert tried > 50_000
