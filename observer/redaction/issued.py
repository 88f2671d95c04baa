"""Secrets recognised by what issuers, protocols and programs write: rules that are data.

Part of step 4 (redaction). Formats of tokens are in `tokens.toml`, what a header, an address, a
command line or a call gives away in `contexts.toml`. A pattern spends few characters on a harmless
place, and the search goes on behind its first one: hostile text costs linear time and cannot hide a
secret behind a false start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from observer.core.patterns import lazy_pattern
from observer.redaction import shapes
from observer.redaction.patterns import Patterns, table
from observer.redaction.shapes import Ordinary, Span

_IS = Patterns("issued")

# --- tokens --------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A format of tokens: a row of `tokens.toml`, which says what the fields mean."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


_LITERAL = re.compile(r"(?:(?:\\\W|[\w/!-])(?![?*+{]))*")
_BEGINS, _REST = r"\g<0>(?<![A-Za-z0-9]\g<0>)", "[A-Za-z0-9]*+"
_DRAWN = r"(?P<issued>[A-Za-z0-9_-]{16,}(?:\.(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{2,})*)"


def _tokens(
    rows: Iterable[dict[str, Any]], prefixes: dict[str, str], *, of_words: bool
) -> Iterator[Token]:
    """Yield the formats of what is drawn behind prefixes, and of rows.

    One `of_words` takes the rest of the word with it. What is literal comes first in a pattern: the
    engine finds that before it tries anything.
    """
    for name, listed in prefixes.items():
        drawn = [(prefix, re.escape(prefix) + _DRAWN) for prefix in listed.split()]
        rows = [{"class": name, "anchors": [of], "pattern": form} for of, form in drawn] + [*rows]
    for row in rows:
        pattern = row["pattern"]
        if of_words:
            pattern = _LITERAL.sub(_BEGINS, pattern, count=1) + _REST
        yield Token(row["class"], tuple(row.get("anchors", ())), lazy_pattern(pattern))


_READ = table("tokens.toml")
TOKENS = (
    *_tokens(_READ["anywhere"], _READ["prefixes"]["anywhere"], of_words=False),
    *_tokens(_READ["words"], _READ["prefixes"]["words"], of_words=True),
)
BASE64_TOKENS = tuple(_tokens(_READ["split"], {}, of_words=True))
_ANCHORS = [(anchor, token) for token in TOKENS for anchor in token.anchors]
_OF_ANY_RUN = [token for anchor, token in _ANCHORS if anchor == " "]
_SHAPES = [token for token in TOKENS if not token.anchors]
_SPLIT_ANCHORS = [(anchor, token) for token in BASE64_TOKENS for anchor in token.anchors]

_RUN_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS = bytes(97 if code in _RUN_CHARACTERS else 32 for code in range(256))
_WIDE = bytes(97 if code in _RUN_CHARACTERS + b"+/=:$!" else 32 for code in range(256))
_LONG, _LONGER = b"a" * 20, b"a" * 36
_ORDINARY = Ordinary()
"""Runs in which no token stands but, perhaps, those that any run may begin."""
_WORDS = b"abcdefghijklmnopqrstuvwxyz_-."
"""Runs of these characters alone are never tokens."""


def token_secrets(text: str, runs: str) -> Iterator[Span]:
    """Yield the tokens in a text, by format and then by position; spans may overlap.

    All but those of `BASE64_TOKENS` contain one of its `runs`, as `long_runs`, which are few.
    """
    for token in _present(text, runs):
        for match in token.pattern.finditer(text):
            digest = _IS.in_digest.search(text, max(0, match.start() - 90), match.start())
            is_called_so = not token.anchors and shapes.is_called(text, *match.span())
            if not (digest or is_called_so or "EXAMPLE" in match[0]) and _is_issued(match):
                yield Span(match.start(), match.end(), token.name)


def _is_issued(match: re.Match[str]) -> bool:
    """Return True for what looks drawn."""
    groups = match.groupdict("")
    if drawn := groups.get("issued"):
        return (
            shapes.is_random(drawn, at_least=16)
            or shapes.is_drawn_letters(drawn)
            or shapes.is_unspoken(drawn)
            or bool(_IS.piece.search(drawn))
        )
    if drawn := groups.get("drawn"):
        return shapes.is_random(drawn, at_least=16)
    return groups.get("secret") != ""


def _present(text: str, runs: str) -> dict[Token, None]:
    """Return the tokens that may stand in a text, in the order of the tables."""
    found = dict.fromkeys(_OF_ANY_RUN) if runs else {}
    if new := [run for run in runs.split() if run not in _ORDINARY]:
        runs = f" {' '.join(new)}"
        found = dict.fromkeys(token for anchor, token in _ANCHORS if anchor in runs)
        found |= dict.fromkeys(token for token in _SHAPES if token.pattern.search(runs))
        if len(found) == len(_OF_ANY_RUN):
            _ORDINARY.keep(new)
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


# --- contexts ------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A row of `contexts.toml`, which says what the fields mean."""

    name: str
    accept: str
    pattern: re.Pattern[str]
    tail: re.Pattern[str]
    program: re.Pattern[str]


def _before(match: re.Match[str], most: int = 200) -> str:
    return match.string[max(0, match.start() - most) : match.start()]


