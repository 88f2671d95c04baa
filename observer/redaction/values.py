"""Values of named secrets by their looks: drawn by a machine, or made up by a person.

Part of step 4 (redaction). Neither takes paths, versions, dates, names and expressions of code.
"""

from __future__ import annotations

import re

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import SecretName
from observer.redaction.secrets import (
    PHRASE,
    UUID,
    is_drawn_letters,
    is_encoded,
    is_placeholder,
    is_random,
)

_NO_VALUE = lazy(
    r"https?:|\w+://|arn:|[A-Za-z]:\\|\\|<[\w!/]|[!=<>]=|\d+\u2192"
    # Paths, files and places in them.
    r"|(?:~|\.{1,2})?/[\w.-]*/|(?:~|\.{1,2}|#)/|/\w+\Z|[\w./-]+\.\w{1,5}:\d+"
    r"|[\w.-]*(?:/[\w.-]+)+\.\w{1,5}\Z|[a-z][\w-]*\.[a-z]{1,5}\Z|#[\w-]+\Z|-?\w+\*(?:[./]|\Z)"
    # Numbers, dates, versions, packages, regions, people.
    r"|[\d.,:/x-]+\Z|\d{4}-\d\d-\d\d|@?[\w./-]+@v?\d+(?:\Z|(?:\.\d+)+)|@[\w-]+/"
    r"|[a-z]{2}-[a-z]+-\d|[\w.+-]+@[\w-]+(?:\.[\w-]+)+\Z|\w+:!?\d\Z"
    r"|(?i:sha|md|utf|rfc|iso|base|v|aes|rsa|hs|es|rs)-?\d+(?![A-Za-z0-9]{6})"
    # Names, variables, attributes, settings.
    r"|[$%@&*~^?#]+\\?[A-Za-z_:.]+\Z|(?:[a-z_]{2,16}\d?|[a-z]+(?:[A-Z][a-z]+)+)=[\w$]|[A-Z_]{2,40}=|(?:\w+,)+\w+\Z"
    r"|[a-z]+(?:_[a-z0-9]+)+\Z|[A-Z]+(?:_[A-Z0-9]+)+\Z|(?:[~.]|!{1,2})?[A-Za-z_][\w$]*(?:[?!]?\.[A-Za-z_][\w$]*)+(?:[+-]\d)?\Z"
    r"|[A-Za-z]+\$\d\Z|\$[A-Za-z_]\w*[|/;:]|[A-Za-z_$][\w$]*(?:\.[\w$]+)+[=(\[?|&]"
)
_CODE = lazy(
    r"[(){}\[\]]|\w(?:->|::|=>)\w|&&|\|\||==(?!\Z)|\\[a-z]"
    r"|[A-Za-z]\+\+\Z|\?\.[A-Za-z]|\w!=|\w!\d;|[A-Za-z]{2,}:[a-z!]\w*[.=!]"
)
DIGESTS = lazy(r"sha|md5|hash|digest|commit|checksum|fingerprint|etag|integrity|revision|uuid|\bid")
_CAMEL = lazy(
    r"(?=.*[A-Z])(?:[A-Z]?[a-z]++\d{0,5})++(?:[A-Z]{2,4}\d?)?"
    r"|(?=.*[A-Z])(?:(?:[A-Z]{1,6}v?|[A-Z]{0,4}[a-z]{2,})\d{0,3}(?:[-_.]\d{0,3}|\Z|(?=[A-Z]))[-_.]?)++"
    r"|[A-Z]?(?:[A-Z]?[a-z]{3,}|[A-Z][a-z](?=[A-Z][a-z]{3}))+"
)
"""Names of code, types, licences."""
_BASE64 = lazy(r"(?=.{0,20}[A-Z])(?=.{0,20}[a-z])[A-Za-z0-9+/]{20,}={0,2}")
_TYPE = lazy(r"[A-Za-z]+\d{1,2}[A-Z][a-z]{3,}[A-Za-z]*_?")
"""Types and names with a number in their middle: `Uint8Array`."""
_NAMES = lazy(
    r"pass|secret|token|key|cred|auth|user|name|your|the-|-of-|-and-|-for-|-to-|-a-|-in-|based|eslint",
    re.IGNORECASE,
)
SYMBOLS = lazy(r"[!#$%&*+=?@^~]")


ACCOUNTS = frozenset({"login", "log in", "sign in", "logon", "signin", "creds"})
"""Words behind which a user's name stands before the secret."""


def is_hex(value: str) -> bool:
    """Return True for hexadecimal digits, whatever joins them."""
    return not value.strip("0123456789abcdefABCDEF-")


def is_drawn(value: str, between: str = "") -> bool:
    """Return True for what looks drawn; a digest, as the words before say, is not."""
    if not (is_random(value) or is_drawn_letters(value) or is_encoded(value)) or _CAMEL.fullmatch(
        value.lstrip("-").replace("_", "")
    ):
        return False
    if is_placeholder(value) or (
        _NO_VALUE.match(value) and not _BASE64.fullmatch(max(value.split("."), key=len))
    ):
        return False
    if is_hex(value) or UUID.search(value):
        return between == "" or not DIGESTS.search(between.lower())
    return not _CODE.search(value)


def is_made_up(value: str, word: SecretName, *, is_joined: bool) -> bool:
    """Return True for what a person makes up; beside a name that it is joined to, for more."""
    value = value.strip("*_`")
    is_weak = word.is_weak and word.gate not in ACCOUNTS
    if len(value) < 6 or is_weak or _CODE.search(value) or _NO_VALUE.match(value):
        return False
    symbols = len(SYMBOLS.findall(value))
    has_digit = any(map(str.isdigit, value))
    if is_placeholder(value) or not any(map(str.isalpha, value)):
        return False
    if (
        (is_joined or word.is_password or word.is_weak)
        and PHRASE.fullmatch(value)
        and not _NAMES.search(value)
    ):
        return True
    if not (has_digit or symbols > 1):
        return False
    if symbols:
        return len(value) >= 8 and not (value.isupper() or (value.islower() and not has_digit))
    takes_plain = word.is_password or word.gate == "credential"
    is_typed_name = set(value) & set("/:") or _TYPE.fullmatch(value)
    return is_joined and takes_plain and len(value) >= 8 and not is_typed_name


def looks_secret(value: str, word: SecretName) -> bool:
    """Return True for the value of a cell whose heading names a secret."""
    return is_drawn(value) or is_made_up(value, word, is_joined=True)


def is_strong(value: str) -> bool:
    """Return True for what mixes both cases, digits and signs, as rules for passwords demand."""
    kinds = (str.islower, str.isupper, str.isdigit, SYMBOLS.match)
    is_mixed = all(any(map(kind, value)) for kind in kinds)
    return is_mixed and not _NO_VALUE.match(value) and not _CODE.search(value)


def is_typed(value: str) -> bool:
    """Return True for what stands in a command, and is drawn or words joined as a password."""
    if PHRASE.fullmatch(value):
        return not _NAMES.search(value)
    symbols = len(SYMBOLS.findall(value))
    return is_drawn(value) and (symbols > 1 or len(value) > 15 or not value.islower())
