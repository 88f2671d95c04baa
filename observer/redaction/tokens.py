"""Secrets recognized by their own form: where the tokens of issuers stand in a text.

Part of step 4 (redaction). The formats are data, in `tokens.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_drawn_letters, is_random, is_unspoken


class _Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `tokens.toml`, which says what the fields mean."""

    name: str = msgspec.field(name="class")
    pattern: str
    anchors: tuple[str, ...] = ()


class _Prefixes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    anywhere: dict[str, str]
    words: dict[str, str]


class _Formats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    anywhere: tuple[_Format, ...]
    words: tuple[_Format, ...]
    split: tuple[_Format, ...]
    prefixes: _Prefixes


class TokenFormat(NamedTuple):
    """A format of tokens, ready to be searched for."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _compiled(formats: Iterable[_Format]) -> tuple[TokenFormat, ...]:
    return tuple(TokenFormat(each.name, each.anchors, lazy(each.pattern)) for each in formats)


_LITERAL = re.compile(r"(?:(?:\\\W|[\w/!-])(?![?*+{]))*")


def _words(formats: Iterable[_Format]) -> Iterator[_Format]:
    """Yield formats that count where a word begins, and take the rest of it with them.

    What is literal comes first in a pattern: the engine finds that before it tries anything.
    """
    for each in formats:
        begins = r"\g<0>(?<![A-Za-z0-9]\g<0>)"
        pattern = _LITERAL.sub(begins, each.pattern, count=1) + "[A-Za-z0-9]*+"
        yield msgspec.structs.replace(each, pattern=pattern)


_DRAWN = r"(?P<issued>[A-Za-z0-9_-]{16,}(?:\.(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{2,})*)"


def _prefixed(prefixes: dict[str, str]) -> Iterator[_Format]:
    """Yield the format of what is drawn behind each prefix of each class."""
    for name, listed in prefixes.items():
        for prefix in listed.split():
            yield _Format(name, re.escape(prefix) + _DRAWN, (prefix,))


_READ = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("tokens.toml").read_text(encoding="utf-8")), _Formats
)
TOKEN_FORMATS = _compiled(
    (
        *_prefixed(_READ.prefixes.anywhere),
        *_READ.anywhere,
        *_words((*_prefixed(_READ.prefixes.words), *_READ.words)),
    )
)
BASE64_FORMATS = _compiled(_words(_READ.split))
_ANCHORS = [(anchor, token) for token in TOKEN_FORMATS for anchor in token.anchors]
_SHAPES = [token for token in TOKEN_FORMATS if not token.anchors]
_SPLIT_ANCHORS = [(anchor, token) for token in BASE64_FORMATS for anchor in token.anchors]

_RUN_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS = bytes(97 if code in _RUN_CHARACTERS else 32 for code in range(256))
_WIDE = bytes(97 if code in _RUN_CHARACTERS + b"+/=:$!" else 32 for code in range(256))
_LONG, _LONGER = b"a" * 20, b"a" * 36
_WORDS = b"abcdefghijklmnopqrstuvwxyz_-."
"""Runs of these characters alone are never tokens."""


def token_secrets(text: str, runs: str) -> Iterator[Span]:
    """Yield the tokens in a text, by format and then by position; spans may overlap.

    `runs` are its `long_runs`.

    All but those of `BASE64_FORMATS` contain a run of 20 word characters. Most text has few such
    runs, and finding them is one search for a constant; only the runs are searched for anchors.
    """
    for token in _present(text, runs):
        for match in token.pattern.finditer(text):
            digest = _IN_DIGEST.search(text, max(0, match.start() - 90), match.start())
            if not digest and _is_issued(match):
                yield Span(match.start(), match.end(), token.name)


def _is_issued(match: re.Match[str]) -> bool:
    """Return True for what looks drawn."""
    groups = match.groupdict("")
    if drawn := groups.get("issued"):
        return (
            is_random(drawn, at_least=16)
            or is_drawn_letters(drawn)
            or is_unspoken(drawn)
            or bool(_PIECE.search(drawn))
        )
    if drawn := groups.get("drawn"):
        return is_random(drawn, at_least=16)
    return groups.get("secret") != ""


_IN_DIGEST = lazy(r"(?:sha\d{0,3}|SHA\d{3})[=:-][\w+/-]{0,80}\Z")
_PIECE = lazy(r"(?=[A-Za-z]*\d[A-Za-z])[A-Za-z0-9]{7,}")
"""What no name is made of."""


def _present(text: str, runs: str) -> dict[TokenFormat, None]:
    """Return the tokens that may stand in a text, in the order of the tables."""
    found: dict[TokenFormat, None] = {}
    if runs:
        found = dict.fromkeys(token for anchor, token in _ANCHORS if anchor in runs)
        found |= dict.fromkeys(token for token in _SHAPES if token.pattern.search(runs))
    wide = long_runs(text, _WIDE, _LONGER)
    return found | dict.fromkeys(token for anchor, token in _SPLIT_ANCHORS if anchor in wide)


def long_runs(text: str, shapes: bytes = _RUNS, least: bytes = _LONG) -> str:
    """Return the runs of 20 word characters and more in a text, but for mere words."""
    if len(text) < len(least):
        return ""
    data = text.encode("utf-8", "surrogatepass")
    shape = data.translate(shapes) + b" "
    found = []
    end = 0
    while (start := shape.find(least, end)) >= 0:
        end = shape.index(b" ", start)
        run = data[start:end]
        if run.strip(_WORDS):  # rulers and the names of source code are the commonest runs
            found.append(run)
    # As text: `in` on bytes costs five times as much, and it is asked for every anchor.
    return (b" " + b" ".join(found)).decode("ascii") if found else ""
