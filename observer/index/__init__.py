"""The index of all items, derived from the store: words, meanings, and what filters ask for.

`Index` keeps it, `View` answers. Read `segment` to learn what is in it, `view` what it is asked.
"""

from observer.index.index import BATCH, Feed, Index
from observer.index.segment import WEIGHTS
from observer.index.tokens import WORD, Stem, pieces
from observer.index.view import Best, View, Wanted

__all__ = ["BATCH", "WEIGHTS", "WORD", "Best", "Feed", "Index", "Stem", "View", "Wanted", "pieces"]
