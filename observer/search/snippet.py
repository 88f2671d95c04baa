"""Which part of an item's text to show; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from observer.core.model import UNSPACED
from observer.core.patterns import lazy_pattern
from observer.core.text import ENDS, WIDE_ENDS

ENDING, SHORTEST = 3, 4
"""Letters of an ending, and those that stay of a word without it: fails, failing, failed."""

MOST_PLACES = 20
"""Of one word in one text, looked at."""

_EVEN = 1e-9

_BREAK = re.compile(rf"(?<=[{ENDS};])\s+|(?<=[{WIDE_ENDS}])|\n+")
_ASCII_BREAK = re.compile(rf"\s(?:(?<=[{ENDS};]\s)\s*|(?<=\n)\n*)")
"""The same in ASCII. It begins with a blank, which the engine finds in a third of the time."""
_EDGE = lazy_pattern(rf".*[\s{UNSPACED}]", re.DOTALL)


def snippet(text: str, limit: int, *, words: Iterable[str] = ()) -> str:
    """Return at most `limit` characters of a text, cut between words and marked with ``…``.

    It is the stretch that holds most of the different words, from the sentence on in which they
    begin; the start of the text where that holds as many, or none is there.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    start = _sentence(text, tuple(words), limit)
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
    return [part for part in _breaks(text).split(text.strip()) if part.strip()]


def _breaks(text: str) -> re.Pattern[str]:
    return _ASCII_BREAK if text.isascii() else _BREAK


@lru_cache(maxsize=256)  # an answer holds each snippet twice, as text and as JSON
def _sentence(text: str, words: tuple[str, ...], limit: int) -> int:
    low = text.casefold()
    # Case folding may lengthen a text; then places do not carry over and the start must do.
    if len(low) != len(text):
        return 0
    first = _densest(low, words, limit)
    if first < limit // 2:
        return 0
    begins = [match.end() for match in _breaks(text).finditer(text, 0, first)]
    if begins and first - begins[-1] < limit // 2:
        return begins[-1]
    return _edge(text[:first])


def _densest(low: str, words: Iterable[str], limit: int) -> int:
    """Return where the stretch begins that holds most different words, and the rarer ones."""
    forms = {form for word in words if (form := _form(low, word))}
    firsts = [low.find(form) for form in forms]
    if len(forms) < 2 or max(firsts) < limit // 2:
        # Nothing holds more than the beginning, or than what holds the only word.
        return next((first for first in firsts if first >= limit // 2), 0)
    places = sorted((place, form) for form in forms for place in _places(low, form))
    worth = {form: 1 + 1 / count for form, count in Counter(form for _, form in places).items()}
    best, begin = sum(worth[form] for form in {f for at, f in places if at < limit // 2}), 0
    inside: Counter[str] = Counter()
    ends = iter((*places, (len(low) + limit, "")))
    end, coming = next(ends)
    for place, form in places:
        # A sentence may begin before its word, so the stretch is not all of the room.
        while end < place + limit // 2:
            inside[coming] += 1
            end, coming = next(ends)
        held_here = sum(worth[each] for each in inside)
        if held_here > best + _EVEN:
            best, begin = held_here, place
        inside[form] -= 1
        if not inside[form]:
            del inside[form]
    return begin


def held(text: str, words: Iterable[str]) -> int:
    """Return how many of some words a text holds, whatever their endings."""
    low = text.casefold()
    return sum(bool(_form(low, word)) for word in words)


def held_whole(text: str, words: Iterable[str]) -> int:
    """Return how many of some words a text holds as words of their own, as they are written."""
    low = text.casefold()
    return sum(_stands_alone(low, word.casefold()) for word in words)


def _stands_alone(low: str, word: str) -> bool:
    """Return True if a folded text holds a word with no letter, digit or underscore beside it."""
    place = low.find(word)
    # To compile a pattern for each word of a query takes longer than to look at all its texts.
    while place >= 0:
        end = place + len(word)
        beside = f"{low[place - 1 : place]}{low[end : end + 1]}"
        if not any(one.isalnum() or one == "_" for one in beside):
            return True
        place = low.find(word, place + 1)
    return False


def _form(low: str, word: str) -> str:
    """Return a word as a folded text holds it, without its ending if need be; nothing if not."""
    word = word.casefold()
    if word in low:
        return word
    cuts = range(1, min(ENDING, len(word) - SHORTEST) + 1)
    return next((form for cut in cuts if (form := word[:-cut]) in low), "")


def _places(low: str, word: str) -> Iterator[int]:
    place = low.find(word)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield place
        place = low.find(word, place + 1)


def _edge(text: str) -> int:
    """Return where the last word of a text begins: behind a blank, or a letter that is a word."""
    found = _EDGE.match(text)
    return found.end() if found else 0
