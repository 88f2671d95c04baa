"""Removal of duplicates: of items in one list, and of sentences in one context pack; pure.

Items are duplicates if they have one title and project and nearly the same words, numbers left out,
or if they stand for one event in several projects: of one type, title and moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from observer.core.model import Item
from observer.search.rank import Hit
from observer.search.snippet import sentences

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

    @cached_property
    def text(self) -> str:
        return f"{self.item.subtitle} {content(self.item)}"

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
    """Return the words that a pattern finds, and a table leaves of a text in ASCII."""
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
        """Return a text without the sentences that were shown; nothing if it has no other one.

        `beside` is shown next to it, as a title is.
        """
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
        """Return True if all of a text stands in one that was shown; so does a text of no word."""
        return _stands_in(self._shown, text, _key(text))


def _stands_in(shown: str, text: str, key: str) -> bool:
    end = "" if text.rstrip().endswith(_CUT) else " "
    return not key or f" {key}{end}" in shown


def _key(text: str) -> str:
    """Return the words of a text, whatever stands between them."""
    return " ".join(_split(text.casefold(), _WORDS, _WORDS_ONLY))
