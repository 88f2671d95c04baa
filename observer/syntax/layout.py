"""What code says however it is laid out: its tokens, without what a formatter decides.

Text in quotes stays as it is. Of a language where indentation has a meaning, the breaks between
lines stay too, unless they are inside brackets. The time is linear in the text.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<text>\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>[\w$]+)|(?P<line>\n[ \t]*)|(?P<space>\s+)|(?P<sign>.)""",
    re.DOTALL,
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_SEPARATORS = frozenset(",;")


def tokens(code: str, *, is_indented: bool) -> tuple[str, ...]:
    """Return the tokens of some code that a formatter leaves alone."""
    found: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(code):
        token, kind = match[0], match.lastgroup
        if kind == "space" or (kind == "line" and (depth or not is_indented)):
            continue
        if kind == "sign" and token in _CLOSING:
            depth = max(depth - 1, 0)
            if found and found[-1] in _SEPARATORS:  # the last of several
                found.pop()
        elif kind == "sign" and token in _OPENING:
            depth += 1
        elif kind == "text" and token[0] == "'" and '"' not in token:
            token = f'"{token[1:-1]}"'
        found.append(token)
    return tuple(found)
