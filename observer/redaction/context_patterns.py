"""Secrets recognized by their context: headers, URLs, command lines.

Part of step 4 (redaction). A pattern spends a bounded number of characters on a place that turns
out to be harmless, and the search goes on behind its first character: hostile text costs linear
time and cannot hide a secret behind a false start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.redaction.command_secrets import COMMAND_PATTERNS
from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_placeholder, is_random
from observer.redaction.spans import (
    NO_TAIL,
    WEBHOOK_PATTERNS,
    ContextPattern,
    is_generated,
    is_literal,
)

_MIXED = lazy(r"\d|[a-z][A-Z]|[+/=]")


def _is_credential(match: re.Match[str]) -> bool:
    value = match["secret"]
    is_typical = len(value) >= 24 or (len(value) >= 6 and _MIXED.search(value) is not None)
    return is_typical and not is_placeholder(value)


_PAIR = lazy(r"[\w!#$%&*+.^|~-]{1,128}=([^\s;\"'`\\]{4,256})")


def _holds_session(match: re.Match[str]) -> bool:
    """Return True if one of the cookies in this line is more than a setting or an example."""
    line = match.string[match.start("secret") : match.start("secret") + 1024].splitlines()[0]
    values = [value for value in _PAIR.findall(line) if not is_placeholder(value)]
    return any(len(value) >= 16 or is_random(value, at_least=8) for value in values)


def _is_login(match: re.Match[str]) -> bool:
    return is_literal(match) and "[" not in match["secret"]


_WORD = lazy(r"[^\s\"'`\\<>,;]*")
CONTEXT_PATTERNS = (
    ContextPattern(
        "authorization",
        "authorization",
        lazy(
            r"(?i:authorization)\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|[:=,])[ \t]{0,8}"
            r"\\{0,3}[\"'`]?[ \t]{0,8}(?i:bearer|basic|token|negotiate|ntlm|apikey)[ \t]{1,8}"
            r"(?P<secret>[^\s\"'`\\<>,;]{1,256})"
        ),
        _is_credential,
        _WORD,
    ),
    ContextPattern(
        "authorization",
        "authorization",
        lazy(
            r"(?i:authorization)\\{0,3}[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}[\"'`]?[ \t]{0,8}"
            r"(?i:digest|aws4-hmac-sha256|hawk|oauth)[ \t]{1,8}(?P<secret>[A-Za-z_-]{1,32}=)"
        ),
        is_literal,
        lazy(r"(?:[^\r\n\"'`\\]|(?<==)\"[^\"\r\n]{0,512}\")*"),
    ),
    ContextPattern(
        "authorization",
        "authorization",
        lazy(
            r"(?i:authorization)(?<![a-z]authorization)(?<![a-z]Authorization)"
            r"\\{0,3}[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}[\"'`]?"
            r"(?P<secret>[^\s\"'`\\<>,;(){}$]{16,256})"
        ),
        is_generated,
        _WORD,
    ),
    ContextPattern(
        "authorization",
        "bearer",
        lazy(r"(?i:bearer)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,256})"),
        is_generated,
        lazy(r"[A-Za-z0-9._~+/=-]*"),
    ),
    ContextPattern(
        "cookie",
        "cookie",
        lazy(
            r"(?i:cookie)\\{0,3}[\"'`]?(?:[ \t]{0,8}:[ \t]{0,8}|(?<=--cookie)[ =])"
            r"\\{0,3}[\"'`]?[ \t]{0,8}(?P<secret>[\w!#$%&*+.^|~-]{1,128}=[^\s;\"'`\\]{4,256})"
        ),
        _holds_session,
        lazy(r"[^\s;\"'`\\]*(?:;[ \t]{0,4}[^\s;\"'`\\]+)*"),
    ),
    ContextPattern(
        "url-credentials",
        "://",
        lazy(
            r"://[^\s/?#@:\"'<>`\\]{0,256}:(?P<secret>[^\s/\"'<>`\\]{1,256}(?=@)"
            r"|(?!\d{1,5}[/?#])(?:[^\s/\"'<>`\\]|/(?!/)){1,256}?(?=@))"
        ),
        _is_login,
        NO_TAIL,
    ),
    ContextPattern(
        "url-credentials",
        "://",
        lazy(r"://(?P<secret>[^\s/?#@:\"'<>`\\]{20,512})(?=@)"),
        is_generated,
        NO_TAIL,
    ),
    *(
        ContextPattern(
            "signature",
            f"{name}=",
            lazy(
                rf"(?i:{name})=(?i:(?<=[?&;-]{name}=)|(?<=u0026{name}=))"
                r"(?P<secret>[A-Za-z0-9%+/=_~-]{16,1024})"
            ),
            is_generated,
            NO_TAIL,
        )
        for name in ("signature", "sig")
    ),
    *WEBHOOK_PATTERNS,
    *COMMAND_PATTERNS,
)


_BY_ANCHOR = {
    anchor: tuple(each for each in CONTEXT_PATTERNS if each.anchor == anchor)
    for anchor in dict.fromkeys(each.anchor for each in CONTEXT_PATTERNS)
}
_SHARED = ("pass", "auth", "hook", "sig")
_GATES: dict[str, list[str]] = {}
"""Anchors by a shared part: most text has none of these, so one search rules out a group."""
for _anchor in _BY_ANCHOR:
    _GATES.setdefault(next((part for part in _SHARED if part in _anchor), _anchor), []).append(
        _anchor
    )


def context_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the secrets that their context gives away, by anchor and then by position.

    `low` is the text in lower case, at equal offsets.
    """
    gates = filter(low.__contains__, _GATES)
    for anchor in filter(low.__contains__, (anchor for gate in gates for anchor in _GATES[gate])):
        group = _BY_ANCHOR[anchor]
        at = low.find(anchor)
        while at >= 0:
            end = at + 1
            for each in group:
                if span := _span_at(each, text, at):
                    end = max(end, span.end)
                    yield span
            at = low.find(anchor, end)


def _span_at(each: ContextPattern, text: str, at: int) -> Span | None:
    match = each.pattern.match(text, at)
    if match is None or not each.accept(match):
        return None
    start, end = match.span("secret")
    tail = each.tail.match(text, end)
    return Span(start, tail.end() if tail else end, each.name)
