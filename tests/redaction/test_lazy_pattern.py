"""A lazy pattern is a pattern, only later."""

from __future__ import annotations

import re

import pytest

from observer.redaction.lazy_pattern import lazy


def test_it_finds_what_the_pattern_finds() -> None:
    pattern, text = r"(?P<head>a+)b", "caab AAB"
    for flags in (re.NOFLAG, re.IGNORECASE):
        eager, late = re.compile(pattern, flags), lazy(pattern, flags)
        for _ in range(2):  # compiled, and kept
            assert late.findall(text) == eager.findall(text)
            assert [found["head"] for found in late.finditer(text)] == eager.findall(text)
        assert (late.pattern, late.flags) == (eager.pattern, eager.flags)


def test_it_is_compiled_when_it_is_used() -> None:
    wrong = lazy("(")
    with pytest.raises(re.error):
        wrong.search("a")
