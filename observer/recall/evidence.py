"""Why an item matched, and which part of it to show; pure.

The index keeps no text, so what matched is looked up in the item itself, by the same stems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from observer.model import Item
from observer.recall.query import CLOSE_DISTANCE, parts

MAX_TEXT = 4_000
"""Characters of an item that are looked through."""

Stem = Callable[[str], tuple[str, ...]]

_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")


def matched(item: Item, words: Sequence[str], *, stem: Stem) -> tuple[tuple[str, ...], float]:
    """Return the words of a query that an item holds, and how many of them stand together.

    The second figure is the largest number of different words inside one short stretch of text,
    less one, as a share of what it could be: 0 where all stand apart, 1 where all stand together.
    """
    wanted = {term: word for word in words for term in stem(word)[:1]}
    seen = _positions(item, wanted, stem)
    terms = tuple(dict.fromkeys(word for term, word in wanted.items() if term in seen))
    together = _most_together(seen, span=len(wanted) + CLOSE_DISTANCE)
    return terms, max(0, together - 1) / max(1, len(wanted) - 1)


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


def _positions(item: Item, wanted: dict[str, str], stem: Stem) -> dict[str, list[int]]:
    # Stemming a word costs more than all else here, and a stem begins as its word does.
    initials = {term[0] for term in wanted}
    known: dict[str, str] = {}
    seen: dict[str, list[int]] = {}
    for place, word in enumerate(parts(_text(item)[:MAX_TEXT])):
        low = word.casefold()
        if low[0] not in initials and low.isascii():
            continue
        if low not in known:
            known[low] = next(iter(stem(low)), "")
        if known[low] in wanted:
            seen.setdefault(known[low], []).append(place)
    return seen


def _text(item: Item) -> str:
    lists = (item.facts, item.concepts, item.files_modified, item.files_read)
    return "\n".join((item.title, item.subtitle, item.narrative, *map("\n".join, lists)))


def _most_together(seen: dict[str, list[int]], *, span: int) -> int:
    places = sorted((place, term) for term, found in seen.items() for place in found)
    best = first = 0
    for last, (place, _) in enumerate(places):
        while places[first][0] <= place - span:
            first += 1
        best = max(best, len({term for _, term in places[first : last + 1]}))
    return best


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
