"""Judging values by form alone: placeholders, what a machine draws, what a person makes up.

Part of step 4 (redaction). The value of a key in code or output may be a name, an expression, a
type or a test's result: `last_token = @last_token[0]`, `token: this.type}`, `--- PASS: TestA`.
"""

from __future__ import annotations

import operator
import re
import string
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from observer.redaction.patterns import WORDS, Patterns

SHAPES = Patterns("shapes")
MARKER = re.compile(r"\[redacted:[a-z-]{1,40}\]|\[private\]")
"""What redaction leaves behind; never itself a secret."""


class Span(NamedTuple):
    """A stretch of text that must not be kept, as offsets, and the class of its secret."""

    start: int
    end: int
    name: str


class SecretName(NamedTuple):
    """A word that names secrets: `pattern` finds it in lower case, and begins with `gate`."""

    gate: str
    name: str
    pattern: re.Pattern[str]
    is_password: bool = False
    is_weak: bool = False
    """Whether most of what it names is not a secret, so that a value must look random."""


class Ordinary(set[str]):
    """Short words in which nothing was found lately: ids and paths come with every event."""

    def keep(self, words: Iterable[str]) -> None:
        """Remember the short ones of some words."""
        if len(self) >= _MOST_KEPT:
            self.clear()
        self.update(word for word in words if len(word) <= _SHORT)


_MOST_KEPT, _SHORT = 4096, 160

# --- what a secret is not ------------------------------------------------------------------------

_VALUES = frozenset(WORDS["values"])
_STAND_INS, _BEGINNINGS = tuple(WORDS["stand_ins"]), tuple(WORDS["beginnings"])


def is_placeholder(value: str) -> bool:
    """Return True if a value is a placeholder: a variable, a dummy value, a type name."""
    low = MARKER.sub("", value[:256]).strip().lower()
    if len(low) < 2 or low.startswith(_BEGINNINGS) or low.strip("[]()…") in _VALUES:
        return True
    is_form = SHAPES.variable.fullmatch(low) or SHAPES.formatted.search(low)
    return is_form is not None or any(map(low.__contains__, _STAND_INS))


_SIGNS = "!#$%&*+-./:=?@^_~"
_KINDS = bytes.maketrans(
    (string.ascii_lowercase + string.ascii_uppercase + string.digits + _SIGNS).encode(),
    b"a" * 26 + b"A" * 26 + b"0" * 10 + b"-" * len(_SIGNS),
)
_HEX = "0123456789abcdef"
BREAKS = b" \t\n\r\v\f\"'`<>|,;(){}[]\\"
"""Between words of a text, whatever it is."""
_SEPARATORS = b"-_./+=:~ "


def is_random(value: str, *, at_least: int = 12) -> bool:
    """Return True if a value looks machine-generated: it often changes between a, A and 0.

    Names and sentences do in a tenth of their places, random base 16 to 64 in a third and more.
    """
    kinds = value[:64].encode("ascii", "replace").translate(_KINDS, _SEPARATORS)
    if len(kinds) < at_least or b"0" not in kinds or not (b"a" in kinds or b"A" in kinds):
        return False
    if len(kinds) >= _LONG_HEX and not kinds.strip(b"0Aa") and not value[:64].strip(_HEX):
        return True
    changes: int = sum(map(operator.ne, kinds, kinds[1:]))
    if changes * 4 < len(kinds):
        is_long = len(kinds) >= 16
        return is_long and (is_unspoken(value[:64]) or len(SHAPES.inner.findall(value[:64])) > 2)
    return not is_name(value[:64]) or is_unspoken(value[:64])


_LONG_HEX = 20
_JUMBLED, _MANY_SIGNS = 12, 3
_CHANGING, _DISTINCT = 0.6, 0.75
"""Shares of places where the kind changes, and of characters that are no second ones."""


def is_jumbled(value: str) -> bool:
    """Return True if letters, digits and signs change places so often that no code is like it."""
    value = value[:64]
    different = set(value)
    if len(different.intersection(_SIGNS)) < _MANY_SIGNS or len(value) < _JUMBLED:
        return False
    kinds = value.encode("ascii", "replace").translate(_KINDS)
    changes: int = sum(map(operator.ne, kinds, kinds[1:]))
    is_mixed = changes >= _CHANGING * len(value) and len(different) >= _DISTINCT * len(value)
    return is_mixed and len(set(kinds) & set(b"aA0")) > 1 and set(kinds) <= set(b"aA0-")


def is_unspoken(value: str) -> bool:
    """Return True if letters are hardly words: few are vowels, which are two of five in English."""
    letters = [letter for letter in value.lower() if letter.isalpha()]
    vowels = sum(map("aeiou".__contains__, letters))
    return len(letters) >= 10 and (
        vowels * 7 <= len(letters)
        or (vowels * 5 <= len(letters) and bool(SHAPES.cluster.search(value)))
    )


def is_drawn_letters(value: str) -> bool:
    """Return True if letters, and what joins them, change between a and A too often for words."""
    letters = value[:64].translate(str.maketrans("", "", "-_./+="))
    if len(letters) < 10 or not (letters.isalpha() and letters.isascii()):
        return False
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(letters))
    if changes * 3 >= len(letters) and not is_name(letters):
        return True
    return len(letters) >= 14 and not letters.islower() and is_unspoken(letters)


