"""Typing errors in a query: words that the index does not know, one slip from one that it knows.

A word that any item holds is never taken for an error, nor is a word of an expression, and what is
read otherwise than written is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.index import pieces
from observer.search.candidates import Sources
from observer.search.language import quoted
from observer.search.query import Plan

SHORTEST = 5
"""Letters of a word from which on one slip leaves little doubt what was meant."""
SHORTEST_REPLACED = 7
"""With another letter in place of one, shorter words are often words of their own: login, logic."""

MOST_WORDS = 4
"""Words of one query that are looked at: who writes in a language that no item holds makes none."""
TRIED = 5
"""Known words, the commonest, of which one must be found among the items asked for."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def corrected(sources: Sources, wanted: Plan, filters: Filters) -> Plan:
    """Return a plan with its typing errors corrected, by words of the items that it may find."""
    if wanted.expression:
        return wanted
    tried = (
        (word, _known(sources, word.casefold(), filters)) for word in _unknown(sources, wanted)
    )
    meant = {word: known for word, known in tried if known}
    if not meant:
        return wanted
    instead = ", ".join(f"{known!r} for {word!r}" for word, known in meant.items())
    notice = f"searched {instead}, which nothing holds"
    # The text stays as it was written: a word that no item holds may still be one, and then only
    # its meaning finds what says it otherwise.
    return replace(
        wanted,
        words=tuple(dict.fromkeys(meant.get(word, word) for word in wanted.words)),
        shapes=tuple(_replaced(shape, meant) for shape in wanted.shapes),
        notice="; ".join(filter(None, (wanted.notice, notice))),
    )


def _is_word(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and len(pieces(word)) == 1


def _unknown(sources: Sources, wanted: Plan) -> list[str]:
    """Return the words of a plan that no item holds."""
    view = sources.view
    codes = {word: view.codes(word) for word in filter(_is_word, wanted.words)}
    words = [word for word, of_word in codes.items() if len(of_word) == 1]
    counts = view.counts(np.array([codes[word][0] for word in words], np.uint32))
    return [word for word, count in zip(words, counts, strict=True) if not count][:MOST_WORDS]


def _known(sources: Sources, word: str, filters: Filters) -> str:
    """Return the commonest word that is one slip away and that an item asked for holds, or none."""
    view = sources.view
    by_code: dict[int, str] = {}
    for slip in _slips(word):
        for code in view.codes(slip):
            by_code.setdefault(code, slip)
    counts = view.counts(np.array(list(by_code), np.uint32))
    slips = list(by_code.values())
    commonest = [slips[place] for place in np.argsort(-counts, kind="stable") if counts[place]]
    # Two words may share a code, and words of other projects are nobody's business.
    tried = (each for each in commonest[:TRIED])
    return next(
        (each for each in tried if sources.reader.match(quoted(each), filters, limit=1)), ""
    )


def _slips(word: str) -> Iterator[str]:
    """Yield what a word may have been before one slip: the likeliest kinds of slips first.

    The first letter stays: it is seldom mistyped (Pollock and Zamora, "Automatic spelling
    correction in scientific and scholarly text", 1984), and without it a word is often another.
    """
    heads = [(word[:place], word[place:]) for place in range(1, len(word))]
    yield from (f"{head}{tail[1]}{tail[0]}{tail[2:]}" for head, tail in heads[:-1])
    yield from (head + tail[1:] for head, tail in heads)
    yield from (head + letter + tail for head, tail in (*heads, (word, "")) for letter in _ALPHABET)
    if len(word) >= SHORTEST_REPLACED:
        yield from (head + letter + tail[1:] for head, tail in heads for letter in _ALPHABET)


def _replaced(text: str, meant: dict[str, str]) -> str:
    for word, known in meant.items():
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", known, text)
    return text
