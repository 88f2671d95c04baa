"""The headings of a Markdown text: with `#` or underlined, outside of code and of front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from observer.languages import definition

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"(?:=+|-{2,})[ \t\r]*$")
_FRONT = "---"
_CHARS = 100
_NO_TITLE = tuple("-*+>|`~#<")


def named(lines: Sequence[str]) -> dict[int, str]:
    """Return the number of each line that is a heading, from 0, and its words."""
    found = {}
    fence = ""
    for number, line in enumerate(lines[_front(lines) :], _front(lines)):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
        elif match:
            fence = match[1]
        elif name := _heading(line) or _underlined(lines, number):
            found[number] = name
    return found


def _front(lines: Sequence[str]) -> int:
    """Return where a text begins behind its front matter."""
    if lines and lines[0].rstrip() == _FRONT:
        for number, line in enumerate(lines[1:], 2):
            if line.rstrip() == _FRONT:
                return number
    return 0


def _heading(line: str) -> str:
    code = line.lstrip()
    return definition(code, len(line) - len(code), "markdown") if code else ""


def _underlined(lines: Sequence[str], number: int) -> str:
    title = lines[number].strip()
    below = lines[number + 1] if number + 1 < len(lines) else ""
    if not title or title.startswith(_NO_TITLE) or not _UNDERLINE.match(below):
        return ""
    return title[:_CHARS]
