"""Text that a person or a model wrote to be read, cut after a paragraph and never reworded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from observer.core.text import ENDS, WIDE_ENDS, one_line

_FENCE = re.compile(r"\s*(?:```|~~~)")
_FIRST_HEADING = re.compile(r"^#{1,6} \S.*$", re.MULTILINE)
_NO_PROSE = ("#", "|", "```", "~~~", "---")
_LISTED = ("- ", "* ", "\u2022", "**", *(f"{number}." for number in range(10)))
_NAMES = re.compile(
    r"`[^`\n]+`|[\"\u201c\u00ab\u300c][^\"\u201d\u00bb\u300d\n]{2,80}[\"\u201d\u00bb\u300d]"
    r"|[^\W\d]\w*[./_]\w|[^\W\d_][a-z][A-Z]|#\d"
)
_SENTENCE = re.compile(rf"(?<=[{ENDS}])(?<!\d\.)\s+|(?<=[{WIDE_ENDS}])|\n+")
_STOP = re.compile(rf"(?<=[{ENDS}])(?<!\d\.)\s|(?<=[{WIDE_ENDS}])|\s(?=(?:[-*\u2022]|\d+\.)\s)")
_FEW = 120
_LINES = 3
"""Lines kept of a code block or a table."""


def quoted(text: str, chars: int) -> str:
    """Return whole paragraphs, up to the one that reaches a length, of Markdown.

    Of code blocks and tables the first lines stay. It never ends after a colon, which announces
    what follows, unless nothing does. A paragraph longer than twice the length is cut at a line, or
    a word.
    """
    kept: list[str] = []
    size = 0
    for paragraph in _paragraphs(text):
        kept.append(_cut(paragraph, 2 * chars))
        size += len(paragraph)
        if size >= chars and not paragraph.rstrip("*_").endswith(":"):
            break
        if size >= 2 * chars:
            break
    return "\n\n".join(kept)


def opening(text: str) -> str:
    """Return the first paragraph that is neither heading, code nor table.

    A paragraph that ends with a colon is joined to what it announces; where that is a heading or a
    block, the next one is taken. One that only announces, and names nothing, is left out: before
    a colon, or of a few words before a list, a heading or a block.
    """
    announced = left_out = ""
    paragraphs = [*_paragraphs(text), ""]
    for paragraph, then in pairwise(paragraphs):
        lead, _, below = paragraph.partition("\n")
        if below and _only_announces(lead):
            paragraph = below  # noqa: PLW2901 - what is announced
        if paragraph.lstrip("> ").startswith(_NO_PROSE):
            announced = ""
        elif announces(paragraph):
            announced = "" if _only_announces(paragraph) else paragraph
        elif len(paragraph) < _FEW and then.startswith((*_NO_PROSE, *_LISTED)):
            if names(paragraph):
                return paragraph
            left_out = left_out or paragraph
        else:
            return "\n".join(filter(None, (announced, paragraph)))
    return left_out


def matter(text: str) -> str:
    """Return a reply from the first sentence on that names something or is long; "" if none is.

    What stands before that, and what is a heading, code or a table, says that all went well; a line
    that announces what follows says less than that does. Of a list all points are there.
    """
    lines = [one for one in text.split("\n") if not one.lstrip("> ").startswith(_NO_PROSE)]
    lines = [one for one in lines if one.startswith(_LISTED) or not announces(one)]
    first = next((at for at, line in enumerate(lines) if any(map(_says, _sentences(line)))), None)
    if first is None:
        return ""
    begin = first
    for at in range(first, -1, -1):
        if lines[at].lstrip().startswith(_LISTED):
            begin = at
        elif lines[at].strip() and not lines[at].startswith(" "):
            break
    said = [one for line in lines[begin:] for one in _sentences(line)]
    is_list = lines[begin].lstrip().startswith(_LISTED)
    return " ".join(said if is_list else said[[*map(_says, said)].index(True) :])


def line_of(text: str, chars: int) -> str:
    """Return text as one line, cut after a sentence or a point of a list; "" if none ends there.

    It is not cut behind what announces the next.
    """
    line = one_line(text, 10 * chars)
    if len(line) <= chars:
        return line
    shown = [line[: end.start()] for end in _STOP.finditer(line, 1, chars)]
    said = [one for one in shown if one[-1] != "\u2192" and not announces(one)]
    return f"{said[-1].removesuffix('.')}…" if said else ""


def _sentences(line: str) -> list[str]:
    return [one for one in _SENTENCE.split(line) if one.strip()]


def _says(sentence: str) -> bool:
    return names(sentence) or len(sentence) > _FEW


def names(text: str) -> bool:
    """Return True if a text names something: code, a file, a symbol, or what stands in quotes."""
    return _NAMES.search(text) is not None


def announces(text: str) -> bool:
    """Return True if a text ends with a colon, before what it is about."""
    return text.rstrip("*_ ").endswith(":")


def _only_announces(text: str) -> bool:
    """Return True if a text announces something and names nothing; a bold one is a heading."""
    return announces(text) and not text.startswith("**") and not names(text)


def finding(text: str) -> str:
    """Return the first paragraph of a report: of what stands below its first heading, if any.

    What stands before that announces it.
    """
    below = _FIRST_HEADING.search(text)
    return (below and opening(text[below.end() :])) or opening(text)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of Markdown; a code block is one."""
    lines: list[str] = []
    is_code = False
    for line in (*text.split("\n"), ""):
        if _FENCE.match(line):
            is_code = not is_code
        if line.strip() or is_code:
            lines.append(line.rstrip())
            continue
        if lines and any(map(str.isalnum, "".join(lines))):
            yield _shortened(lines)
        lines = []
    if lines:
        yield _shortened(lines)


def _shortened(lines: list[str]) -> str:
    is_block = _FENCE.match(lines[0]) or lines[0].lstrip().startswith("|")
    if is_block and len(lines) > _LINES + 1:
        end = [lines[-1]] if _FENCE.match(lines[0]) and _FENCE.match(lines[-1]) else []
        lines = [*lines[: _LINES + 1], "…", *end]
    return "\n".join(lines)


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    shown = text[: chars - 1]
    at = max(shown.rfind("\n"), shown.rfind(" "))
    return f"{shown[:at].rstrip()}…" if at > chars // 2 else f"{shown}…"
