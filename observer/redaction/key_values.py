"""Secrets recognized by the name of their key: `PASSWORD=…`, `"api_key": "…"`, `--token …`.

Part of step 4 (redaction). The same names stand all over source code (`password = get_password()`,
`token: str`), so a value must look like a secret: a quoted string that is neither prose nor a
placeholder, a bare word in a place where no expression can stand, or one with a digit or symbol in
it. The value of an environment variable of such a name is a secret whatever it looks like.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from unicodedata import category

from observer.redaction import env_vars, secrets, value_bounds
from observer.redaction.columns import column
from observer.redaction.lazy_pattern import lazy
from observer.redaction.near import near
from observer.redaction.secret_names import (
    ASCII_NAMES,
    SECRET_NAMES,
    SecretName,
    is_no_secret,
    joined,
)
from observer.redaction.secrets import MARKER, Span, is_generated_whole, is_placeholder, is_random
from observer.redaction.value_bounds import HEAD, Key, key_of


def key_value_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the values of secret-named keys; `low` is the text in lower case, at equal offsets."""
    for word in ASCII_NAMES if low.isascii() else SECRET_NAMES:
        if word.gate not in low:
            continue
        at = 0
        head = below = 0
        while found := word.pattern.search(low, at):
            at = found.end()
            if is_no_secret(text, found.start(), at):
                continue
            is_known = not word.is_weak or word.gate == "key"
            by_form = is_known and (_value_span(text, found, word) or joined(text, found, word))
            if span := by_form or near(text, found, word):
                at = max(at, span.end)
                yield span
            if not head < found.start() < below:  # each row is part of one table
                for span in column(text, found, word):
                    head, below = text.find("\n", found.end()), span.end
                    yield span


