"""Which part of an item's text to show; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.interpret.wording import ENDS, WIDE_ENDS
from observer.model import UNSPACED

_BREAK = re.compile(rf"(?<=[{ENDS};])\s+|(?<=[{WIDE_ENDS}])|\n+")
_EDGE = re.compile(rf".*[\s{UNSPACED}]", re.DOTALL)


def passage(text: str, limit: int, *, words: Iterable[str] = ()) -> str:
    """Return at most `limit` characters of a text, cut between words and marked with ``…``.

    The stretch begins at the sentence that holds the first of the words, else at the start.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    start = _sentence(text, words, limit)
    head = "… " if start else ""
    room = limit - len(head) - len(" …")
    rest = text[start:]
    if len(rest) <= room + len(" …"):
        return head + rest
    room = max(0, room)
    kept = rest[: min(room, _edge(rest[: room + 1]))].rstrip()
    return f"{head}{kept} …" if kept else "…"


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text; what has neither is one."""
    return [part for part in _BREAK.split(text.strip()) if part.strip()]


def _sentence(text: str, words: Iterable[str], limit: int) -> int:
    low = text.casefold()
    # Case folding may lengthen a text; then places do not carry over and the start must do.
    if len(low) != len(text):
        return 0
    found = [place for word in words if (place := low.find(word.casefold())) >= 0]
    if not found or min(found) < limit // 2:
        return 0
    first = min(found)
    begins = [match.end() for match in _BREAK.finditer(text, 0, first)]
    if begins and first - begins[-1] < limit // 2:
        return begins[-1]
    return _edge(text[:first])


def _edge(text: str) -> int:
    """Return where the last word of a text begins: behind a blank, or a letter that is a word."""
    found = _EDGE.match(text)
    return found.end() if found else 0
