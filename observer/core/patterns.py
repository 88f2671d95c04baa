"""Regular expressions that are compiled when they are first used.

Compiling all 950 takes 0.4 s, which every start would pay, and most processes meet few of them: a
daemon that stores a prompt and a command uses 70.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _LazyPattern:
    """What a compiled pattern has, and the pattern itself only once something of it is used."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        found = getattr(self._compiled, name)
        setattr(self, name, found)  # where the next use finds it at once
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used.

    It has all methods and attributes of a compiled one, but cannot be given to functions of `re`.
    One that cannot be compiled raises `re.error` only then.
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
