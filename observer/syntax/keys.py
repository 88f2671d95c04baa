"""The keys of a YAML text, by its lines: its grammar can be made to crash the process.

A key inside a list, or inside a block of text, names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEY = re.compile(r"(?P<quote>['\"]?)([^\s'\"#:{\[&*!|>%@`-][^:#'\"]{0,99})(?P=quote):(?=\s|$)")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")


def named(lines: Sequence[str]) -> dict[int, str]:
    """Return the number of each line that begins with a key, from 0, and the key."""
    found = {}
    hidden = -1
    for number, line in enumerate(lines):
        code = line.strip()
        if not code or code.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if 0 <= hidden < indent:
            continue
        is_item = code.startswith("- ") or code == "-"
        hidden = indent if is_item or _BLOCK.search(code) else -1
        match = None if is_item else _KEY.match(code)
        if match:
            found[number] = match[2].strip()
    return found
