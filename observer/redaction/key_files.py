"""Secrets recognized by the kind of file they are in: private keys, `.pgpass`, seed phrases.

Part of step 4 (redaction). Every pattern begins with something that only such a file has, and
spends a bounded number of characters where no key follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_placeholder, is_random


class _Form(NamedTuple):
    """A part of a file whose group `secret` is one; `gate` is in every text that holds it.

    Both are in lower case, as the text is that they are looked for in.
    """

    gate: str
    name: str
    pattern: re.Pattern[str]
    is_random_value: bool = False
    """Whether the secret must look machine-generated."""


def _pgpass(port: str) -> _Form:
    return _Form(
        port,
        "password",
        lazy(
            rf"{re.escape(port)}(?!\d{{1,9}}:)[^\s:/\"']{{1,64}}:[a-z_][^\s:/\"']{{0,63}}:"
            r"(?P<secret>(?!/[a-z./-]*(?:\s|\Z))[^\s:\"'\\]{3,256})(?=\s|\\n|\Z)"
        ),
    )


def _netrc(pattern: str, *, rest: str = "") -> _Form:
    return _Form(
        "login", "password", lazy(pattern + r"password\s{1,8}(?P<secret>\S{1,1024}+)" + rest)
    )


_LINE_END = r"(?:\r?\n|\\r\\n|\\n)"
_LOGIN = r"(?:login|account)\s{1,8}\S{1,256}\s{1,8}"
_FORMS = (
    _Form(
        "private-",
        "private-key",
        lazy(
            rf"private-lines: ?\d{{1,3}}{_LINE_END}"
            rf"(?P<secret>[a-z0-9+/=]{{16,76}}(?:{_LINE_END}[a-z0-9+/=]{{1,76}}(?![a-z:-])){{0,99}})"
        ),
    ),
    _Form(
        "kty",
        "private-key",
        lazy(
            r"[\"'](?:d|p|q|dp|dq|qi|k)\\{0,3}[\"']\s{0,4}:\s{0,4}\\{0,3}[\"']"
            r"(?P<secret>[\w-]{40,1024})"
        ),
        is_random_value=True,
    ),
    _pgpass(":5432:"),
    _pgpass(":*:"),
    _netrc(rf"machine[ \t]{{1,8}}\S{{1,256}}\s{{1,8}}(?:{_LOGIN}){{1,2}}"),
    _netrc(r"machine[ \t]{1,8}\S{1,256}\s{1,8}", rest=r"(?=\s{1,8}(?:login|account)\s)"),
    _netrc(rf"default[ \t]{{1,8}}{_LOGIN}"),
    *(
        _Form(
            name,
            "seed-phrase",
            lazy(
                rf"{name}(?:{owner})[\w ]{{0,16}}\\{{0,3}}[\"'`]?"
                r"\s{0,4}[:=]\s{0,4}\\{0,3}[\"'`]?"
                r"(?P<secret>(?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}[a-z]{3,8})"
                r"(?! ?[a-z.,;:!?])"
            ),
        )
        for name, owner in (
            ("mnemonic", ""),
            ("phrase", "(?<=seed.phrase)|(?<=recovery.phrase)"),
        )
    ),
)


def key_file_secrets(text: str, low: str, runs: str) -> Iterator[Span]:
    """Yield the keys in a text; `low` is the text in lower case, at equal offsets.

    `runs` are its `long_runs`.
    """
    for form in _FORMS:
        if form.gate in low:
            for match in form.pattern.finditer(low):
                value = text[slice(*match.span("secret"))]
                if not is_placeholder(value) and (is_random(value) or not form.is_random_value):
                    yield Span(*match.span("secret"), form.name)
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
