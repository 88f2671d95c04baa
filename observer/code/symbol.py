"""What a text defines (a `Symbol`), and the names that code mentions.

Names that code imports, calls or takes for a type are read from lines without comments and strings.
Names of variables are left out: they mean nothing outside the function that they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.code.languages import IDENTIFIER, KEYWORDS
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


MOST_CHARS = 20_000
"""Of the lines that are looked at."""

_COMMON = """
    append apply assert concat contains each every expect extend fail filter find findIndex flat
    flatMap forEach format includes indexOf items join keys length lower make next panic parse
    pop push puts replace reverse setdefault shift slice some sort sorted split splice startsWith
    endsWith strip test toString trim unshift update upper values Array Boolean Date Error Math
    Number Object Promise Record
"""
_EVERYWHERE = frozenset(_COMMON.split())
"""What any code calls: that it does so says nothing."""

_HASH = frozenset({"python", "ruby", "shell", "perl", "r", "elixir", "make", "terraform"})
_DASHES = frozenset({"sql", "lua"})
_TEXT = r"""\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_UNSAID = {
    "#": re.compile(rf"{_TEXT}|#[^\n]*", re.DOTALL),
    "--": re.compile(rf"{_TEXT}|--[^\n]*", re.DOTALL),
    "//": re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)|(?m:^[ \t]*\*[^\n]*)", re.DOTALL),
}

_IMPORT = re.compile(
    r"\s*(?:(?:import|from|use|using|require|require_relative|include)\b|export\s*[{*])"
)
_USED = re.compile(r"(?<![\w$])(?:[A-Z][\w$]{3,60}(?![\w$])|[A-Za-z_$][\w$]{3,60}(?=\s?\())")


def mentioned_names(lines: Iterable[str]) -> dict[str, None]:
    """Return the names in some lines, in the order in which they stand there."""
    found: dict[str, None] = {}
    left = MOST_CHARS
    is_import = False
    for line in lines:
        if left <= 0:
            break
        left -= len(line)
        is_import = is_import or _IMPORT.match(line) is not None
        pattern = IDENTIFIER if is_import else _USED
        found.update(dict.fromkeys(pattern.findall(line[:MOST_CHARS])))
        is_import = is_import and line.rstrip().endswith(("{", "(", ","))
    return {name: None for name in found if name not in KEYWORDS and name not in _EVERYWHERE}


def strip_comments(lines: str, language: str) -> str:
    """Return lines cut out of a file without their comments and strings, as far as they show it."""
    sign = "#" if language in _HASH else "--" if language in _DASHES else "//"
    return _UNSAID[sign].sub(" ", lines)
