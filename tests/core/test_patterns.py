"""A lazy pattern is compiled when it is first used, and is then what `re.compile` makes."""

from __future__ import annotations

import re

import pytest

from observer.core.patterns import lazy_pattern

TEXT = "two Words, one more"


def test_it_finds_what_a_compiled_one_finds() -> None:
    lazy, eager = (
        make(r"(?P<word>w\w+)|ONE", re.IGNORECASE) for make in (lazy_pattern, re.compile)
    )
    for _ in range(2):
        assert lazy.sub("-", TEXT) == eager.sub("-", TEXT) == "t- -, - more"
        assert [match["word"] for match in lazy.finditer(TEXT)] == ["wo", "Words", None]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (eager.pattern, eager.flags, eager.groups)


def test_it_is_compiled_when_it_is_first_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search(TEXT)
