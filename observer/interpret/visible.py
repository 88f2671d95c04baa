"""Which part of a command's output a command line lets through: `pytest | tail -5`.

Part of interpretation (step 6). Where the end is cut off, a summary that was seen need not be the
last one; where lines are chosen by a pattern, those that tell of failures may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from observer.interpret import commandline
from observer.interpret.commandline import Part
from observer.interpret.runners import name_of

_DEFAULT_LINES = 10
_WHOLE = frozenset({"cat", "tee", "less", "more", "nl", "ts"})
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "Select-String"})
_OPAQUE = frozenset(
    {"awk", "cut", "jq", "perl", "python", "python3", "sed", "sort", "tr", "uniq", "wc", "xxd"}
)
_BLANK = 2
"""Most blank lines at the end of an output: clients leave them out."""
_NUMBER = re.compile(r"-{1,2}(?:n|lines=?)?(\d{1,7})\Z")
_LOST = re.compile(r"(?:\d|&)?>{1,2}\s*(?!&)(?!/dev/(?:stdout|stderr))\S")
_PLAIN_WORDS = re.compile(r"\W*([\w ./:-]*)\W*\Z")
_ALTERNATIVES = re.compile(r"\\?\|")


class Visible(NamedTuple):
    """Which lines of an output are let through.

    Fewer than `lines` lines are all that there were. `end` and `start` say whether those are among
    them, `patterns` what must stand in a line, `is_lost` whether some went elsewhere.
    """

    lines: int | None = None
    start: bool = True
    end: bool = True
    patterns: tuple[str, ...] | None = None
    is_opaque: bool = False
    is_lost: bool = False

    def is_whole(self, text: str) -> bool:
        """Return True if nothing was left out of this text."""
        if self.is_opaque or self.is_lost or self.patterns is not None:
            return False
        if self.start and self.end:
            return True
        return self.lines is not None and text.rstrip().count("\n") + _BLANK < self.lines

    def shows_end(self, text: str) -> bool:
        """Return True if the last lines are in this text."""
        if self.is_opaque or self.patterns is not None:
            return False
        return self.end or self.is_whole(text)

    def lets_through(self, line: str) -> bool:
        """Return True if such a line is sure to be let through."""
        if self.is_opaque:
            return False
        return self.patterns is None or any(word in line for word in self.patterns)


@lru_cache(maxsize=2048)
def of(command: str) -> Visible:
    """Return which lines of an output a command line lets through; any text gives an answer."""
    parts = commandline.parts_of(command)
    heads = commandline.leading(parts)
    if not heads:
        return Visible()
    start = next(at for at, part in enumerate(parts) if part is heads[0])
    found = Visible(is_lost=_LOST.search(_unquoted(command)) is not None)
    for part in parts[start + 1 :]:
        if not any(part is head for head in heads):
            found = _through(part, found)
    return found


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", command)


def _through(part: Part, seen: Visible) -> Visible:
    """Return what is left behind one more command of a pipe, or one that shows a log."""
    program = name_of(part.words[0])
    if program in {"head", "tail"}:
        return _cut(part.words, seen, at_end=program == "head")
    if program in _SEARCHING:
        return _searched(part.words, seen)
    if program in _OPAQUE and part.sign == "|":
        return seen._replace(is_opaque=True)
    return seen


def _cut(words: Sequence[str], seen: Visible, *, at_end: bool) -> Visible:
    if any(word.startswith(("-n+", "+")) for word in words):
        return seen._replace(start=False)
    lines = _DEFAULT_LINES
    for word in words[1:]:
        if word.startswith(("-c", "--bytes")):
            return seen._replace(is_opaque=True)
        if (found := _NUMBER.match(word)) or (word.isdecimal() and len(word) < 8):
            lines = int(found.group(1) if found else word)
    least = lines if seen.lines is None else min(lines, seen.lines)
    return seen._replace(lines=least, start=seen.start and at_end, end=seen.end and not at_end)


def _searched(words: Sequence[str], seen: Visible) -> Visible:
    """Return what a search lets through; of its pattern only plain words are understood."""
    options = [word for word in words[1:] if word.startswith("-")]
    letters = "".join(word[1:] for word in options if not word.startswith("--"))
    if "v" in letters:
        return seen._replace(start=False)
    if set("coql") & set(letters):
        return seen._replace(patterns=())
    text = " ".join(word for word in words[1:] if not word.startswith("-"))
    cases = (str, str.lower, str.upper, str.capitalize) if "i" in letters else (str,)
    given = tuple(case(word) for word in _words_of(text) for case in cases)
    kept = given if seen.patterns is None else tuple(set(given) & set(seen.patterns))
    return seen._replace(patterns=kept)


def _words_of(pattern: str) -> Iterable[str]:
    for part in _ALTERNATIVES.split(pattern.strip("\"'()")):
        if (found := _PLAIN_WORDS.match(part)) and len(found.group(1)) > 2:
            yield found.group(1)
