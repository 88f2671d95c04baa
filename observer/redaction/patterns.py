"""The words and regular expressions that redaction goes by, as data.

Part of step 4 (redaction). To compile all patterns takes as long as to import most of the program,
and few texts contain what most of them begin with: each is compiled when a text first needs it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> dict[str, Any]:
    """Return what a file of rules holds, such as `words.toml`."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


WORDS: dict[str, Any] = table("words.toml")
_PATTERNS: dict[str, dict[str, str]] = table("patterns.toml")


class Patterns:
    """The patterns of one part of `patterns.toml`, by their names there."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> re.Pattern[str]:
        lines = _PATTERNS[self._part][name].split("\n")
        found = re.compile("".join(line.removeprefix(4 * " ") for line in lines))
        setattr(self, name, found)  # where the next use finds it at once
        return found
