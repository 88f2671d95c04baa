"""The stems of words that say something, and what units measure; pure."""

from __future__ import annotations

from functools import lru_cache

from observer.truth import phrases

Words = frozenset[str]

_DOUBLING = frozenset({"ing", "ings", "ed", "er", "ers", "able", "ables"})
_DOUBLED = frozenset({"bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt"})
"""Before these endings English doubles a last consonant."""


def stems(text: str) -> Words:
    """Return the stems of the words that say something."""
    return frozenset(
        stem(word)
        for word in phrases.WORD.findall(text.lower().replace("'s ", " "))
        if word not in phrases.EMPTY
        and word not in phrases.NUMBERS
        and not word[0].isdigit()
        and unit_of(word) is None
    )


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return what the forms of a word share, or nearly."""
    word = phrases.IRREGULAR.get(word, word)
    for _ in range(2):
        ending = next((end for end in phrases.ENDINGS if word.endswith(end) and word[:-3]), "")
        if ending == "s" and word.endswith("ss"):
            break
        if len(word) - len(ending) < 3:
            break
        word = word.removesuffix(ending)
        if ending in _DOUBLING and len(word) > 3 and word[-2:] in _DOUBLED:
            word = word[:-1]
    return word


def unit_of(word: str) -> str | None:
    """Return what a unit measures; None for other words."""
    return phrases.UNITS.get(word) or phrases.UNITS.get(word.removesuffix("s"))
