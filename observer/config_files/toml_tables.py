"""The tables of a text in TOML: read, and taken out line by line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

_LF = "\n"
_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)


def load(text: str) -> dict[str, Any]:
    """Return the tables of a text.

    Raises:
        ValueError: it is not TOML, or nested beyond the interpreter's limit.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("not valid TOML: nested too deep") from error


def without(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> str:
    """Return a text without tables, of which `is_wanted` sees what their header alone makes.

    A blank line goes with each; comments behind it belong to what follows.
    """
    for start, end in reversed(list(_tables(text, is_wanted))):
        above, below = text[:start], text[end:]
        if above.endswith(_LF) and (not below or below.startswith(_LF) or above.endswith("\n\n")):
            above = above[:-1]  # the line feed that was put before it
        text = above + below
    return text


def _tables(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of tables."""
    headers = [found for found in _HEADER.finditer(text) if _header(found[0])]
    ends = [*(found.start() for found in headers[1:]), len(text)]
    for found, end in zip(headers, ends, strict=True):
        if is_wanted(_header(found[0])):
            lines = text[found.start() : end].split(_LF)
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            yield found.start(), min(found.start() + len(_LF.join(lines)) + 1, end)


def _header(line: str) -> dict[str, Any]:
    """Return what a line with the name of a table makes; nothing for any other line."""
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return {}
