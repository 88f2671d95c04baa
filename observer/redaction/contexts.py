"""Secrets recognized by their context: headers, URLs, command lines, statements, calls.

Part of step 4 (redaction). The patterns are data, in `contexts.toml`. One spends a bounded number
of characters on a place that turns out to be harmless, and the search goes on behind its first
character: hostile text costs linear time and cannot hide a secret behind a false start.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_generated_whole, is_placeholder, is_random


class _Row(msgspec.Struct, forbid_unknown_fields=True, dict=True):
    """A row of `contexts.toml`, which says what the fields mean."""

    name: str = msgspec.field(name="class")
    anchor: str
    accept: str
    pattern: str
    tail: str = ""
    program: str = ""

    @cached_property
    def searched(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first needs it."""
        return re.compile(self.pattern)

    @cached_property
    def more(self) -> re.Pattern[str]:
        """The tail, compiled."""
        return re.compile(self.tail)


def _before(match: re.Match[str], most: int = 200) -> str:
    return match.string[max(0, match.start() - most) : match.start()]


def _is_literal(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


def _is_generated(match: re.Match[str]) -> bool:
    return is_random(match["secret"], at_least=16) and _is_literal(match)


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


_ADDRESS = lazy(r"://\S*\Z")
_PORTS = lazy(r"[\d.]*:[\d.:]+(?:/(?:tcp|udp))?")
_ACCOUNT = lazy(r"(?i:\b(?:create|alter)\s+(?:user|role|login)|\bset\s+password)\s")
_SETS = lazy(r"(?:\A|[\r\n]|\\n|(?i:config set )|--)\Z")
_COMMAND_END = lazy(r"(?<!\\)\r?\n|[;|&]")
_READS_SECRET = lazy(
    r"--password-stdin|--with-token|\bsudo [^|]{0,80}?-S|\bchpasswd|\bpasswd (?:--stdin|\w)"
    r"|\bsecrets? (?:set|put|create)\b|\bcryptsetup |\bkeyring set\b|\bpass insert\b"
)
_ACCEPT: dict[str, Callable[[re.Match[str]], bool]] = {
    "always": lambda _: True,
    "is_literal": _is_literal,
    "is_generated": _is_generated,
    "is_address": lambda match: bool(_ADDRESS.search(_before(match))) and _is_generated(match),
    "is_generated_whole": lambda match: is_generated_whole(match["secret"]),
    "is_credential": _is_credential,
    "holds_session": _holds_session,
    "is_login": lambda match: _is_literal(match) and "[" not in match["secret"],
    "is_for_curl": lambda match: "curl" in _before(match, 400) and _is_literal(match),
    "is_for": lambda match: _is_literal(match) and not _PORTS.fullmatch(match["secret"]),
    "is_in_sql": lambda match: (
        _is_literal(match) and bool(_ACCOUNT.search(_before(match).rpartition(";")[2]))
    ),
    "is_piped_in": lambda match: _is_literal(match) and bool(_READS_SECRET.search(match["reader"])),
    "has_line": lambda match: _is_literal(match) and bool(_SETS.search(_before(match, 12))),
}
CONTEXTS = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("contexts.toml").read_text(encoding="utf-8"))["rows"],
    tuple[_Row, ...],
)
_BY_ANCHOR: dict[str, list[_Row]] = {}
for _row in CONTEXTS:
    _BY_ANCHOR.setdefault(_row.anchor, []).append(_row)
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
        at = low.find(anchor)
        while at >= 0:
            end = at + 1
            for row in _BY_ANCHOR[anchor]:
                if span := _span_at(row, text, at):
                    end = max(end, span.end)
                    yield span
            at = low.find(anchor, end)


def _span_at(row: _Row, text: str, at: int) -> Span | None:
    match = row.searched.match(text, at)
    if match is None or not _ACCEPT[row.accept](match):
        return None
    if row.program and not re.search(row.program, _COMMAND_END.split(_before(match))[-1]):
        return None
    start, end = match.span("secret")
    tail = row.more.match(text, end)
    return Span(start, tail.end() if tail else end, row.name)
