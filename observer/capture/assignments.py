"""Secrets told by the name that they are given: `PASSWORD=…`, `"api_key": "…"`, `--token …`.

Part of step 4 (redaction). The same names stand all over source code (`password = get_password()`,
`token: str`), so a value must look like one: a quoted string that is no prose and no placeholder,
or a bare word in a place where no expression can stand, or one with a digit or symbol in it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from observer.capture.secrets import MARKER, Span, is_placeholder, is_random

_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"


class _Word(NamedTuple):
    """A word that names secrets. `pattern` tells, in lower case, where it does; `gate` is in it."""

    gate: str
    name: str
    pattern: re.Pattern[str]
    is_password: bool = False


def _after(word: str, *owners: str) -> str:
    """Return a pattern for the word behind any of the owners, however the two are joined."""
    return "|".join(f"(?<={owner}{word})|(?<={owner}[_-]{word})" for owner in owners)


_OWNERS_OF_KEYS = (
    *("api", "access", "private", "account", "auth", "encryption", "signing", "signature"),
    *("master", "shared", "service", "license", "app", "admin", "deploy", "storage", "session"),
    *("jwt", "hmac", "webhook", "client", "consumer", "functions", "subscription", "cipher"),
)
_OWNERS_OF_PASS = ("user", "db", "root", "admin", "keystore", "smtp", "ftp")

# Each pattern begins with its gate, a literal that the engine finds before it tries anything.
_WORDS = (
    _Word(
        "pass",
        "password",
        re.compile(rf"pass(?:(?=w|phrase|code)|(?<=[_-]pass)|{_after('pass', *_OWNERS_OF_PASS)})"),
        is_password=True,
    ),
    _Word("pwd", "password", re.compile("pwd(?<!oldpwd)"), is_password=True),
    _Word("secret", "secret", re.compile("secret")),
    _Word("token", "token", re.compile("token")),
    _Word("key", "api-key", re.compile(f"key(?<=[a-z_-]key)(?:{_after('key', *_OWNERS_OF_KEYS)})")),
    _Word("credential", "credential", re.compile("credential")),
    _Word("_auth", "token", re.compile("_auth(?![a-z])")),
)

_HEAD = re.compile(
    r"""
    (?P<tail>[A-Za-z0-9_-]{0,40}+)
    (?:
      >(?=(?P<element>[^<>\s]{4,})</)
    | (?P<close>\\{0,3}["'`]?\]?)
      (?: [ \t]{0,4}:[ \t]{0,4}[A-Za-z_&][\w.\[\]|?&' ]{0,40}=[ \t]{0,4}(?=["'`])
        | (?P<assign>[ \t]{0,8}(?::=|=>|={1,3}|:)[ \t]{0,24})
        | ,?\s{0,24}["']?value["']?\s{0,4}:\s{0,4}
        | (?P<option>[ \t]{1,4})
      )
      (?P<prefix>[bBrRuU@$]{0,2}(?=\\{0,3}["'`]))?
      (?P<quote>\\{0,3}["'`])?
    )
    """,
    re.VERBOSE,
)
_QUOTED = {
    quote: re.compile(rf"(?:[^{quote}\\\r\n]|\\.)*+", re.DOTALL) for quote in ('"', "'", "`")
}
_ESCAPED = {
    quote: re.compile(rf"[^{quote}\\\r\n]*+(?:\\++(?!{quote})[^{quote}\\\r\n]*+)*+")
    for quote in ('"', "'", "`")
}
_BARE_LIMIT = 256
_BARE = re.compile(r"[^\s\"'`,;&|<>\\]{1,256}")
_BARE_WITH_COMMAS = re.compile(r"[^\s\"'`;&|<>\\]{1,256}")
_MORE = re.compile(r"[^\s\"'`;&|<>\\]*")


class _Key(NamedTuple):
    """A secret-named key that is given a value, and how; `lead` is the character before it."""

    word: _Word
    text: str
    tail: str
    lead: str
    is_spaced: bool
    is_quoted: bool

    @property
    def is_option(self) -> bool:
        """Whether it is a command-line option."""
        return self.text.startswith("--")

    @property
    def is_environment(self) -> bool:
        """Whether no expression can stand behind it: a shell variable, an option, a URL's query."""
        return not self.is_spaced and (self.text.isupper() or self.is_option or self.lead in "?&")


def assignments(text: str, low: str) -> Iterator[Span]:
    """Yield the values of secret-named keys; `low` is the text in lower case, at equal offsets."""
    for word in _WORDS:
        if word.gate not in low:
            continue
        at = 0
        while found := word.pattern.search(low, at):
            at = found.end()
            if span := _value_span(text, found, word):
                at = max(at, span.end)
                yield span


def _value_span(text: str, found: re.Match[str], word: _Word) -> Span | None:
    head = _HEAD.match(text, found.end())
    if head is None:
        return None
    key = _key(text, found, word=word, head=head)
    if head["option"] and not key.is_option:
        return None
    start, end = _bounds(text, head, key)
    if not _is_secret(key, MARKER.sub("", text[start:end])):
        return None
    if not key.is_quoted and end - start == _BARE_LIMIT:
        more = _MORE.match(text, end)
        end = more.end() if more else end
    return Span(start, end, _class(key))


def _key(text: str, found: re.Match[str], *, word: _Word, head: re.Match[str]) -> _Key:
    before = text[max(0, found.start() - 48) : found.start()]
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :]
    start = found.start() - len(name)
    assign = head["assign"]
    return _Key(
        word=word,
        text=name + text[found.start() : head.end("tail")],
        tail=head["tail"].lower(),
        lead=text[start - 1] if start else "\n",
        is_spaced=assign is None or assign != assign.strip(),
        is_quoted=bool(head["quote"] or head["element"]),
    )


def _bounds(text: str, head: re.Match[str], key: _Key) -> tuple[int, int]:
    """Return where the value starts and ends: inside its quotes, or up to the next delimiter."""
    if head["element"]:
        return head.span("element")
    start = head.end()
    if quote := head["quote"]:
        styles = _ESCAPED if len(quote) > 1 else _QUOTED
        inside = styles[quote[-1]].match(text, start)
        return start, inside.end() if inside else start
    bare = (_BARE_WITH_COMMAS if key.is_environment else _BARE).match(text, start)
    if bare is None:
        return start, start
    return start, start + len(bare[0].rstrip(".,:)]}"))


# --- whether a value is one ----------------------------------------------------------------------

_KNOWN_TAIL = re.compile(
    r"(?:w(?:or)?d|wort|phrase|code)?"
    r"(?:[_-]?(?:access[_-]?)?(?:key|token|secret|value|text|string|base|hash|pass|password))?"
    r"(?:[_-]?(?:base64|b64|dev|development|prod|production|staging|stage|test|live|old|new|main))?"
    r"[_-]?\d{0,3}[_-]?",
)
_NAMES_ITSELF = re.compile(r"[A-Za-z_$][\w$]{0,64}(?:[-./:][A-Za-z_$][\w$-]{0,64}){0,8}", re.ASCII)
_SECRET_WORD = re.compile(r"passw|secret|token|key|credential|auth|pwd", re.IGNORECASE)
_NAME = r"[A-Za-z_$][\w$]{0,64}"
_STEP = rf"(?:\.|::|->|\?\.){_NAME}"
_CALL = re.compile(rf"{_NAME}(?:{_STEP}){{0,8}}[(\[{{]|[(\[{{&*!:]")
_ATTRIBUTE = re.compile(rf"{_NAME}(?:{_STEP}){{1,8}}")
_TYPE = re.compile(r"(?:\w{1,32}\.)?[A-Z]\w{0,24}?(?:Key|Token|Secret|Password|Credential)\w{0,12}")
_STRING_ENDED = re.compile(r"\s|[,)\]+;:.]+(?:\s|\Z)")
"""How text begins behind a quote that was not the first of a pair, as in `"token=" + x`."""
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:|https?:/)?[/\\][\w./\\ -]{0,256}")
_PLAIN = re.compile(r"[A-Za-z_]+[.!?]?|[\d.,_]+")


def _is_secret(key: _Key, value: str) -> bool:
    if len(value) < (4 if key.word.is_password else 8) or not _may_be(key, value):
        return False
    if is_placeholder(value) or _PATH.fullmatch(value):
        return False
    if key.is_quoted or key.is_environment:
        return _is_literal(key, value)
    return _is_bare_secret(key, value)


def _may_be(key: _Key, value: str) -> bool:
    """Rule out code: by the rest of the key, by how the value begins, by its being a name."""
    if key.tail and not _KNOWN_TAIL.fullmatch(key.tail):
        return is_random(value)
    if key.is_quoted:
        return not _STRING_ENDED.match(value)
    if key.is_environment:
        return True
    if _CALL.match(value) or _TYPE.fullmatch(value):
        return False
    return not _ATTRIBUTE.fullmatch(value) or is_random(value, at_least=16)


def _is_literal(key: _Key, value: str) -> bool:
    """Tell whether a whole string is a secret; passwords need less evidence than tokens."""
    if _is_prose(value) or _names_itself(value):
        return False
    if key.word.is_password:
        return True
    return len(value) >= 24 or not _PLAIN.fullmatch(value)


def _is_bare_secret(key: _Key, value: str) -> bool:
    """Tell whether an unquoted word is a secret rather than a name, a number or prose."""
    if key.word.is_password and key.lead == "\n" and not key.is_spaced:
        return _is_literal(key, value)
    if _PLAIN.fullmatch(value):
        return False
    if key.is_spaced and not key.word.is_password:
        return is_random(value)
    return _is_literal(key, value)


def _is_prose(value: str) -> bool:
    words = value.split()
    return len(words) > 1 and all(word.strip(string.punctuation).isalnum() for word in words)


def _names_itself(value: str) -> bool:
    """Tell whether a value is a name of something secret, such as `db-password` or `auth.token`."""
    if is_random(value, at_least=16):
        return False
    return bool(_NAMES_ITSELF.fullmatch(value) and _SECRET_WORD.search(value))


def _class(key: _Key) -> str:
    name = key.text.lower()
    return "aws-secret-key" if "aws" in name and "secret" in name else key.word.name
