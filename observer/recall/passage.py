"""Which part of an item's text to show; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")


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
    cut = rest[: max(0, room + 1)]
    kept = cut[: max(0, _last_space(cut))].rstrip()
    return f"{head}{kept} …" if kept else "…"


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
    return _last_space(text[:first]) + 1


def _last_space(text: str) -> int:
    return max(text.rfind(" "), text.rfind("\n"))
