"""Text as numbers: every word becomes the code of its stem, names yield their parts as well.

A stem's code is 32 bits of a checksum. Two stems with one code are treated as one word; among half
a million stems there are some thirty such pairs.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Sequence
from itertools import chain

from observer.core.model import UNSPACED, Item, columns_of
from observer.core.patterns import lazy_pattern

Stem = Callable[[str], tuple[str, ...]]
"""Returns the terms under which a word is kept: folded and stemmed."""

SEPARATOR = 0
"""The code that ends a column; no stem has it."""

COLUMNS = 6
"""Title, subtitle, narrative, facts, concepts, files: each ends with a separator."""

MOST_KNOWN, KEPT = 200_000, 20_000
"""Words whose codes are at hand while much is taken up, 50 MB of them, and those kept behind it."""

WORD_CHARS = 200
"""What is longer is data, not a word."""

_LETTER = rf"[^\W_{UNSPACED}]"
# Sets of so many letters take as long to compile as a hundred other patterns, and few texts hold
# any of them.
_WORDS = (
    lazy_pattern(rf"[{UNSPACED}]|{_LETTER}+(?:[\u0300-\u036f]+{_LETTER}*)*"),
    re.compile(r"[A-Za-z0-9]+"),
)
"""The words of any text, and of ASCII."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in order.

    A word is a run of letters and digits, and of the accents that stand behind them in decomposed
    text; or one letter of a script without blanks.

    >>> words_of("add_item(2) \u5c71\u5ddd")
    ['add', 'item', '2', '\u5c71', '\u5ddd']
    """
    return _WORDS[text.isascii()].findall(text)


def pieces(word: str) -> list[str]:
    """Return the parts of a name in camelCase; a word without a hump is its only part.

    >>> pieces("HTTPServer"), pieces("server")
    (['HTTP', 'Server'], ['server'])
    """
    return _HUMP.split(word)


class Codes(dict[str, tuple[int, ...]]):
    """The codes of each word met so far: its stems', then those of its parts; for any thread.

    Args:
        stem: asked once for a word.
    """

    def __init__(self, stem: Stem) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> tuple[int, ...]:
        self.shrink(MOST_KNOWN)
        found = self.whole(word)
        inside = pieces(word[:WORD_CHARS])
        if len(inside) > 1:
            found += tuple(each for piece in inside for each in self.whole(piece))
        self[word] = found
        return found

    def shrink(self, most: int = KEPT) -> None:
        """Forget all words where there are more than so many; they are soon learnt again."""
        if len(self) > most:
            self.clear()

    def whole(self, word: str) -> tuple[int, ...]:
        """Return the codes of a word without those of its parts."""
        return tuple(map(code, self._stem(word))) if len(word) <= WORD_CHARS else ()

    def whole_each(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return what `whole` does of each word; ASCII letters are stemmed in one call."""
        letters = "".join(words)
        is_plain = letters.isascii() and letters.isalpha() and all(words)
        if is_plain and max(map(len, words)) <= WORD_CHARS:
            return [(code(term),) for term in self._stem(" ".join(words))]
        # Others may have no term, or several: those of all would not say whose they are.
        return [self.whole(word) for word in words]

    def of_item(self, item: Item) -> array[int]:
        """Return the codes of an item's columns, each column ended by `SEPARATOR`."""
        found: array[int] = array("I")
        for text in columns_of(item):
            found.extend(chain.from_iterable(map(self.__getitem__, words_of(text))))
            found.append(SEPARATOR)
        return found


def code(term: str) -> int:
    """Return the code of a stem, 1 to 2^32 - 1."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) or 1
