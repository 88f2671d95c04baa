"""Passwords in tables: what stands below, or beside, a cell that says so.

Part of step 4 (redaction). Tables of Markdown and of databases' clients, and values separated by
commas, semicolons or tabs. A cell must look made up, as what a person tells in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.capture.secrets import Span
from observer.capture.spoken import made_up

_GATE = "passw"
_NAMED = re.compile(r"passw(?:or[dt]|d)", re.IGNORECASE)
_FRAME = " \"'`*\r"
_RULER = re.compile(r"\s*[|:+=-][\s|:+=-]*")
_NAME = r"\"?[\w.-]{1,40}\"?"
_HEADER = re.compile(rf"{_NAME}(?:(?:,{_NAME})+|(?:;{_NAME})+|(?:\t[\w. -]{{1,40}})+)\r?")
_SEPARATORS = "|\t;,"
_VAIN = 8
"""Rows without a password after which a column is believed to hold none."""


def columns(text: str, low: str) -> Iterator[Span]:
    """Yield the passwords in tables; `low` is the text in lower case, at equal offsets."""
    at = low.find(_GATE)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        head, end = _line(text, start)
        for span in _of_table(text, head, start):
            end = max(end, span.end)  # each row is part of one table
            yield span
        at = low.find(_GATE, end)


def _of_table(text: str, head: str, start: int) -> Iterator[Span]:
    """Yield the passwords below, or beside, the cells of a line that say so; most say nothing."""
    sign = next((each for each in _SEPARATORS if each in head), "")
    named = _named(head, sign) if sign else set()
    if not named or (sign != "|" and not _HEADER.fullmatch(head)):
        return
    if sign == "|":
        yield from _secrets(head, sign, {column + 1 for column in named}, start)
    vain, end = 0, start + len(head)
    while end < len(text) and vain < _VAIN:
        start = end + 1
        row, end = _line(text, start)
        if sign == "|" and _RULER.fullmatch(row):
            continue
        if row.count(sign) != head.count(sign):
            return
        found = list(_secrets(row, sign, named, start))
        vain = 0 if found else vain + 1
        yield from found


def _named(head: str, sign: str) -> set[int]:
    cells = head.split(sign)
    return {at for at, cell in enumerate(cells) if _NAMED.fullmatch(cell.strip(_FRAME))}


def _line(text: str, start: int) -> tuple[str, int]:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return text[start:end], end


def _secrets(row: str, sign: str, columns: set[int], start: int) -> Iterator[Span]:
    """Yield the cells of a row that stand in some columns, if they are passwords."""
    for column, cell in enumerate(row.split(sign)):
        bare = cell.strip(_FRAME) if column in columns else ""
        if bare and " " not in bare and (value := made_up(bare)):
            begin = start + cell.index(value)
            yield Span(begin, begin + len(value), "password")
        start += len(cell) + 1
