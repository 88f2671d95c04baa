"""What a text defines: a `Symbol`."""

from __future__ import annotations

import re

from observer.core.value import Value


class Symbol(Value):
    """A definition, where it stands and what it says.

    `path` is `name` behind the names of the definitions around it: ``Cart.total``. Lines count
    from 1 and include the last. `signature` stands before the body and is empty where nothing can
    be called or inherited; `text` is all of the definition but what is defined inside it. Both are
    without comments, and spaced alike however they were laid out.
    """

    name: str
    path: str
    kind: str
    first_line: int
    last_line: int
    signature: str = ""
    text: str = ""
    comments: str = ""


_HASH = frozenset({"python", "ruby", "shell", "perl", "r", "elixir", "make", "terraform"})
_DASHES = frozenset({"sql", "lua"})
_TEXT = r"""\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_UNSAID = {
    "#": re.compile(rf"{_TEXT}|#[^\n]*", re.DOTALL),
    "--": re.compile(rf"{_TEXT}|--[^\n]*", re.DOTALL),
    "//": re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)|(?m:^[ \t]*\*[^\n]*)", re.DOTALL),
}


def strip_comments(lines: str, language: str) -> str:
    """Return lines cut out of a file without their comments and strings, as far as they show it."""
    sign = "#" if language in _HASH else "--" if language in _DASHES else "//"
    return _UNSAID[sign].sub(" ", lines)
