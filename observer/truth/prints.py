"""Fingerprints of what a file holds: of each symbol, and of what is outside of all.

A print is of a symbol without those inside it, without comments and however it is laid out: what
was only put elsewhere or formatted anew has not changed.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from observer.languages import language_of
from observer.syntax import outline

OUTSIDE = ""
"""Name of what stands outside of all symbols."""
FILE = "/"
"""Name of a file's being there at all; no symbol is called so."""
ABSENT = ""
"""Print of what is not there."""
MOST_BYTES = 512 << 10
"""A larger file is data: it has one print, of all its bytes."""

_QUOTES = str.maketrans("'", '"', "\\")
_LAST_COMMA = re.compile(r",(?=[)\]}])")

Prints = Mapping[str, str]


def prints(data: bytes, path: str) -> Prints:
    """Return a print of each symbol by its qualified name, and of the rest under `OUTSIDE`."""
    if len(data) > MOST_BYTES or b"\0" in data:
        return {OUTSIDE: _print(data)}
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for symbol in outline(text, language_of(path)):
        texts[symbol.path].append(symbol.text)
        inside = slice(symbol.first_line - 1, symbol.last_line)
        lines[inside] = [""] * len(lines[inside])
    return {name: _print(_packed(parts)) for name, parts in {**texts, OUTSIDE: lines}.items()}


def print_of(known: Prints, name: str) -> str:
    """Return the print of a symbol, `ABSENT` if it is not there.

    A plain name means every symbol that is called so, in whatever class.
    """
    if name == FILE:
        return "there" if known else ABSENT
    if name in known or not name:
        return known.get(name, ABSENT)
    tail = f".{name}"
    found = [known[each] for each in sorted(known) if each.endswith(tail)]
    return found[0] if len(found) == 1 else _print("".join(found).encode()) if found else ABSENT


def touched(before: Prints, after: Prints) -> list[str]:
    """Return the symbols in which two versions of a file differ; `OUTSIDE` if in none."""
    names = [name for name in {**after, **before} if name]
    return [name for name in names if before.get(name) != after.get(name)] or [OUTSIDE]


def _packed(parts: Iterable[str]) -> bytes:
    """Return text without what a formatter decides: spaces, sorts of quotes, last commas."""
    text = "".join("".join(parts).split()).translate(_QUOTES)
    return _LAST_COMMA.sub("", text).encode("utf-8", "replace")


def _print(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=9).hexdigest()
