"""Where a value that is given to a name ends, and whether the two have a line of their own.

Part of step 4 (redaction). A text may itself be inside a JSON string, where a line ends with a
backslash and an n.
"""

from __future__ import annotations

import re

QUOTES = ('"', "'", "`")

_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\r\n]|\\.)*+", re.DOTALL) for quote in QUOTES}
_ESCAPED = {
    quote: re.compile(rf"[^{quote}\\\r\n]*+(?:\\++(?!{quote})[^{quote}\\\r\n]*+)*+")
    for quote in QUOTES
}
_BARE_LIMIT = 256
_BARE = re.compile(r"[^\s\"'`,;&|<>\\]{1,256}")
_BARE_WITH_COMMAS = re.compile(r"[^\s\"'`;&|<>\\]{1,256}")
_MORE = re.compile(r"[^\s\"'`;&|<>\\]*")
_REST_OF_LINE = re.compile(
    r"""(?:(?!&&|\|\||\\[nrt])["'`,;&|<>\\](?=[^)\]}])(?![\w.-]{1,64}[=:])"""
    r"""[^\s"'`,;&|<>\\]{1,256}+){1,16}+"""
)
"""What a file has behind a sign that ends words elsewhere, unless another setting follows it."""
_LINE = r"(?:\A|[\r\n]|\\n|\w\.\w{1,10}:|[:-]\d{1,7}[:-]|\d[\t→])"
"""Where a line begins, in a file or in what `grep` and `cat -n` show of one."""
_UNINDENTED = re.compile(rf"{_LINE}[+-]?\Z")
_BEGINNING = re.compile(
    rf"{_LINE}(?:[ \t+-]|\\t)*(?:export[ \t]+)?(?:[\w-]+\.){{0,8}}\Z",
)
_END = re.compile(r"[ \t]{0,8}(?:[\r\n#]|\\{1,3}[nr]|\Z)")


def quote_end(text: str, start: int, *, quote: str) -> int:
    """Return where a string ends that such a quote began; an escaped quote ends at its like."""
    styles = _ESCAPED if len(quote) > 1 else _QUOTED
    inside = styles[quote[-1]].match(text, start)
    return inside.end() if inside else start


def bare_end(text: str, start: int, *, with_commas: bool) -> int:
    """Return where a word ends: at the next delimiter."""
    bare = (_BARE_WITH_COMMAS if with_commas else _BARE).match(text, start)
    return start + len(bare[0].rstrip(".,:)]}")) if bare else start


def whole_end(text: str, start: int, *, end: int, has_line: bool) -> int:
    """Return where a bare value really ends: no sign but a blank ends it on a line of its own."""
    if end - start == _BARE_LIMIT and (more := _MORE.match(text, end)):
        end = more.end()
    rest = _REST_OF_LINE.match(text, end) if has_line else None
    return rest.end() if rest else end


def begins_line(before: str) -> bool:
    """Tell whether a name behind this text begins a line, in a file of settings or its diff."""
    return _BEGINNING.search(before) is not None


def is_unindented(before: str) -> bool:
    """Tell whether a name behind this text is the first of its line, but for a diff's sign."""
    return _UNINDENTED.search(before) is not None


def ends_line(text: str, at: int) -> bool:
    """Tell whether nothing but a comment follows in the line."""
    return _END.match(text, at) is not None
