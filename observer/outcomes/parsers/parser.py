"""The parser of one tool's output: a function, and the marks by which its output is recognized.

Part of interpretation (step 6). JSON in an output may be cut anywhere, so it is not parsed as a
whole: `STRING` and `decode_json_string` read its strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.core.json_text import load
from observer.outcomes.result import CommandResult

Read = Callable[[str], CommandResult | None]


class OutputParser(NamedTuple):
    """The parser of a tool; one of `marks` is in its output, whatever started it (make, npm, tox).

    `is_raised` holds for parsers of what any program prints when it breaks. `end` is the last line
    of each run, for tools whose runs can be separated.
    """

    read: Read
    tools: tuple[str, ...]
    marks: tuple[str, ...]
    is_raised: bool = False
    end: re.Pattern[str] | None = None


STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
"""The pattern of a string, quotes included."""


def decode_json_string(string: str) -> str:
    """Return what a string of JSON says; half a surrogate pair becomes U+FFFD."""
    said: str = load(string)
    return said
