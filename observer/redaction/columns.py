"""Secrets in columns: tables of Markdown and of terminals, separated values, lists of SQL.

Part of step 4 (redaction). A column is known by its heading; its cells are secrets if they look
drawn or made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import SecretName
from observer.redaction.secrets import Span
from observer.redaction.values import looks_secret

_FRAME = " \"'`*\r"
_CELL = r"[\"'`* ]{0,4}[\w. -]{1,40}[\"'`* ]{0,4}"
_SEPARATORS = ("|", "\u2502", "\t", ";", ",", "  ")
_NAME = r"[\w.-]{1,40}(?: [\w.-]{1,40}){0,2}"
_HEADERS = {
    sign: lazy(rf" *[|\u2502]?{_CELL}(?:{re.escape(sign)}{_CELL})+[|\u2502]?\s*")
    for sign in _SEPARATORS[:5]
} | {"  ": lazy(rf" {{0,40}}{_NAME}(?: {{2,40}}{_NAME})+\s*")}
_RULER = lazy(r"\s*[|:+=\u2500-\u257f-][\s|:+=\u2500-\u257f-]*")
_GAP = lazy(r" {2,}")
_AFTER = lazy(r"[\"'`*]{0,2}[A-Za-z0-9_. -]{0,24}[\"'`*]{0,2}[ \t]*(?:[|\u2502\t;,)]|  |\r?\n|\Z)")
_VALUES = lazy(r"[^()]{0,400}\)\s{0,8}(?i:values)\s{0,8}(?=\()")
_ITEM = lazy(r"\s*(?:'(?:[^'\n]|'')*'|\"[^\"\n]*\"|[^,()]+)\s*")
_LONGEST = 400
"""Characters of the longest heading that is read."""
_VAIN = 8
"""Rows without a digit after which a column is believed to hold no secret."""


def column(text: str, found: re.Match[str], word: SecretName) -> Iterator[Span]:
    """Yield what stands in the column that a secret's name heads, if it heads one."""
    if word.is_weak or not _AFTER.match(text, found.end()):
        return
    if listed := _VALUES.match(text, found.end()):
        yield from _listed(text, found, listed.end(), word)
        return
    start = text.rfind("\n", 0, found.start()) + 1
    head, end = _line(text, start)
    if len(head) > _LONGEST:
        return
    sign = next((each for each in _SEPARATORS if each in head.strip()), "")
    if sign and _HEADERS[sign].fullmatch(head):
        number = len(_split(head[: found.start() - start], sign)) - 1
        for at, cell in _cells(text, end, sign=sign, width=len(_split(head, sign)), number=number):
            if looks_secret(cell, word):
                yield Span(at, at + len(cell), word.name)


def _cells(text: str, end: int, *, sign: str, width: int, number: int) -> Iterator[tuple[int, str]]:
    """Yield the filled cells of a column below a heading's end, and where each starts."""
    vain = 0
    while end < len(text) and vain < _VAIN:
        start = end + 1
        row, end = _line(text, start)
        if _RULER.fullmatch(row):
            continue
        cells = _split(row, sign)
        if len(cells) != width:
            return
        offset, cell = cells[number]
        value = cell.strip(_FRAME)
        vain += not any(map(str.isdigit, value))
        if value and " " not in value:
            yield start + offset + cell.index(value), value


def _split(row: str, sign: str) -> list[tuple[int, str]]:
    """Return the cells of a row, and where each starts."""
    if sign != "  ":
        cells, at = [], 0
        for cell in row.split(sign):
            cells.append((at, cell))
            at += len(cell) + 1
        return cells
    lead = len(row) - len(row.lstrip())
    ends = [found.span() for found in _GAP.finditer(row.rstrip() if row.strip() else row, lead)]
    starts = [lead, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(row)]
    return [(start, row[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def _line(text: str, start: int) -> tuple[str, int]:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return text[start:end], end


def _listed(text: str, found: re.Match[str], at: int, word: SecretName) -> Iterator[Span]:
    """Yield the items that stand at the name's place in the lists that follow `VALUES`."""
    opened = text.rfind("(", max(0, found.start() - 400), found.start())
    number = text.count(",", opened, found.start())
    while text.startswith("(", at):
        index = 0
        while item := _ITEM.match(text, at + 1):
            value = item[0].strip(" \"'\n\t")
            if index == number and looks_secret(value, word):
                begin = item.start() + item[0].index(value)
                yield Span(begin, begin + len(value), word.name)
            at = item.end()
            if not text.startswith(",", at):
                break
            index += 1
        more = _NEXT.match(text, at)
        at = more.end() if more else len(text)


_NEXT = lazy(r"\)\s*,\s*")
