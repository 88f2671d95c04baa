"""Plain BM25 over the same items: what search is held against."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from observer.core.model import Item, columns_of

_WORD = re.compile(r"\w{2,}")
_SMALL_WORDS = "the a an and or of to in is it that this for on with as be are was we can do not"
_STOP = frozenset(_SMALL_WORDS.split())
_MOST_WORDS = 60


class Words:
    """An index of items by their stemmed words."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize='porter unicode61')"
        )
        self._database.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)",
            [(item.id, " ".join(columns_of(item))) for item in items],
        )

    def search(self, text: str, *, before: int, limit: int) -> list[int]:
        """Return the best items with an id below `before`."""
        said = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
        words = list(dict.fromkeys(said))[:_MOST_WORDS]
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE text MATCH ? AND rowid < ? ORDER BY bm25(words) LIMIT ?",
            (asked, before, limit),
        )
        return [row for (row,) in rows]