def _holds_session(match: re.Match[str]) -> bool:
    """Return True if one of the cookies in this line is more than a setting or an example."""
    line = match.string[match.start("secret") : match.start("secret") + 1024].splitlines()[0]
    values = [value for value in _IS.pair.findall(line) if not shapes.is_placeholder(value)]
    return any(len(value) >= 16 or shapes.is_random(value, at_least=8) for value in values)


def _is_accepted(how: str, match: re.Match[str]) -> bool:
    """Return True if a match is what a row of `contexts.toml` is for, by its `accept`."""
    if how == "holds_session":
        return _holds_session(match)
    value = match["secret"]
    return bool(_ACCEPT[how](match, value)) and not shapes.is_placeholder(value)


_ACCEPT: dict[str, Callable[[re.Match[str], str], object]] = {
    "is_literal": lambda _match, _value: True,
    "is_generated": lambda _match, value: shapes.is_random(value, at_least=16),
    "is_address": lambda match, value: (
        _IS.address.search(_before(match)) and shapes.is_random(value, at_least=16)
    ),
    "is_credential": lambda _match, value: (
        len(value) >= 24 or (len(value) >= 6 and _IS.mixed.search(value))
    ),
    "is_made": lambda _match, value: shapes.is_typed(value) or shapes.is_strong(value),
    "is_login": lambda _match, value: "[" not in value,
    "is_for_curl": lambda match, _value: "curl" in _before(match, 400),
    "is_for": lambda _match, value: not _IS.ports.fullmatch(value),
    "is_in_sql": lambda match, _value: _IS.account.search(_before(match).rpartition(";")[2]),
    "is_piped_in": lambda match, _value: _IS.reads_secret.search(match["reader"]),
    "has_line": lambda match, _value: _IS.sets.search(_before(match, 12)),
}
"""What must be so of a match and its value, which is no placeholder."""
_BY_ANCHOR: dict[str, list[_Row]] = {}
for _row in table("contexts.toml")["rows"]:
    _patterns = (lazy_pattern(_row.get(part, "")) for part in ("pattern", "tail", "program"))
    _made = _Row(_row["class"], _row["accept"], *_patterns)
    for _anchor in _row["anchor"].split("|"):
        _BY_ANCHOR.setdefault(_anchor, []).append(_made)
ANCHORS = tuple(_BY_ANCHOR)


def context_secrets(text: str, low: str, gates: Collection[str]) -> Iterator[Span]:
    """Yield the secrets that their context gives away, by anchor and then by position.

    `low` is the text in lower case, at equal offsets; `gates` are the `ANCHORS` in it.
    """
    for anchor in filter(gates.__contains__, _BY_ANCHOR):
        at = low.find(anchor)
        while at >= 0:
            end = at + 1
            for row in _BY_ANCHOR[anchor]:
                match = row.pattern.match(text, at)
                if match is None or not _is_accepted(row.accept, match):
                    continue
                if row.program.search(_IS.command_end.split(_before(match))[-1]):
                    stop = match.end("secret")
                    tail = row.tail.match(text, stop)
                    span = Span(match.start("secret"), tail.end() if tail else stop, row.name)
                    end = max(end, span.end)
                    yield span
            at = low.find(anchor, end)


# --- private keys --------------------------------------------------------------------------------


def key_file_secrets(text: str, low: str, runs: str) -> Iterator[Span]:
    """Yield the keys in a text; `low` is it in lower case, `runs` are its `long_runs`."""
    for match in _IS.web_key.finditer(text if "kty" in low else ""):
        if shapes.is_random(match["secret"]):
            yield Span(*match.span("secret"), "private-key")
    if "private" in low:
        yield from _pem_blocks(text)
    if runs:
        yield from _key_lines(text)


def _pem_blocks(text: str) -> Iterator[Span]:
    """Yield private keys with headers; a block without an end reaches as far as its lines."""
    for match in _IS.pem.finditer(text):
        end = match.end()
        if match["foot"] is None:
            lines = _IS.pem_lines.match(text, match.start("body"), end)
            end = lines.end() if lines else match.start("body")
        if _IS.pem_data.search(text, match.start("body"), end):
            yield Span(match.start(), end, "private-key")


_LINES = {"\n": "lines", "\\n": "escaped_lines"}
"""Ends of lines, and the pattern of lines of a key's length and letters."""
_PUBLIC = ("CERT", "PUBLIC", "SIGNATURE", "MESSAGE", "PARAMETERS", "CRL", "PKCS7")


def _key_lines(text: str) -> Iterator[Span]:
    """Yield lines of a key's length and letters, whatever is left of the block around them."""
    for end, name in _LINES.items():
        for match in getattr(_IS, name).finditer(end + text) if end in text else ():
            start = match.start("lines") - len(end)
            head = text[max(0, start - 8192) : start].rpartition("-----BEGIN ")[2]
            is_public = any(map(head[:24].__contains__, _PUBLIC))
            is_public = is_public or not _IS.no_hex.search(match["lines"])  # digests, numbers
            if not is_public and any(map(shapes.is_random, match["lines"].split(end))):
                yield Span(start, match.end() - len(end), "private-key")
    if "PRIVATE KEY" in text and "-----END" in text:
        for match in _IS.foot.finditer(text):
            yield Span(*match.span(), "private-key")
