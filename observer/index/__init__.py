"""The index of all items, derived from the store: words, vectors, and what filters ask for.

`Index` maintains it, `View` answers queries. Read `segment` for what it holds.
"""

from observer.index.index import Index
from observer.index.segment import LENGTH_SHARE, WORD_CHARS, pieces, words_of
from observer.index.view import ListRequest, TopK, View, distinct

__all__ = [
    "LENGTH_SHARE",
    "WORD_CHARS",
    "Index",
    "ListRequest",
    "TopK",
    "View",
    "distinct",
    "pieces",
    "words_of",
]
