"""Which part of an item's text to show, and what of it was shown before; pure.

Items are duplicates if they have one title and project and nearly the same words, numbers left out,
or if they stand for one event in several projects: of one type, title and moment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import msgspec

from observer.core.model import UNSPACED, Item
from observer.core.patterns import lazy_pattern
from observer.core.text import ENDS, WIDE_ENDS
from observer.search.rank import Hit

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

    It is the stretch with most of the different words, from where their sentence begins.
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
    breaks = _ASCII_BREAK if text.isascii() else _BREAK
    return [part for part in breaks.split(text.strip()) if part.strip()]


@lru_cache(maxsize=256)  # an answer holds each snippet twice, as text and as JSON
def _sentence(text: str, words: tuple[str, ...], limit: int) -> int:
    low = text.casefold()
    # Case folding may lengthen a text; then places do not carry over and the start must do.
    if len(low) != len(text):
        return 0
    first = _densest(low, words, limit)
    if first < limit // 2:
        return 0
    breaks = _ASCII_BREAK if text.isascii() else _BREAK
    begins = [match.end() for match in breaks.finditer(text, 0, first)]
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


ALIKE = 0.8
"""Share of words in common from which two items under one title are the same to a reader."""

NEVER_DUPLICATES = frozenset({"commit"})
"""Types of which each is a place of its own, however alike: what was picked to another branch."""

_Title = tuple[str, str]

_LETTERS = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"\w+")
_ASCII = tuple(map(chr, range(128)))
_LETTERS_ONLY = "".join(each if each.isalpha() else " " for each in _ASCII)
_WORDS_ONLY = "".join(each if _WORDS.match(each) else " " for each in _ASCII)
"""Tables for `str.translate`: they split ASCII into the same words in half the time."""


class Deduplicator:
    """Keeps the first of hits that say the same; give it the best first."""

    def __init__(self) -> None:
        self._kept: dict[int, Hit] = {}
        self._by_title: dict[_Title, list[_ItemWords]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._kept.values())

    def take(self, hit: Hit) -> None:
        """Keep a hit, or add its id to `alike` of the kept hit that says the same."""
        item = hit.item
        title = item.type, item.title.casefold()
        new, others = _ItemWords(item), self._by_title.setdefault(title, [])
        same = next((other.item.id for other in others if new.is_like(other)), None)
        if same is None or item.type in NEVER_DUPLICATES:
            others.append(new)
            self._kept[item.id] = hit
        else:
            alike = (*self._kept[same].alike, item.id)
            self._kept[same] = msgspec.structs.replace(self._kept[same], alike=alike)


def without_duplicates(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits without duplicates; each names those left out for it as `alike`."""
    found = Deduplicator()
    for hit in hits:
        found.take(hit)
    return list(found)


def content(item: Item) -> str:
    """Return the main text of an item: its narrative, else facts, else subtitle."""
    return item.narrative or "; ".join(item.facts) or item.subtitle


class _ItemWords:
    """An item and its words, split only where a title is shared, as that is expensive."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.text = f"{item.subtitle} {content(item)}"

    @cached_property
    def words(self) -> set[str]:
        return set(_split(self.text.casefold(), _LETTERS, _LETTERS_ONLY))

    def is_like(self, other: _ItemWords) -> bool:
        if self.item.project_id != other.item.project_id:
            return self.item.created_ms == other.item.created_ms
        if self.text == other.text:  # as what a command prints each time; no need to split it
            return True
        if self.item.kind == "note":  # of two that differ nobody has said which one holds
            return False
        shared = len(self.words & other.words)
        together = len(self.words) + len(other.words) - shared
        return not together or shared / together >= ALIKE


def _split(text: str, words: re.Pattern[str], only: str) -> list[str]:
    return text.translate(only).split() if text.isascii() else words.findall(text)


SHORT = 4
"""Fewer words say too little to be recognised inside of another text."""

_CUT = "…"


class Repeats:
    """Finds sentences that were shown before, so that no text is paid for twice."""

    def __init__(self) -> None:
        self._shown = "\n"

    def add(self, texts: Iterable[str]) -> None:
        """Remember texts as shown."""
        self._shown += "".join(f" {_key(text)} \n" for text in texts)

    def fresh(self, text: str, *, beside: str = "") -> str:
        """Return a text without the sentences that were shown, here or as its title `beside` it."""
        if not text:
            return text
        title = _key(beside)
        parts = sentences(text)
        said = [
            (part, _stands_in(self._shown, part, key) or _stands_in(f"\n {title} \n", part, key))
            for part, key in ((part, _key(part)) for part in parts)
            if key != title
        ]
        kept = [
            (part, is_said)
            for part, is_said in said
            if not is_said or len(_split(part, _WORDS, _WORDS_ONLY)) < SHORT
        ]
        if all(is_said for _, is_said in kept):
            return ""
        # Without one end of a quotation what others wrote would look like our own words.
        if len(kept) == len(parts) or any(part.count('"') % 2 for part in parts):
            return text
        return " ".join(part for part, _ in kept)

    def has(self, text: str) -> bool:
        """Return True if a text has no word, or stands in one that was shown."""
        return _stands_in(self._shown, text, _key(text))


def _stands_in(shown: str, text: str, key: str) -> bool:
    end = "" if text.rstrip().endswith(_CUT) else " "
    return not key or f" {key}{end}" in shown


def _key(text: str) -> str:
    return " ".join(_split(text.casefold(), _WORDS, _WORDS_ONLY))
