"""Finds a text in bytes, however it was written down: plain, or escaped for JSON any times over."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from observer.core.errors import BadInput

SHORTEST = 3
"""Characters of the shortest text that may be looked for: fewer stand everywhere."""

_BLANKS = (
    rb"(?:[\s\x1c-\x1f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f"
    rb"|\xe3\x80\x80|\\+[nrtfv]|\\+u(?:000[9a-dA-D]|001[c-fC-F]|0020|0085|00[aA]0|1680"
    rb"|20[0-2][0-9a-fA-F]|205[fF]|3000))+"
)
"""What `str.split` takes for blanks, in UTF-8 and escaped."""
_ESCAPED_TOO = {
    '"': rb"\\*\"", "\\": rb"\\+", "/": rb"\\*/", "\b": rb"(?:\x08|\\+b|\\+u0008)"
}  # fmt: skip


def finder(texts: Iterable[str]) -> re.Pattern[bytes] | None:
    """Return what finds any of the texts in bytes; None for none.

    Blanks fit any blanks, so that a text over several lines is found where it was joined to one.

    Raises:
        BadInput: a text is too short to be distinctive.
    """
    forms: dict[bytes, object] = {}
    for text in texts:
        if len(text.strip()) < SHORTEST:
            raise BadInput(
                f"{text!r} is too short to be looked for", hint=f"give {SHORTEST} characters"
            )
        composed = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
        forms |= dict.fromkeys(map(_form, (text, *composed)))
    return re.compile(b"|".join(forms)) if forms else None


def _form(text: str) -> bytes:
    return _BLANKS.join(b"".join(map(_character, word)) for word in text.split())


def _character(one: str) -> bytes:
    if one in _ESCAPED_TOO:
        return _ESCAPED_TOO[one]
    if one.isascii() and one.isalnum():
        return one.encode()
    plain = re.escape(one.encode("utf-8", "surrogatepass"))
    units = one.encode("utf-16-be", "surrogatepass").hex()
    escaped = b"".join(rb"\\+u" + _any_case(units[at : at + 4]) for at in range(0, len(units), 4))
    return rb"(?:%b|%b)" % (plain, escaped)


def _any_case(digits: str) -> bytes:
    return "".join(
        f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits
    ).encode()
