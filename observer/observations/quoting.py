"""Text that a person or a model wrote to be read, cut after a paragraph and never reworded."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"\s*(?:```|~~~)")
_FIRST_HEADING = re.compile(r"^#{1,6} \S.*$", re.MULTILINE)
_NO_PROSE = ("#", "|", "```", "~~~", "---")
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

    One that ends with a colon is joined to what it announces; where that is a heading or a block,
    the paragraph says nothing, and the next one is taken.
    """
    announced = ""
    for paragraph in _paragraphs(text):
        if paragraph.lstrip("> ").startswith(_NO_PROSE):
            announced = ""
        elif paragraph.rstrip("*_").endswith(":"):
            announced = paragraph
        else:
            return "\n".join(filter(None, (announced, paragraph)))
    return ""


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
