"""JSON as clients write it: what a strict parser refuses of it, and nobody meant.

Floor 0, since both payloads of hooks and lines of MCP are such JSON.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def mended(data: bytes) -> bytes:
    """Return JSON without a byte order mark, and U+FFFD for what is no character.

    These are bytes that are not UTF-8, and halves of surrogate pairs, as a client writes them that
    cut a string in the middle of an emoji.
    """
    data = data.decode("utf-8-sig", "replace").encode()
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)
