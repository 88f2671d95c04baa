"""Claims: the lines of a note that state one thing each, `- [category] text #tag (context)`.

Pure. Any text can be read; a claim that was read and written is read again as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.events import Value

MOST = 500
"""Claims read from one note."""
LINE_CHARS = 2_000
"""A longer line states more than one thing."""

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[([^\[\]()]{2,60})\]\s+(\S.*)")
_CONTEXT = re.compile(r"\(([^()]+)\)\Z")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


class Claim(Value):
    """One statement. `tags` stand in its text as `#tag`, `context` stood in brackets behind it."""

    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str = ""


def parse(text: str) -> tuple[Claim, ...]:
    """Return the claims of a note, in order; tasks, timecodes, links and code are none."""
    found: list[Claim] = []
    for line in prose(text):
        if len(found) == MOST:
            break
        if claim := _claim(line):
            found.append(claim)
    return tuple(found)


def written(claim: Claim) -> str:
    """Return a claim as the line of a note."""
    context = f" ({claim.context})" if claim.context else ""
    return f"- [{claim.category}] {claim.text}{context}"


def tags_in(text: str) -> tuple[str, ...]:
    """Return the different `#tags` of a text, without the mark, in order; a number is none."""
    words = (word for word in text.split() if word.startswith("#"))
    parts = (part.strip(".,;:!?()'\"") for word in words for part in word.split("#"))
    return tuple(dict.fromkeys(part for part in parts if any(map(str.isalpha, part))))


def prose(text: str) -> Iterator[str]:
    """Yield the lines that stand outside fenced code."""
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence:
            yield line


def _claim(line: str) -> Claim | None:
    if len(line) > LINE_CHARS or not (item := _ITEM.fullmatch(line)):
        return None
    category, said = map(_spaced, item.groups())
    # One sign is a task's mark, a first digit a time, and others begin what editors fold.
    if len(category) < 2 or not category[0].isalpha():
        return None
    context = ""
    if (last := _CONTEXT.search(said)) and last.start() and last[1].strip():
        said, context = said[: last.start()].rstrip(), last[1].strip()
    return Claim(category=category, text=said, tags=tags_in(said), context=context)


def _spaced(text: str) -> str:
    return " ".join(text.split())
