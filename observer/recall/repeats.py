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
        parts = sentences(text)
        said = [
            (part, _stands_in(shown, part, key))
            for part, key in ((part, _key(part)) for part in parts)
            if key != title
        ]
        kept = [(part, is_said) for part, is_said in said if not is_said or _is_short(part)]
        if all(is_said for _, is_said in kept):
            return ""
        return text if len(kept) == len(parts) else " ".join(part for part, _ in kept)

    def has(self, text: str) -> bool:
        """Return True if all of a text stands in one that was shown; so does a text of no word."""
        return _stands_in(self._shown, text, _key(text))


def _stands_in(shown: str, text: str, key: str) -> bool:
    end = "" if text.rstrip().endswith(_CUT) else " "
    return not key or f" {key}{end}" in shown


def _key(text: str) -> str:
    """Return the words of a text, whatever stands between them."""
    return " ".join(_WORDS.findall(text.casefold()))


def _is_short(text: str) -> bool:
    return len(_WORDS.findall(text)) < SHORT
