"""Judging values by their form: placeholders, random-looking strings, expressions.

Part of step 4 (redaction). Formats with an issuer's prefix are in `tokens`, secrets that are
recognized by context are in `contexts`, by their lines in `key_files`, by a name in `named`.

The value of a key in source code or program output may be a name, an expression, a type or the
result of a test: `last_token = @last_token[0]`, `token: this.type}`, `--- PASS: TestA`. It is
judged by its form alone, after random-looking values have been recognized.
"""

from __future__ import annotations

import base64
import binascii
import operator
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

MARKER = re.compile(r"\[redacted:[a-z-]{1,40}\]|\[private\]")
"""What redaction leaves behind; never itself a secret."""


class Span(NamedTuple):
    """A stretch of text that must not be kept, as offsets, and the class of its secret."""

    start: int
    end: int
    name: str


# --- what a secret is not ------------------------------------------------------------------------

WORDS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
_VALUES = frozenset(WORDS["values"])
_STAND_INS, _BEGINNINGS = tuple(WORDS["stand_ins"]), tuple(WORDS["beginnings"])
_VARIABLE = re.compile(
    r"(.)\1*"  # xxxx, ****
    r"|\$\(.*|\$[\w:]+-?(?:>.*)?|[#@%]?\{.*"  # $(cmd), $X, $x->{y}, {x}, #{x}
    r"|%{1,2}\(?\w*\)?s?%{0,2}"  # %s, %(x)s, %X%, %%x%%
    r"|0x(?:[0-9a-f]{8}|[0-9a-f]{40})",  # where a contract or its function is
    re.DOTALL,
)


_FORMATTED = re.compile(r"%s(?![a-z0-9])")


def is_placeholder(value: str) -> bool:
    """Return True if a value is a placeholder: a variable, a dummy value, a type name."""
    low = MARKER.sub("", value[:256]).strip().lower()
    if len(low) < 2 or low.startswith(_BEGINNINGS) or low.strip("[]()…") in _VALUES:
        return True
    is_form = _VARIABLE.fullmatch(low) or _FORMATTED.search(low)
    return is_form is not None or any(map(low.__contains__, _STAND_INS))


_KINDS = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"a" * 26 + b"A" * 26 + b"0" * 10,
)
_HEX = "0123456789abcdef"
_SEPARATORS = b"-_./+=:~ "


def is_random(value: str, *, at_least: int = 12) -> bool:
    """Return True if a value looks machine-generated: it often changes between a, A and 0.

    Names and sentences change in a tenth of their places, random base 16 to 64 in a third and more.
    """
    kinds = value[:64].encode("ascii", "replace").translate(_KINDS, _SEPARATORS)
    if len(kinds) < at_least or b"0" not in kinds or not (b"a" in kinds or b"A" in kinds):
        return False
    if len(kinds) >= _LONG_HEX and not kinds.strip(b"0Aa") and not value[:64].strip(_HEX):
        return True
    changes: int = sum(map(operator.ne, kinds, kinds[1:]))
    if changes * 4 < len(kinds):
        is_long = len(kinds) >= 16
        return is_long and (is_unspoken(value[:64]) or len(_INNER.findall(value[:64])) > 2)
    return not is_name(value[:64]) or is_unspoken(value[:64])


_LONG_HEX = 20
_INNER = re.compile(r"(?<=[a-z])\d{1,2}(?=[a-z])|(?<=[A-Z])\d{1,2}(?=[A-Z])")
"""Digits in the middle of a word, which names have once or twice."""
_CLUSTER = re.compile(r"[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{4}")


def is_unspoken(value: str) -> bool:
    """Return True if letters are hardly words: few are vowels, which are two of five in English."""
    letters = [letter for letter in value.lower() if letter.isalpha()]
    vowels = sum(map("aeiou".__contains__, letters))
    return len(letters) >= 10 and (
        vowels * 7 <= len(letters) or (vowels * 5 <= len(letters) and bool(_CLUSTER.search(value)))
    )


_JOINTS = str.maketrans("", "", "-_./+=")


def is_drawn_letters(value: str) -> bool:
    """Return True if letters, and what joins them, change between a and A too often for words."""
    letters = value[:64].translate(_JOINTS)
    return (
        len(letters) >= 10
        and letters.isalpha()
        and letters.isascii()
        and (
            (_swings(letters) and not is_name(letters))
            or (len(letters) >= 14 and not letters.islower() and is_unspoken(letters))
        )
    )


def is_encoded(value: str) -> bool:
    """Return True if a value is base64 of a short text, as the values of Kubernetes are."""
    if (
        len(value) % 4
        or not value.isascii()
        or not 8 <= len(value) <= 256
        or value.isalpha()
        or value.islower()
    ):
        return False
    try:
        text = base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return text.isascii() and text.decode("ascii").isprintable()


PHRASE = re.compile(r"(?:[^\W\d_]{3,}-){3,5}(?:[^\W\d_]{3,}|\d{2,4})")
"""Words joined as a password."""
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_generated_whole(value: str) -> bool:
    """Return True if a whole value looks machine-generated, even one of letters alone."""
    if is_random(value, at_least=16) or UUID.fullmatch(value):
        return True
    value = value[:256]
    if len(value) < 20 or not value.isalnum() or not value.isascii() or is_name(value[:64]):
        return False
    inner = value.rstrip("0123456789")
    digits = sum(map(str.isdigit, inner))
    return digits >= 2 if not inner.isalpha() else _swings(value)


def _swings(letters: str) -> bool:
    """Return True if letters change between a and A too often for words."""
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(letters))
    return changes * 3 >= len(letters)


_HUMP = re.compile(r"[A-Z]?[a-z]+")
_WORD_LENGTH = 4
"""Mean length of the words in names; in random strings of both cases they have about 2 letters."""


def is_name(value: str, *, mean: int = _WORD_LENGTH) -> bool:
    """Return True for words joined as in names: `testEd25519PrivateKey`."""
    if value.islower() or value.isupper():
        return False
    humps = _HUMP.findall(value)
    letters = sum(map(len, humps))
    return letters * 2 >= len(value) and letters >= mean * len(humps)


_CODE_VARIABLE = re.compile(r"[@$]{1,2}[A-Za-z_]{3,64}(?:[.\[(].{0,256})?\Z", re.DOTALL)
_EXPRESSION = re.compile(r"[(){}\[\]?!;]|=(?!=*\Z)|\w\+\d|->")
_SIGN = re.compile(r"\w[!#$%&*?@^~]")


def mixes(value: str) -> bool:
    """Return True for what mixes both cases and signs, as rules for passwords demand."""
    is_mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
    return is_mixed and bool(_SIGN.search(value)) and not _BRACKETS.search(value)


_BRACKETS = re.compile(r"[(){}\[\]\s]|->")


def is_variable(value: str) -> bool:
    """Return True for a variable of Ruby, Perl or PHP, and what is called on it."""
    return _CODE_VARIABLE.match(value) is not None


def is_expression(value: str) -> bool:
    """Return True for text that no token or key is made of: blanks, brackets and operators."""
    return " " in value or value.endswith(":") or _EXPRESSION.search(value) is not None
