"""The plain reading of a text: what a person or program makes of its escapes and encodings.

Part of step 4 (redaction). Rules look at it beside the text itself, and what they find is given
back as places of the text. Only the surroundings of escapes and encodings are read again.
"""

from __future__ import annotations

import base64
import html
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from observer.redaction.patterns import Patterns
from observer.redaction.shapes import Span

_IS = Patterns("plain")

_HEX = bytes(
    48 if chr(code) in string.hexdigits else 32 if code in b" :" else 97 for code in range(256)
)
_PAIRS = b" ".join([b"00"] * 8)
"""How eight pairs of hexadecimal digits look in `_HEX`."""
_AROUND = 240
"""Characters around an escape that are read again with it."""


def _backslashed(escape: str) -> str:
    """Return what an escape of JSON, C or JavaScript stands for; a colour for nothing."""
    body = escape.lstrip("\\")
    if len(body) == 1:
        return body
    if body[0] in "01" and len(body) == _OCTAL:
        return chr(int(body, 8))
    digits = body.lstrip("ux{").rstrip("}")
    if len(digits) > _MOST_DIGITS or "[" in digits:
        return ""
    return _IS.unseen.sub("", chr(int(digits, 16)))


_OCTAL, _MOST_DIGITS = 3, 4


_KINDS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("\x1b", "colour", lambda _: ""),
    ("\\", "backslash", _backslashed),
    ("\\", "continued", lambda escape: escape[1:].strip("\n")),
    ("%", "percent", lambda escape: chr(int(escape[-2:], 16))),
    ("&", "entity", html.unescape),
    ("=3D", "printable", lambda escape: chr(int(escape[-2:], 16))),
    ("=20", "space", lambda _: " "),
    ("=\n", "soft_break", lambda _: ""),
    ('"', "joints_double", lambda _: ""),
    ("'", "joints_single", lambda _: ""),
)
"""What stands in a text with such an escape, its pattern, and what it stands for."""


class Reading(NamedTuple):
    """A plain reading, and where its pieces came from, each as it is there or for all of it."""

    text: str
    starts: list[int]
    sources: list[tuple[int, int, bool]]

    def located(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Yield spans of the reading as spans of the text."""
        for span in spans:
            yield Span(self._place(span.start)[0], self._place(span.end - 1)[1], span.name)

    def _place(self, at: int) -> tuple[int, int]:
        number = bisect_right(self.starts, at) - 1
        start, end, is_whole = self.sources[number]
        if is_whole:
            return start, end
        start += at - self.starts[number]
        return start, start + 1


def plain_reading(text: str, low: str, runs: str) -> Reading | None:
    """Return the plain reading of what surrounds the escapes of a text; None if it has none.

    `low` is the text in lower case, `runs` are its `long_runs`.
    """
    escapes = list(_escapes(text, low, runs))
    if not escapes:
        return None
    parts: list[str] = []
    starts: list[int] = []
    sources: list[tuple[int, int, bool]] = []
    length = at = 0

    def add(part: str, start: int, end: int, *, is_whole: bool) -> None:
        nonlocal length
        if part:
            parts.append(part)
            starts.append(length)
            sources.append((start, end, is_whole))
            length += len(part)

    for start, end, resolved in sorted(escapes):
        if start < at:
            continue
        if start - at > 2 * _AROUND:
            add(text[at : at + _AROUND], at, at + _AROUND, is_whole=False)
            add("\n\n\n", at, at, is_whole=True)
            blank = _IS.blank.search(text, start - _AROUND, start)
            at = blank.start() if blank else start - _AROUND
        add(text[at:start], at, start, is_whole=False)
        add(resolved, start, end, is_whole=True)
        at = end
    add(text[at : at + _AROUND], at, at + _AROUND, is_whole=False)
    return Reading("".join(parts), starts, sources)


def _escapes(text: str, low: str, runs: str) -> Iterator[tuple[int, int, str]]:
    """Yield where escapes stand in a text, and what they stand for."""
    for sign, name, resolve in _KINDS:
        if sign in text:
            for found in getattr(_IS, name).finditer(text):
                yield *found.span(), resolve(found[0])
    for found in _IS.unseen.finditer("" if text.isascii() else text):
        yield *found.span(), ""
    has_pairs = _PAIRS in text.encode("ascii", "replace").translate(_HEX)
    for found in _IS.pairs.finditer(text if has_pairs else ""):
        yield *found.span(), bytes.fromhex(found[0].replace(":", " ")).decode("ascii")
    calls = text if any(map(low.__contains__, ("chr(", "char(", "charcode("))) else ""
    for found in (*_IS.codes.finditer(text), *_IS.chr.finditer(calls)):
        first = _IS.first.search(text, max(0, found.start() - 4), found.start())
        start = first.start() if first else found.start()
        codes = _IS.code.findall(text[start : found.end()])
        yield start, found.end(), "".join(chr(int(code, 0)) for code in codes)
    at = 0
    for run in runs.split():
        at = text.find(run, at)
        yield from _encoded(text, run, at)
        at += len(run)


def _encoded(text: str, run: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield the text that a run of hexadecimal digits, of base32 or of base64 holds."""
    if found := _IS.hex_text.fullmatch(run):
        yield at + found.start(1), at + len(run), bytes.fromhex(found[1]).decode("ascii")
    elif (found := _IS.base32.match(text, at)) and found[1] == run:
        whole = run[: -1 if len(run) % 8 in {1, 3, 6} else None]
        decoded = _text(base64.b32decode(whole + "=" * (-len(whole) % 8)))
        yield from ((*found.span(), text) for text in [decoded] if text)
    elif (found := _IS.base64.match(text, at)) and (decoded := text_in_base64(found[0])):
        yield *found.span(), decoded


def text_in_base64(run: str) -> str:
    """Return the text that base64 holds, "" if it holds none."""
    if not _IS.text_in_base64.fullmatch(run):
        return ""
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    run = run[: -1 if len(run) % 4 == 1 else None]
    return _text(base64.b64decode(run + "=" * (-len(run) % 4)))


def _text(data: bytes) -> str:
    """Return the text that bytes are, "" if they are none."""
    is_wide = data[1:12:2] == bytes(6)
    try:
        decoded = data.decode("utf-16-le" if is_wide else "utf-8").replace("\0", ":")
    except UnicodeDecodeError:
        return ""
    return "" if _IS.controls.search(decoded) else decoded
