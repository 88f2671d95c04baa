"""Words that name secrets (`PASSWORD`, `api_key`, `token`), and secrets joined to such a word.

Part of step 4 (redaction). `named` judges the value that is given to such a name. Names of
branches and files may join a secret to its word as they join words (`fix/api-token-Zk9K…`,
`backup_password_hC8p….txt`), so the value must look random, or contain a long piece that does.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import (
    PHRASE,
    UUID,
    WORDS,
    Span,
    is_drawn_letters,
    is_placeholder,
    is_random,
)


class SecretName(NamedTuple):
    """A word that names secrets: `pattern` finds it in lower case, and begins with `gate`."""

    gate: str
    name: str
    pattern: re.Pattern[str]
    is_password: bool = False
    is_weak: bool = False
    """Whether most of what it names is not a secret, so that a value must look random."""


def _after(word: str, *owners: str) -> str:
    """Return a pattern for the word behind any of the owners, however the two are joined."""
    alike = ("|".join(group) for _, group in groupby(sorted(owners, key=len), key=len))
    return "|".join(f"(?<=(?:{each}){word})|(?<=(?:{each})[._ -]{word})" for each in alike)


ABOUT, MEASURES = frozenset(WORDS["about"]), frozenset(WORDS["measures"])
_OWNED = _after("key", *WORDS["owners_of_keys"])
_OF_DATA = _after("key", *WORDS["keys_of_data"])
# Each pattern begins with its gate, a literal that the engine finds before it tries anything.
SECRET_NAMES = (
    SecretName(
        "pass",
        "password",
        lazy(
            r"pass(?:(?=w|phrase|code)"
            r"|(?![a-z])(?<!bypass)(?<!compass)(?<!surpass)(?<!spass)(?<!erpass)(?<!encompass)"
            r"(?<!onepass))"
        ),
        is_password=True,
    ),
    SecretName("pwd", "password", lazy("pwd(?<!oldpwd)"), is_password=True),
    SecretName("psk", "password", lazy("psk"), is_password=True),
    SecretName(
        "pw",
        "password",
        lazy(r"pw(?:(?<![a-z0-9+/-]pw)|(?<=[dtnrep]pw))(?![\w+/-])"),
        is_password=True,
    ),
    *(
        SecretName(word, "password", lazy(re.escape(word)), is_password=True)
        for word in WORDS["passwords_elsewhere"]
    ),
    SecretName("secret", "secret", lazy("secret")),
    SecretName("token", "token", lazy("token")),
    SecretName("key", "api-key", lazy(f"key(?<=[a-z._ -]key)(?:{_OWNED})")),
    SecretName(
        "key", "api-key", lazy(f"key(?<=[a-z0-9._-]key)(?!{_OWNED}|{_OF_DATA})"), is_weak=True
    ),
    SecretName("credential", "credential", lazy("credential")),
    SecretName("authtok", "password", lazy("authtok(?!en)"), is_password=True),
    *(
        SecretName(word, "secret", lazy(rf"{word}(?<![a-z]{word})s?(?![a-z])"), is_weak=True)
        for word in WORDS["weak_names"]
    ),
    SecretName("auth", "token", lazy("auth(?![a-z])(?<![a-z-]auth)")),
)


ASCII_NAMES = tuple(each for each in SECRET_NAMES if each.gate.isascii())

HUMPS = lazy(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|\d+")
_BEFORE = lazy(r"[A-Za-z0-9_-]{0,40}\Z")


def is_about_secret(text: str, at: int, tail: re.Match[str]) -> bool:
    """Return True if a name only describes a secret, counts it, or names something public."""
    words = [each.lower() for each in HUMPS.findall(tail["more"])]
    if words and (words[-1] in ABOUT or tail["more"][0].islower()):
        return True
    return is_no_secret(text, at, tail.end())


def is_no_secret(text: str, at: int, end: int) -> bool:
    """Return True if the name around a word is of something public, a type, or no name at all."""
    if "[redacted:" in text[max(0, at - 32) : at].rpartition("]")[2]:
        return True
    owner = _BEFORE.search(text, max(0, at - 40), at)
    if owner and text.startswith("::", owner.start() - 2):
        return True  # the name of a type: `AWS::IAM::AccessKey`
    if owner and is_random(owner[0] + text[at:end]):
        return True
    before = [each.lower() for each in HUMPS.findall(owner[0])] if owner else []
    return bool(before) and ("public" in before or before[-1] in _PUBLIC or before[0] in MEASURES)


_PUBLIC = frozenset(
    {
        *("change", "request", "page", "next", "continuation", "input", "output"),
        *WORDS["keys_of_data"],
    }
)
_REST = lazy(
    r"(?:w(?:or)?d|wort|phrase|code)?s?(?P<joint>[=_-])(?P<value>(?:(?!\.\w{1,5}(?:\W|\Z))[\w+=~.%$!&-]){8,512}+)"
)
_JOINT = lazy("[._-]+")
_PIECE = 14


def joined(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the secret that is joined to its name by `-`, `_` or `=`; None if none is."""
    rest = _REST.match(text, found.end())
    if rest is None or is_placeholder(rest["value"]):
        return None
    value = rest["value"]
    is_words = rest["joint"] != "-" and PHRASE.fullmatch(value) is not None
    return Span(*rest.span("value"), word.name) if is_words or _is_generated(value) else None


def _is_generated(value: str) -> bool:
    if not is_random(value, at_least=_PIECE):
        return is_drawn_letters(value) and "_" not in value and "-" not in value
    pieces = _JOINT.split(value)
    longest = max(map(_random_length, pieces))
    return (
        longest >= _PIECE
        or UUID.search(value) is not None
        or all(is_random(piece, at_least=8) for piece in pieces if len(piece) > 3)
    )


def _random_length(piece: str) -> int:
    return len(piece) if is_random(piece, at_least=_PIECE) else 0
