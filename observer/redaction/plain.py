"""The plain reading of a text: what a person or program makes of its escapes and encodings.

Part of step 4 (redaction). Rules look at it beside the text itself, and what they find is given
back as places of the text. Colours and characters without width are left out, escapes of JSON,
URLs, HTML and quoted-printable are resolved, strings that are joined are one, and base64 that
turns into text is that text.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span

_ESCAPES = lazy(
    r"(?P<gone>(?:\x1b|\\+(?:x1[bB]|033|e|u001[bB]))(?:\[[0-9;:?]{0,24}[A-Za-z]|\][^\x07\x1b]{0,256}\x07)"
    r"|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+"
    r"|(?<=[^\n]{70})=\r?\n"
    r"|(?P<join>[\"'])[ \t]{0,8}(?:(?:\+|\.\.?|\|\||\\)[ \t]{0,8}(?:\r?\n[ \t]{0,40})?"
    r"|\r?\n[ \t]{1,40}(?:\+[ \t]{0,8})?)(?P=join))"
    r"|\\+(?:u00|x)(?P<code>[2-7][0-9A-Fa-f])"
    r"|\\+(?P<sign>[\"'`/])"
    r"|\\+(?P<blank>[nrt])"
    r"|(?:%|=(?=[0-9A-F]{2}))(?P<hex>[2-7][0-9A-Fa-f]|0[AaDd])"
    r"|(?P<entity>&(?:#\d{2,4}|#x[0-9A-Fa-f]{2,4}|quot|apos|amp|lt|gt|nbsp|colon|equals);)"
    r"|(?<![A-Za-z0-9+/_-])(?P<base64>[A-Za-f][A-Za-z0-9+/_-]{23,16384}={0,2})"
)
_GATES = (
    ("\x1b", "\x1b"),
    ("\\", r"\\+(?:u00[0-7]|x[1-7]|[\"'/]|033|e\[)"),
    ("%", r"%(?:[2-7][0-9A-Fa-f]|0[AaDd])"),
    ("&", r"&(?:#|quot|apos|amp|lt|gt|nbsp|colon|equals)"),
    ("=3D", "=3D"),
    ("=\n", r"[^\n]{70}=\n"),
    ('" +', r'"[ \t]*\+\s*"'),
    ("' +", r"'[ \t]*\+\s*'"),
    ('"\n', r'"\n[ \t]+(?:\+ *)?"'),
    ("'\n", r"'\n[ \t]+(?:\+ *)?'"),
)
_SEARCHES = tuple((sign, lazy(pattern)) for sign, pattern in _GATES)
_UNSEEN = lazy("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CONTROLS = lazy(r"[^\t\n\r -~\u00a0-\uffff]")


class Reading(NamedTuple):
    """A plain reading, and where each of its pieces came from.

    A piece is as in the text, or stands for all of its text.
    """

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


def is_escaped(text: str, *, has_runs: bool) -> bool:
    """Return True if a text may read otherwise; most text does not, and this is quickly seen."""
    if has_runs or (not text.isascii() and _UNSEEN.search(text)):
        return True
    return any(sign in text and found.search(text) for sign, found in _SEARCHES)


def plain_reading(text: str) -> Reading | None:
    """Return the plain reading of a text; None if it reads as it stands."""
    parts: list[str] = []
    starts: list[int] = []
    sources: list[tuple[int, int, bool]] = []
    at = length = 0
    for found in _ESCAPES.finditer(text):
        start, end = found.span()
        resolved = _resolved(found)
        if resolved is None:
            continue
        if start > at:
            parts.append(text[at:start])
            starts.append(length)
            sources.append((at, start, False))
            length += start - at
        if resolved:
            parts.append(resolved)
            starts.append(length)
            sources.append((start, end, True))
            length += len(resolved)
        at = end
    if not at:
        return None
    parts.append(text[at:])
    starts.append(length)
    sources.append((at, len(text), False))
    return Reading("".join(parts), starts, sources)


def _resolved(found: re.Match[str]) -> str | None:
    """Return what an escape stands for, None if it is none."""
    kind = found.lastgroup
    value = found[kind] if kind else ""
    match kind:
        case "code" | "hex":
            return chr(int(value, 16))
        case "sign":
            return value
        case "blank":
            return "\t" if value == "t" else "\n"
        case "entity":
            return html.unescape(value)
        case "base64":
            return _decoded(value)
        case _:
            return ""


def _decoded(run: str) -> str | None:
    """Return the text that base64 holds, None if it holds none."""
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run + "=" * (-len(run) % 4))
        decoded = data.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if _CONTROLS.search(decoded) else decoded
