"""Environment variables: which names hold secrets, and which values are not the secret itself.

Part of step 4 (redaction). `API_KEY=…` in an `.env` file, a Dockerfile or a command sets a secret,
however plain its value looks; it stays only where it refers to a secret that is kept elsewhere.
"""

from __future__ import annotations

import re

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import WORDS, is_placeholder, is_random

_NAME = lazy(r"(?:-[A-Za-z])?[A-Z_][A-Z0-9_]*")
_DECLARES = lazy(r"(?:\bENV|\bsetx|\bsetenv|\bset[ \t]+-[a-zA-Z]{0,4}x[a-zA-Z]{0,4})[ \t]{1,4}\Z")
_LISTED = lazy(r"(?:\s-(?:e|-env|-build-arg)?[ \t=]{1,4}|[\[,][ \t\r\n]{0,24})\Z")
_ARGUMENT = lazy(
    r"(?:--from-literal|--set(?:-string)?|--?var)[= \t]{1,4}\\?[\"']?[\w.,=-]{0,32}\Z"
    r"|(?i:(?:host|server|user|username|user id|uid|dbname|database|port|catalog)"
    r"=[^\s;=&,]{1,40}(?:;[ ]?|[ ]))(?:\w{1,16}_)?\Z"
)
_PAIRS = lazy(
    r"(?i:\b(?:define|set(?:default|env|property|environmentvariable)?|get(?:env)?|env|put|append"
    r"|add|header|option)\([ \t]{0,4}\\{0,7}[\"'])\Z"
)

_TAIL = lazy(r"(?:w(?:or)?d|phrase|code)?s?((?:_[a-z0-9]+)*)_?")
ABOUT = frozenset(WORDS["about"])
MEASURES = frozenset(WORDS["measures"])

_SETTINGS = lazy(
    r"[\d.,]{0,3}|yes|off|auto|always|never"
    r"|\$[A-Za-z_({].*"  # a variable or a command with more behind it
    r"|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*[(\[]"  # a call: its value ends at a quote or `)`
    r"|(?:\w+\.){0,8}(?:environ|env|settings|config|secrets)\.[\w.]+",
    re.DOTALL | re.IGNORECASE,
)
_PATH = lazy(r"(?:~|\.{1,2}|[A-Za-z]:|(?:op|https?|file):/)?[/\\][\w./\\ @-]{0,256}")
_JOINTS = str.maketrans("", "", "-_ .")


def names_secret(name: str, tail: str) -> bool:
    """Return True if a variable holds a secret; `tail` is the lower-case text behind that word."""
    if not _NAME.fullmatch(name) or name.partition("_")[0].lower() in MEASURES:
        return False
    rest = _TAIL.fullmatch(tail)
    if rest is None or (tail.startswith("s") and "TOKEN" in name):
        return False
    return rest[1].rpartition("_")[2] not in ABOUT


def declares(before: str) -> bool:
    """Return True if a name behind this text is set by the word that follows: `ENV NAME value`."""
    return _DECLARES.search(before) is not None


def is_argument(before: str) -> bool:
    """Return True if a name behind this text is one of a connection's or a command's settings."""
    return _ARGUMENT.search(before) is not None


def takes_pair(before: str) -> bool:
    """Return True if this text ends with a call that takes a name and its value."""
    return _PAIRS.search(before) is not None


def opens_item(before: str) -> bool:
    """Return True if a quote behind this text holds one setting alone: `-e "NAME=two words"`."""
    return _LISTED.search(before) is not None


def is_literal_value(name: str, value: str) -> bool:
    """Return True if a value is the secret itself, not a reference, a switch or a stand-in."""
    if len(value) < 3 or is_placeholder(value) or _SETTINGS.fullmatch(value):
        return False
    if name == "PWD" and value.isalpha():
        return False
    if _PATH.fullmatch(value):
        return name != "PWD" and is_random(value)
    return value.lower().translate(_JOINTS) not in name.lower().translate(_JOINTS)
