"""Regular expressions that are compiled when a text first needs them.

To compile all patterns of this package takes as long as to import most of the others: a fifth of
the processor time of a short command. Few texts contain what most of them begin with.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _LazyPattern:
    """Looks like a `re.Pattern`; invalid patterns raise `re.error` at their first use."""

    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self._arguments = (pattern, flags)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._arguments)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the attribute is
        # Kept, so that this is called once for each name.
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def lazy(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return a pattern that is compiled at its first use."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
