"""The few keywords of an event that its text does not say as words: of its files and symbols.

A concept is in lower case; at most `AT_MOST` are given, the most important first. The language of a
file is the only word that the event itself does not contain. How much a word says is not judged
here: search weighs it by how many items have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from observer.code.languages import language_of
from observer.core.text import distinct, named

AT_MOST = 8
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")


def of_files(paths: Iterable[str], symbols: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the concepts of some paths, then of the symbols touched in them."""
    return distinct(chain(*map(of_path, paths), *map(identifier_words, symbols)), AT_MOST)


@lru_cache(maxsize=4096)
def of_path(path: str) -> tuple[str, ...]:
    """Return a file's language, the words of its name and of its folder.

    A path that is a sentence gives no words: whoever's repository it is may have written it.
    """
    folders, _, name = path.rpartition("/")
    parts = (name.partition(".")[0], folders.rpartition("/")[2]) if named(path) == path else ()
    return distinct((language_of(path), *chain(*map(identifier_words, parts))), AT_MOST)


@lru_cache(maxsize=8192)
def identifier_words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier: ``verifyToken2`` -> ``("verify", "token")``."""
    words = (word.lower() for word in _PARTS.findall(name[:100]))
    return tuple(word for word in words if len(word) > 2)
