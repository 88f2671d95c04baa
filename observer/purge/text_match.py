"""Finds a text in bytes, however it was written down: plain, or escaped for JSON any times over.

And where in an event it stands, but for the name of the branch that the event happened on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from observer.core.errors import BadInput
from observer.store.purging import StoredEvent

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


_AROUND = ("id", "id", "client", "folder", "branch", "commit")
_WHOLE = ("its record",)


def places(text: re.Pattern[bytes], stored: StoredEvent) -> tuple[str, ...]:
    """Return in which fields an event holds a text; none where it does not.

    A text that is the name of the branch it happened on is not looked for there: it says what the
    event is about as little as the time does.
    """
    if not text.search(stored.held):
        return ()
    try:
        event = orjson.loads(stored.data)
    except orjson.JSONDecodeError:
        return _WHOLE
    around = stored.held[len(stored.data) + 1 :].split(b"\n")
    if not isinstance(event, dict) or len(around) != len(_AROUND):
        return _WHOLE
    if text.fullmatch(around[4]):
        around[4] = b""
        event.pop("branch", None)
    body = event.pop("body", {})
    said = {**event, **body} if isinstance(body, dict) else event
    found = [name for name, value in said.items() if any(map(text.search, _texts(value)))]
    found += [name for name, value in zip(_AROUND, around, strict=True) if text.search(value)]
    is_held = found or text.search(orjson.dumps(said)) or text.search(b"\n".join(around))
    return tuple(dict.fromkeys(found)) or (_WHOLE if is_held else ())


def _texts(value: Any) -> Iterator[bytes]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from (*_texts(name), *_texts(each))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
