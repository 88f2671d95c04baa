"""What a search found: which files, how many matches, and its words as a person says them.

Part of interpretation (step 6). Clients answer with lists of files, with lines `path:12:text`, with
counts, or with the lines of the one file that was searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from observer.events import Search
from observer.interpret.outcome import plain
from observer.interpret.told import Where
from observer.interpret.wording import base_name, counted, distinct, listed, one_line, relative

FILES = 20
"""Most files of one search that are named."""
_LINES = 2000
_NONE = re.compile(
    r"(?i)(?:no|0) (?:\w+ )?(?:files?|match(?:es)?|results?)(?: (?:were )?found)?\b|nothing found"
)
_COUNTED = re.compile(r"(?i)found (\d+) |^\(?results? (?:are|is) truncated|^\[?showing ")
_AT_LINE = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\n]{1,400}?)(?P<sign>[:-])(?P<line>\d+)(?P=sign)")
_COUNT = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\n]{1,400}):\d+$")
_OF_ONE = re.compile(r"\d+(?P<sign>[:-])")
_PATH = re.compile(r"[^\s:<>|\"{}][^:<>|\"{}]{0,400}$")
_HAS_NAME = re.compile(r"\.\w{1,10}$|/")
_FOREIGN = re.compile(r"(?:^|/)(?:node_modules|site-packages|\.venv|venv|vendor|\.git)/")
_PARTS = re.compile(r"(?<!\\)\|")
_WILD = re.compile(r"\.\?|(?:\.|\\[sSwWdD])(?:[*+]|\{\d+(?:,\d*)?\})\??|\[\^?[^\]]{1,40}\][*+]\??")
_SIGNS = re.compile(r"\\[bBAzZ]|(?<!\\)(?:\(\?(?:[a-z]+\)|[:!=<]{1,2})|[\^$()])")
_ESCAPED = re.compile(r"\\(.)")


class Found(NamedTuple):
    """What came back: `files` that were found or looked at, and how much of what.

    `amount` is None where nobody tells; `lines` are the first that say something.
    """

    files: tuple[str, ...] = ()
    amount: int | None = None
    noun: str = "match"
    lines: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The amount in words, and in how many files: ``"5 matches in 2 files"``."""
        if self.amount is None:
            return ""
        noun = "matche" if self.noun == "match" and self.amount != 1 else self.noun
        amount = counted(self.amount, noun) if self.amount else "nothing found"
        is_spread = self.noun == "match" and len(self.files) > 1
        return f"{amount} in {counted(len(self.files), 'file')}" if is_spread else amount


def found(search: Search, where: Where) -> Found:
    """Read the answer of a search."""
    text = plain(search.output)
    if where.root:
        text = text.replace(f"{where.root}/", "")
    lines = [line for line in text.split("\n")[:_LINES] if line.strip()]
    looked = (search.path,) if _HAS_NAME.search(base_name(search.path)) else ()
    if search.where in ("web", "memory"):
        return Found(lines=tuple(lines[:8]))
    if lines and _NONE.match(lines[0].strip()):
        return Found(files=_shown(looked, where), amount=0)
    told = [line for line in lines if not _COUNTED.search(line)]
    hits = list(_hits(told, is_of_one=bool(looked)))
    matches = [hit.line for hit in hits if hit.is_match]
    paths = [hit.path for hit in hits if hit.path]
    if not hits:
        return Found(files=_shown(looked, where), lines=tuple(lines[:8]))
    return Found(
        files=_shown(paths or looked, where),
        amount=len(matches) or len(set(paths)),
        noun="match" if matches else "file",
        lines=tuple(matches[:8]),
    )


class _Hit(NamedTuple):
    """A line of an answer: the file that it names, and whether it shows a match."""

    line: str
    path: str = ""
    is_match: bool = False


def _hits(lines: list[str], *, is_of_one: bool) -> Iterator[_Hit]:
    """Yield the lines that name a file or stand in one; others say something else."""
    for line in lines:
        if is_of_one and (single := _OF_ONE.match(line)):
            yield _Hit(line, is_match=single["sign"] == ":")
        elif at := _AT_LINE.match(line):
            yield _Hit(line, at["path"], is_match=at["sign"] == ":")
        elif count := _COUNT.match(line):
            yield _Hit(line, count["path"])  # its number may be of a line, or of matches
        elif _PATH.match(line.strip()) and _HAS_NAME.search(line.strip()):
            yield _Hit(line, line.strip())


def _shown(paths: list[str] | tuple[str, ...], where: Where) -> tuple[str, ...]:
    """Return the first files as the project names them, its own before those of packages."""
    named = [relative(path, where.root, where.cwd) for path in dict.fromkeys(paths)]
    own = [path for path in named if not _FOREIGN.search(path)]
    return distinct(own or named, FILES)


def in_words(search: Search) -> str:
    """Return what was looked for without the signs of a pattern: ``"total or sum"``."""
    if search.where != "code":
        return search.query
    parts = [_plain(part) for part in _PARTS.split(search.query)]
    words = [part for part in distinct(parts, 12) if part]
    if not words:
        return search.query
    return one_line(listed(words, 6).replace(" and ", " or ") if words[1:] else words[0], 200)


def _plain(pattern: str) -> str:
    bare = _SIGNS.sub("", _WILD.sub(" … ", pattern))
    return " ".join(_ESCAPED.sub(r"\1", bare).split()).strip(" …") or pattern