_WORD_LENGTH = 4
"""Mean length of the words in names; in random strings of both cases they have about 2 letters."""


def is_name(value: str, *, mean: int = _WORD_LENGTH) -> bool:
    """Return True for words joined as in names: `testEd25519PrivateKey`."""
    if value.islower() or value.isupper():
        return False
    humps = SHAPES.hump.findall(value)
    letters = sum(map(len, humps))
    return letters * 2 >= len(value) and letters >= mean * len(humps)


def is_expression(value: str) -> bool:
    """Return True for text that no token or key is made of: blanks, brackets and operators."""
    return " " in value or value.endswith(":") or SHAPES.expression.search(value) is not None


_NO_SECRETS = frozenset(WORDS["no_secrets"])
_PUBLIC = frozenset(WORDS["public"])
_VAGUE = _NO_SECRETS.union(WORDS["vague"])


def is_called(text: str, start: int, end: int, *, is_alone: bool = False) -> bool:
    """Return True for a digest, an id or a place: by name (vaguer if alone), form or letters."""
    value, before = text[start:end], text[max(0, start - 90) : start]
    found = SHAPES.name.search(before)
    words = [each.lower().rstrip("s") for each in SHAPES.humps.findall(found[1])] if found else []
    ends = {*words[:1], *words[-1:], found[1].lower()} if found else set()
    ends.update("id" for each in words[-2:-1] if each in _PUBLIC)  # `nextToken`
    if ends & (_VAGUE if is_alone else _NO_SECRETS) or before.endswith(("h1:", "data:,")):
        return True
    kind, word = SHAPES.kind.fullmatch(value), SHAPES.of_kind.search(before)
    if kind is None or word is None or SHAPES.names.search(word[1]):
        return SHAPES.id.fullmatch(value) is not None
    # An id may begin with letters of what it is called: `request req_1f`.
    return re.search(rf"(?<![a-z]){'[a-z_]*'.join(kind[1])}", word[1].lower()) is not None


ACCOUNTS = frozenset({"login", "log in", "sign in", "logon", "signin", "creds"})
"""Words behind which a user's name stands before the secret."""


def is_hex(value: str) -> bool:
    """Return True for hexadecimal digits, whatever joins them."""
    return not value.strip("0123456789abcdefABCDEF-")


def is_drawn(value: str, between: str = "") -> bool:
    """Return True for what looks drawn; a digest, as the words before say, is not."""
    if not (is_random(value) or is_drawn_letters(value)) or SHAPES.camel.fullmatch(
        value.lstrip("-").replace("_", "")
    ):
        return False
    if is_placeholder(value) or (
        SHAPES.no_value.match(value) and not SHAPES.base64.fullmatch(max(value.split("."), key=len))
    ):
        return False
    if is_hex(value) or SHAPES.uuid.search(value):
        return between == "" or not SHAPES.digests.search(between.lower())
    return not SHAPES.code.search(value)


def is_made_up(value: str, word: SecretName, *, is_joined: bool) -> bool:
    """Return True for what a person makes up; beside a name that it is joined to, for more."""
    value = value.strip("*_`")
    is_weak = word.is_weak and word.gate not in ACCOUNTS
    is_code = SHAPES.code.search(value) or SHAPES.no_value.match(value)
    if len(value) < 6 or is_weak or (is_code and not is_jumbled(value)):
        return False
    symbols = len(SHAPES.symbols.findall(value))
    has_digit = any(map(str.isdigit, value))
    if is_placeholder(value) or not any(map(str.isalpha, value)):
        return False
    if (
        (is_joined or word.is_password or word.is_weak)
        and SHAPES.phrase.fullmatch(value)
        and not SHAPES.names.search(value)
    ):
        return True
    if not (has_digit or symbols > 1) or SHAPES.compound.fullmatch(value):
        return False
    if symbols:
        is_plain = value.isupper() or (value.islower() and not has_digit)
        return len(value) >= 8 and (is_jumbled(value) or not is_plain)
    takes_plain = word.is_password or word.gate == "credential"
    is_typed_name = set(value) & set("/:") or SHAPES.type.fullmatch(value)
    return is_joined and takes_plain and len(value) >= 8 and not is_typed_name


def is_strong(value: str) -> bool:
    """Return True for what mixes both cases, digits and signs, as rules for passwords demand."""
    kinds = (str.islower, str.isupper, str.isdigit, SHAPES.symbols.match)
    is_mixed = all(any(map(kind, value)) for kind in kinds)
    if not is_mixed:
        return is_jumbled(value)
    is_name = SHAPES.compound.fullmatch(value) or is_placeholder(value)
    is_code = is_name or SHAPES.no_value.match(value) or SHAPES.code.search(value)
    return is_jumbled(value) or not is_code


def is_typed(value: str) -> bool:
    """Return True for what stands in a command, and is drawn or words joined as a password."""
    if SHAPES.phrase.fullmatch(value):
        return not SHAPES.names.search(value)
    symbols = len(SHAPES.symbols.findall(value))
    return is_drawn(value) and (symbols > 1 or len(value) > 15 or not value.islower())
