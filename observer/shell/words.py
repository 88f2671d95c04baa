"""Splits a shell command line into simple commands and their words.

Part of interpretation (step 6). One pass of one pattern, so the time is linear in the text. Words
keep their quotes. The reading is that of POSIX shells, and lenient: a line of fish or PowerShell,
or one that was cut off, still gives words. tree-sitter-bash reads real lines alike, in twice the
time, and does not come to an end of a line of 50,000 pipes: docs/decisions/0010-command-lines.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

READ_CHARS = 2000
"""Only the beginning of a command line is read, here-documents not counted."""
_DOCUMENT_CHARS = 64_000
_DOCUMENT = re.compile(
    r"([\"']?\$\(cat\s*)?(?<!<)<<-?\s*([\"']?)([A-Za-z_]\w*)\2([^\n]*)"
    r"(?:\n.*?(?:\n[ \t]*\3(?=[ \t]*(?:\n|\)|$))(?(1)\s*\)[\"']?)|\Z)|\Z)",
    re.DOTALL,
)
TOKEN = re.compile(
    r"""
    (?P<skip>\\\n|[ \t\r\f\v]+)
    |(?P<streams>\d?>&(?:\d|-)|&>>?|\d?>\|)
    |(?P<sign>&&|\|\||\|&|;;|[;|&\n])
    |(?P<into>\$\(|<\(|>\()
    |(?P<open>\()
    |(?P<close>\))
    |(?P<comment>(?<![^\s;|&(])\#[^\n]*)
    |(?P<text>'[^']*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)|\\.?|\$\{[^}\n]*\}?
        |[^\s'"`\\;|&()\#$<>]+|[$<>\#])
    """,
    re.DOTALL | re.VERBOSE,
)
_GLUED = re.compile(r"[\w./:-]*[A-Za-z./]\Z")
"""A word that ends where a redirection begins, without a blank between: `make>log`."""
_SIGNS = {"\n": ";", ";;": ";", "|&": "|"}


class Simple(NamedTuple):
    """A simple command: the sign before it (`|`, `&&`, `||`, `;`, `&` or none), and its words."""

    sign: str
    words: list[str]


def split(command: str) -> list[Simple]:
    """Return the simple commands of a command line in order; any text gives an answer."""
    return _Splitter().read(without_documents(command[:_DOCUMENT_CHARS])[:READ_CHARS])


def without_documents(command: str) -> str:
    """Leave out here-documents: their lines are data. What is behind them is run."""
    if "<<" not in command:
        return command
    return _DOCUMENT.sub(lambda found: f"…{found[4]}" if found[1] else found[4], command)


def unquoted(word: str) -> str:
    """Return a word without the quotes around it."""
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        return word[1:-1]
    return word


class _Splitter:
    """State of one pass: the word being read, and how deep in `$(…)` or a bracket it is."""

    def __init__(self) -> None:
        self._found = [Simple("", [])]
        self._word = ""
        self._depth = 0

    def read(self, text: str) -> list[Simple]:
        for token in TOKEN.finditer(text):
            kind = token.lastgroup
            if self._depth:
                self._inside(kind, token.group())
            elif kind in {"skip", "streams"}:
                self._end_word()
                self._word = ">" if token.group()[-1] in ">|" else ""
                self._end_word()
            elif kind == "sign":
                self._end_word()
                self._found.append(Simple(_SIGNS.get(token.group(), token.group()), []))
            else:
                self._outside(kind, token.group())
        self._end_word()
        return [simple for simple in self._found if simple.words]

    def _inside(self, kind: str | None, text: str) -> None:
        self._depth += {"into": 1, "open": 1, "close": -1}.get(kind or "", 0)
        self._word += text

    def _outside(self, kind: str | None, text: str) -> None:
        """Take what belongs to a word, or stands between words: a subshell's bracket, a comment."""
        if kind == "into" or (kind == "open" and self._word):
            self._depth = 1
        elif kind in {"open", "close"} or (kind == "comment" and not self._word):
            self._end_word()
            return
        if text == ">" and _GLUED.match(self._word):
            self._end_word()
        self._word += text

    def _end_word(self) -> None:
        if self._word:
            self._found[-1].words.append(self._word)
            self._word = ""
