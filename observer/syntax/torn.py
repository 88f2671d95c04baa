"""Telling without a parser that a text is torn: no tree of it can be sound.

An edit shows lines cut out of a file, often amid a string or between brackets; a parser spends
several times as long on such a text as on a sound one. Only what is certain is told.
"""

from __future__ import annotations

import re

# What a formatted string says between braces may hold quotes of its own: only a parser knows.
_NOT_FORMATTED = r"(?<![fFtT])(?<![fFtT][rR])"
_SILENT = rf"""
    \#[^\n]*+
    | {_NOT_FORMATTED}(?:
        \"{{3}}(?:[^"\\]++|\\.|"(?!""))*+\"{{3}}
        | '{{3}}(?:[^'\\]++|\\.|'(?!''))*+'{{3}}
        | "(?!"")(?:[^"\\\n]++|\\.)*+"
        | '(?!'')(?:[^'\\\n]++|\\.)*+'
    )
"""
"""A comment or a whole string: brackets inside mean nothing."""

_FLAGS = re.DOTALL | re.VERBOSE
_SILENCE = re.compile(_SILENT, _FLAGS)
_UNDERSTOOD = re.compile(rf"(?:[^\#\"']++|{_SILENT})*+", _FLAGS)
_OPENING = re.compile(rf"{_NOT_FORMATTED}(?:\"{{3}}|'{{3}})", _FLAGS)
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


def is_torn(text: str) -> bool:
    """Tell whether a Python text surely ends inside a string, or has a bracket without its other.

    False says nothing. The time is linear in the text.
    """
    understood = _UNDERSTOOD.match(text)
    if understood and understood.end() < len(text):
        # A string of one line may go on where the grammar is lenient; a long one has begun.
        return _OPENING.match(text, understood.end()) is not None
    return not _is_even(text) and not _is_even(_SILENCE.sub("", text))


def _is_even(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in _BRACKETS)
