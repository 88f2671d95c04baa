"""Private keys: their blocks, what is left of such blocks, and JSON web keys.

Part of step 4 (redaction). A pattern spends a bounded number of characters where no key follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_random

_LINE_END = r"(?:\r?\n|\\r\\n|\\n)"
_WEB_KEY = lazy(
    r"[\"'](?:d|p|q|dp|dq|qi|k)\\{0,3}[\"']\s{0,4}:\s{0,4}\\{0,3}[\"'](?P<secret>[\w-]{40,1024})"
)
"""A part of a JSON web key that is not public."""


def key_file_secrets(text: str, low: str, runs: str) -> Iterator[Span]:
    """Yield the keys in a text; `low` is the text in lower case, at equal offsets.

    `runs` are its `long_runs`.
    """
    for match in _WEB_KEY.finditer(text if "kty" in low else ""):
        if is_random(match["secret"]):
            yield Span(*match.span("secret"), "private-key")
    if "private" in low:
        yield from _pem_blocks(text)
    if runs:
        yield from _key_lines(text)


_PEM = lazy(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>[^-]*+(?:-(?!----(?:BEGIN|END))[^-]*+)*+)"
    r"(?P<foot>-----END [A-Z0-9 ]{0,60}-----)?"
)
_PEM_LINES = lazy(r"[A-Za-z0-9+/=\s\\\"':,.>|+→-]*")
_PEM_DATA = lazy(r"[A-Za-z0-9+/=]{20}")


def _pem_blocks(text: str) -> Iterator[Span]:
    """Yield private keys, headers included; a block without an end reaches as far as its lines.

    A header that no key follows is source code that mentions one.
    """
    for match in _PEM.finditer(text):
        end = match.end()
        if match["foot"] is None:
            lines = _PEM_LINES.match(text, match.start("body"), end)
            end = lines.end() if lines else match.start("body")
        if _PEM_DATA.search(text, match.start("body"), end):
            yield Span(match.start(), end, "private-key")


_BEFORE = r"[ \t>|+\"',]{0,12}(?:\d{1,6}[ \t:\u2192|-]{1,4})?"
_KEY_LINE = r"[A-Za-z0-9+/]{60,76}[\"',]{0,2}"
_LINES = {
    end: lazy(
        rf"{begin}{_BEFORE}(?P<lines>{_KEY_LINE}(?:{begin}{_BEFORE}{_KEY_LINE}){{2,200}}"
        rf"(?:{begin}{_BEFORE}[A-Za-z0-9+/]{{1,76}}={{0,2}}(?=\W|\Z))?)"
    )
    for end, begin in (("\n", r"\n"), ("\r\n", r"\r\n"), ("\\n", r"\\n"))
}
_FOOT = lazy(
    rf"(?<![A-Za-z0-9+/=])(?:{_BEFORE}[A-Za-z0-9+/]{{4,76}}={{0,2}}[\"',]{{0,2}}{_LINE_END}){{1,200}}"
    r"[^\n-]{0,12}-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
)
_PUBLIC = ("CERT", "PUBLIC", "SIGNATURE", "MESSAGE", "PARAMETERS", "CRL", "PKCS7")


def _key_lines(text: str) -> Iterator[Span]:
    """Yield lines of a key's length and letters, whatever is left of the block around them."""
    for end, lines in _LINES.items():
        for match in lines.finditer(end + text if end in text else ""):
            start = match.start("lines") - len(end)
            head = text[max(0, start - 8192) : start].rpartition("-----BEGIN ")[2]
            if not head.startswith(_PUBLIC) and any(map(is_random, match["lines"].split(end))):
                yield Span(start, match.end() - len(end), "private-key")
    if "PRIVATE KEY" in text and "-----END" in text:
        for match in _FOOT.finditer(text):
            yield Span(*match.span(), "private-key")
