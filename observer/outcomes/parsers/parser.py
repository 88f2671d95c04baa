"""What a tool's reader is: a function, and how to know that its tool may have spoken.

Part of interpretation (step 6).

Strings of JSON in an output, which may be cut anywhere, so that it cannot be parsed as a whole.

Part of interpretation (step 6).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.core.json_text import load
from observer.outcomes.result import CommandResult

Read = Callable[[str], CommandResult | None]


class OutputParser(NamedTuple):
    """A tool's reader; one of `marks` stands in its output whoever started it (make, npm, tox).

    `is_raised` holds for readers of what any program prints when it breaks. `end` is the last line
    of each run, for tools whose runs can be told apart.
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
