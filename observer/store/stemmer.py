"""Word stems, as the engine's own full-text index makes them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import apsw

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As in the schema: what is searched and what is stored are cut alike."""


def stemmer() -> Callable[[str], tuple[str, ...]]:
    """Return a function from a word to the terms that stand for it: split, folded, stemmed."""
    lock = threading.Lock()
    connection = apsw.Connection(":memory:")
    tokenize = connection.fts5_tokenizer(*TOKENIZER)

    def stem(word: str) -> tuple[str, ...]:
        text = word.encode("utf-8", "replace")
        with lock:
            found = tokenize(
                text, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
            )
        return tuple(map(str, found))

    return stem
