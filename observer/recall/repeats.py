"""What of a text was shown before: each sentence of a context pack is paid for once; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.recall.passage import sentences

SHORT = 4
"""Fewer words say too little to be recognised inside of another text."""

_WORDS = re.compile(r"\w+")
_CUT = "…"


class Repeats:
    """Remembers the texts that were shown."""

    def __init__(self) -> None:
        self._shown = "\n"

    def add(self, texts: Iterable[str]) -> None:
        """Remember texts as shown."""
        self._shown += "".join(f" {_key(text)} \n" for text in texts)

    def fresh(self, text: str, *, beside: str = "") -> str:
        """Return a text without the sentences that were shown; nothing if it has no other one.

        `beside` is shown next to it, as a title is.
        """
        title = _key(beside)
        shown = f"{self._shown} {title} \n"
        parts = [part for part in sentences(text) if _key(part) != title]
        kept = [part for part in parts if _is_short(part) or not _stands_in(shown, part)]
        if all(_stands_in(shown, part) for part in kept):
            return ""
        return text if len(kept) == len(sentences(text)) else " ".join(kept)

    def has(self, text: str) -> bool:
        """Return True if all of a text stands in one that was shown; so does a text of no word."""
        return _stands_in(self._shown, text)


def _stands_in(shown: str, text: str) -> bool:
    key = _key(text)
    end = "" if text.rstrip().endswith(_CUT) else " "
    return not key or f" {key}{end}" in shown


def _key(text: str) -> str:
    """Return the words of a text, whatever stands between them."""
    return " ".join(_WORDS.findall(text.casefold()))


def _is_short(text: str) -> bool:
    return len(_WORDS.findall(text)) < SHORT