def _value_span(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    head = HEAD.match(text, found.end())
    if head is None or _is_vain(text, found, word=word, head=head):
        return None
    key = key_of(text, found, word=word, head=head)
    if _CALL.match(text, head.end()) and not (key.is_quoted or key.is_environment):
        return None
    start, end = _bounds(text, head, key)
    if text.startswith("...", end) or (
        head["listed"] and (not key.takes_next or text.startswith("-", start))
    ):
        return None
    value = MARKER.sub("", text[start:end])
    is_joined = not head["option"] or key.is_option or key.is_variable
    if not (is_joined or _stands_out(key, value)) or _is_code(key, value):
        return None
    whole = end
    if not key.is_quoted:
        whole = value_bounds.whole_end(text, start, end=end, has_line=key.begins_line)
    if not (
        _is_secret(key, value)
        or (_is_entry(key, value) and value_bounds.ends_line(text, end))
        or (whole > end and _is_whole_secret(key, value, text[start:whole]))
    ):
        return None
    return Span(start, whole, _class(key))


def _is_code(key: Key, value: str) -> bool:
    """Return True if a value is source code, or what a program printed about its work."""
    assign = key.head["assign"] or ""
    if secrets.is_result(key.text, assign) or secrets.is_about(key.text):
        return True
    if key.head["default"] and key.lead in "/\\":
        return True  # the name of a file, in a list of such
    if (key.lead in "?&" and "badge" in key.before) or _is_listed_word(key, value):
        return True
    if key.is_environment or key.is_variable:
        return False
    if key.is_quoted and secrets.mixes(value):
        return False
    is_variable = not key.is_quoted and secrets.is_variable(value)
    return is_variable or (not key.word.is_password and secrets.is_expression(value))


def _is_listed_word(key: Key, value: str) -> bool:
    """Return True for `name:password:GID` in a description, and `AUTH=CRAM-MD5`."""
    is_field = key.lead == key.head["assign"] == ":"
    return (is_field or (key.is_weak and value.isupper())) and not is_random(value)


def _is_vain(text: str, found: re.Match[str], *, word: SecretName, head: re.Match[str]) -> bool:
    """Return True for what is evidently too short or a reference, as most of a hostile text is."""
    start = head.end()
    quote = head["quote"]
    if text.startswith(("$(", "${", "{{"), start):
        return True
    if not quote or text[found.start()].isupper():
        return False
    return value_bounds.quote_end(text, start, quote=quote) - start < (4 if word.is_password else 8)


def _bounds(text: str, head: re.Match[str], key: Key) -> tuple[int, int]:
    """Return where the value starts and ends: inside its quotes, or up to the next delimiter."""
    if head["element"]:
        return head.span("element")
    start = head.end()
    if quote := head["quote"]:
        return start, value_bounds.quote_end(text, start, quote=quote)
    if (
        key.is_variable
        and key.lead in value_bounds.QUOTES
        and env_vars.opens_item(_unquoted(key.before))
    ):
        return start, value_bounds.quote_end(
            text, start, quote=key.before[len(_unquoted(key.before)) :]
        )
    return start, value_bounds.bare_end(text, start, with_commas=key.is_environment)


def _unquoted(before: str) -> str:
    return before[:-1].rstrip("\\")


# --- whether a value is one ----------------------------------------------------------------------

_KNOWN_TAIL = lazy(
    r"(?:w(?:or)?d|wort|phrase|code)?"
    r"(?:[_-]?(?:access[_-]?)?(?:key|token|secret|value|text|string|base|hash|pass|password))?"
    r"(?:[_-]?(?:base64|b64|dev|development|prod|production|staging|stage|test|live|old|new|main))?"
    r"[_-]?\d{0,3}[_-]?",
)
_NAMES_ITSELF = lazy(r"[A-Za-z_$][\w$]{0,64}(?:[-./:][A-Za-z_$][\w$-]{0,64}){0,8}", re.ASCII)
_SECRET_WORD = lazy(r"passw|secret|token|key|credential|auth|pwd", re.IGNORECASE)
_NAME = r"[A-Za-z_$][\w$]{0,64}"
_STEP = rf"(?:\.|::|->|\?\.){_NAME}"
_CALL = lazy(rf"{_NAME}(?:{_STEP}){{0,8}}[(\[{{]|[(\[{{&*!:]")
_ATTRIBUTE = lazy(rf"{_NAME}(?:{_STEP}){{1,8}}")
_TYPE = lazy(r"(?:\w{1,32}\.)?[A-Z]\w{0,24}?(?:Key|Token|Secret|Password|Credential)\w{0,12}")
_STRING_ENDED = lazy(r"\s|[,)\]+;:.]+(?:\s|\Z)")
"""How text begins behind a quote that was not the first of a pair, as in `"token=" + x`."""
_PATH = lazy(r"(?:~|\.{1,2}|[A-Za-z]:|https?:/)?[/\\][\w./\\ -]{0,256}")
_PLAIN = lazy(r"[A-Za-z_]+[.!?]?|[\d.,_]+")


def _is_path(value: str) -> bool:
    """Return True if a value is a path; one secret of base 64 in 64 begins with a slash as well."""
    is_base64 = len(value) >= 32 and "." not in value and is_random(value, at_least=32)
    return _PATH.fullmatch(value) is not None and not (is_base64 and not value.islower())


def _is_secret(key: Key, value: str) -> bool:
    if key.word.is_weak and not is_generated_whole(value):
        return False
    if key.is_variable and not (key.is_weak and len(value) < 8):
        closes = key.is_quoted and (key.ends_string or _STRING_ENDED.match(value))
        return not closes and env_vars.is_literal_value(key.text, value)
    if len(value) < (4 if key.word.is_password else 8) or not _may_be(key, value):
        return False
    if is_placeholder(value) or _is_path(value):
        return False
    if key.is_quoted or key.is_environment:
        return _is_literal(key, value)
    return _is_bare_secret(key, value)


def _may_be(key: Key, value: str) -> bool:
    """Rule out code: by the rest of the key, by how the value begins, by its being a name."""
    if key.word.is_weak:
        is_whole = not _ATTRIBUTE.fullmatch(value) or is_generated_whole(value.partition(".")[0])
        return is_whole and _KNOWN_TAIL.fullmatch(key.tail) is not None
    if key.is_weak or (key.tail and not _KNOWN_TAIL.fullmatch(key.tail)):
        return is_generated_whole(value) or is_random(value)
    if key.is_quoted:
        return not _STRING_ENDED.match(value)
    if key.is_environment:
        return True
    if _TYPE.fullmatch(value):
        return False
    return not _ATTRIBUTE.fullmatch(value) or is_random(value, at_least=16)


def _is_literal(key: Key, value: str) -> bool:
    """Return True if a whole string is a secret; passwords need less evidence than tokens."""
    if _is_prose(value) or _names_itself(value):
        return False
    if key.head["default"] and _PLAIN.fullmatch(value):
        return key.text.isupper() and len(value) >= 8
    if key.word.is_password:
        is_key = key.head["listed"] and not (key.is_option or key.text.isupper())
        return not (is_key and _PLAIN.fullmatch(value))
    if key.is_option and (key.is_quoted or not key.is_spaced):
        return not value.isupper()
    return len(value) >= 24 or not _PLAIN.fullmatch(value) or is_generated_whole(value)


def _is_bare_secret(key: Key, value: str) -> bool:
    """Return True if an unquoted word is a secret rather than a name, a number or prose."""
    if key.word.is_password and not key.is_spaced:
        if value_bounds.is_unindented(key.before):
            return _is_literal(key, value)
        if env_vars.is_argument(key.before):
            return _is_literal(key, value) and not _DESCRIPTION.fullmatch(value)
    if _PLAIN.fullmatch(value):
        return False
    if key.is_spaced and not key.word.is_password:
        return is_random(value)
    return _is_literal(key, value)


def _stands_out(key: Key, value: str) -> bool:
    """Return True if a word behind a secret's name is one, though nothing joins the two."""
    return not key.is_weak and is_random(value, at_least=20)


def _is_whole_secret(key: Key, value: str, whole: str) -> bool:
    """Return True if a word that begins with next to nothing is a secret as a whole."""
    return not is_placeholder(value) and is_random(whole, at_least=6 if key.is_variable else 12)


_ENTRY = lazy(r"[a-z]{8,}|(?=[A-Za-z]*\d)[A-Za-z0-9!@#%^*+=]{8,}")
_DESCRIPTION = lazy(
    r"[a-z]{1,9}(?:able|ible|ed|ing|ory|tion|er|al|ive)"
    r"|plaintext|incorrect|bytearray|frozenset|datetime|timestamp|interface|\d+"
)


def _is_entry(key: Key, value: str) -> bool:
    """Return True if a line such as `token: value` holds a secret, not a type or a state."""
    if not key.is_entry or key.is_quoted or key.is_weak or not _ENTRY.fullmatch(value):
        return False
    if key.text[:1].isupper() and not key.text.isupper():
        return False
    if not _KNOWN_TAIL.fullmatch(key.tail) or _DESCRIPTION.fullmatch(value):
        return False
    return not is_placeholder(value) and not _names_itself(value)


def _is_prose(value: str) -> bool:
    words = value.split()
    if len(words) < 2:
        return not value.isascii() and all(category(sign)[0] in "LM" for sign in value)
    return all(word.strip(string.punctuation).isalnum() for word in words)


def _names_itself(value: str) -> bool:
    """Return True if a value names something secret, such as `db-password` or `auth.token`."""
    if is_random(value, at_least=16):
        return False
    return bool(_NAMES_ITSELF.fullmatch(value) and _SECRET_WORD.search(value))


def _class(key: Key) -> str:
    name = key.text.lower()
    return "aws-secret-key" if "aws" in name and "secret" in name else key.word.name
