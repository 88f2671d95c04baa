"""Secrets that no word for one gives away: in commands, and what looks like nothing else.

Part of step 4 (redaction). Both cases, digits and signs together make a password, wherever it
stands alone; what looks drawn without signs needs the name of a setting before it. Neither is a
secret where its name is that of a digest, an id or a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.core.patterns import lazy_pattern
from observer.redaction import shapes
from observer.redaction.patterns import WORDS, Patterns
from observer.redaction.plain import text_in_base64
from observer.redaction.shapes import BREAKS, SHAPES, Ordinary, Span

_IS = Patterns("unnamed")

_TYPED = {"-": "option", "echo ": "echoed", "<<<": "here", "/p": "slash", ":": "login"}
"""What stands in a text with what is typed so, and its pattern."""
_ENDS = ".,:;!?)"
_LONG_HEX = 24


def typed_secrets(text: str) -> Iterator[Span]:
    """Yield what looks drawn behind an option that often takes a password, or behind a user."""
    for sign, name in _TYPED.items():
        for found in getattr(_IS, name).finditer(text) if sign in text else ():
            start, value = found.start("value"), found["value"].rstrip(_ENDS)
            if sign == ":":
                user = _IS.user.search(text, max(0, found.start() - 99), found.start())
                is_secret = user is not None and _is_of_user(text, user, value)
            else:
                is_secret = _is_argument(value, sign, is_glued=text[start - 1].isalpha())
            if is_secret:
                yield Span(start, start + len(value), "password")


def _is_of_user(text: str, user: re.Match[str], value: str) -> bool:
    is_mail = "@" in user[1]
    if "/" in value or (not is_mail and (SHAPES.phrase.fullmatch(value) or shapes.is_hex(value))):
        return False
    if not (shapes.is_typed(value) or (is_mail and shapes.is_strong(value))):
        return False
    is_other = _IS.userless.fullmatch(user[1].rpartition("@")[2]) or SHAPES.uuid.search(value)
    return not (is_other or shapes.is_called(text, *user.span(1)))


def _is_argument(value: str, sign: str, *, is_glued: bool) -> bool:
    if is_glued and (SHAPES.phrase.fullmatch(value) or "/" in value):
        return False
    if shapes.is_hex(value) and (sign == "echo " or len(value) < _LONG_HEX):
        return False
    return shapes.is_typed(value) or shapes.is_strong(value)


# --- what looks like nothing else ----------------------------------------------------------------

_SHAPES = bytes(32 if code in BREAKS or code < 33 else code for code in range(256))
_RUNS = bytes(32 if code == 32 else 97 for code in range(256))
_SHORTEST, _LONGEST = 10, 1000
_RUN = b"a" * _SHORTEST
_ODD = re.compile(rb"[^0-9]*+[0-9]|(?:[^-]*+-){2}[a-z?]{3}")
"""What holds a digit, or several hyphens."""
_QUERY = re.compile(rb"[&?](?=[\w.-]+=)")
_LONG = 10
"""Letters and digits of a part that looks drawn: names have none."""
_ORDINARY = Ordinary()
"""Words that look neither drawn nor typed, whatever stands around them."""


def _suspects(text: str) -> Iterator[tuple[int, int]]:
    """Yield where words stand that may be secrets by themselves."""
    shape = text.encode("ascii", "replace").translate(_SHAPES)
    if b"&" in shape or b"?" in shape:
        shape = _QUERY.sub(b" ", shape)
    runs = shape.translate(_RUNS) + b" "
    end = 0
    while (begin := runs.find(_RUN, end)) >= 0:
        end = runs.index(b" ", begin)
        if end - begin > _LONGEST or not _ODD.match(shape, begin, end):
            continue
        word = text[begin:end]
        is_known = word in _ORDINARY or word.startswith(("sha", "0x", "AAAA", "nonce-"))
        if not is_known and "arn:" not in word:
            yield begin, end


def unnamed_secrets(text: str) -> Iterator[Span]:
    """Yield what stands alone and looks drawn, or typed; what else may be so beside a hint."""
    for begin, stop in _suspects(text):
        word = text[begin:stop]
        name = _IS.assigned.match(word)
        start = begin + (name.end() if name else 0)
        value = text[start:stop].rstrip(".:")
        end = start + len(value)
        if value.startswith("--") and text[start - 1 : start] in {"", "\n"}:
            continue  # a boundary of a mail, or of a form
        is_key = _is_key(value)
        is_secret = False
        if _is_password(value) or (is_key and not _is_part(text, start, end)):
            is_secret = _stands_alone(text, start, end)
        else:
            may_be = _may_be(value, is_key=is_key)
            if not may_be and ("://" in word or value.count("/") == 1):
                start += value.rfind("/") + 1
                may_be = _may_be(text[start:end], is_key=_is_key(text[start:end]))
            if not (may_be or is_key):
                _ORDINARY.keep([word])
            is_secret = may_be and end - start < len(text) and _is_hinted(text, start, end)
        if is_secret:
            yield Span(start, end, "password")


_MOST_WORDS = 0.4
"""Share of what is drawn that words make; of names it is more."""


def _is_wordy(value: str) -> bool:
    return sum(map(len, _IS.longer.findall(value))) > _MOST_WORDS * len(value)


def _is_part(text: str, start: int, end: int) -> bool:
    """Return True for a line of encoded data, an id, a name, and for what is all of a text."""
    value = text[start:end]
    return (
        len(value) == len(text)
        or _is_wordy(value)
        or _IS.id.fullmatch(value) is not None
        or _IS.before.search(text, max(0, start - 160), start) is not None
        or _IS.behind.match(text, end) is not None
    )


_HINTS = lazy_pattern(
    rf"(?:(?<![A-Za-z])|(?=[A-Z]))(?i:{'|'.join(map(re.escape, WORDS['hints']))})"
)
_LONGER_KEY = 20


def _may_be(value: str, *, is_key: bool) -> bool:
    """Return True for hexadecimal digits, words joined and the like: secrets beside a hint."""
    if SHAPES.phrase.fullmatch(value):
        return shapes.is_typed(value) and not shapes.is_placeholder(value)
    is_drawn = (
        _IS.drawn.fullmatch(value) and shapes.is_random(value) and not _IS.picture.match(value)
    )
    if (
        is_drawn
        or SHAPES.made_up.fullmatch(value)
        or (is_key and len(value) >= _LONGER_KEY and value[:3] != "eyJ")
    ):
        return True
    return (
        shapes.is_strong(value) and len(SHAPES.symbols.findall(value)) > 1 and not _is_wordy(value)
    )


def _is_hinted(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 70) : start].rpartition("\n")[2]
    if SHAPES.phrase.fullmatch(text, start, end):
        is_end = before[-1:] in tuple(":=>,(\"'") or text[end : end + 1] in {"", "\n"}
        if text.startswith(('":', "':"), end) or _IS.imported.search(before):
            return False
        if before[-2:-1] in ("", ".") or before[-1:] in "/`" or not is_end:
            return False
        before = before[-40:]
    elif _IS.key.search(before):
        return _stands_alone(text, start, end)
    return _HINTS.search(before) is not None and _stands_alone(text, start, end)


def _is_password(value: str) -> bool:
    signs = len(_IS.signs.findall(value))
    is_long = _SHORTEST <= len(value) <= 64
    if not (signs and is_long and value.isascii()) or _IS.requirement.search(value):
        return False
    if shapes.is_jumbled(value):
        return not value.islower()
    is_code = _IS.code.search(value.rstrip("=")) or (signs == 1 and not value[0].isalnum())
    return not is_code and shapes.is_strong(value) and not shapes.is_placeholder(value)


def _is_key(value: str) -> bool:
    return (
        _IS.data.fullmatch(value) is not None
        and (not (value.islower() or value.isupper()) or value.isalnum())
        and any(
            shapes.is_random(part, at_least=_LONG) and list(part) != sorted(part)
            for part in _IS.parts.split(value)
        )
        and shapes.is_drawn(value)
        and not shapes.is_hex(value)
        and not _IS.said.search(text_in_base64(value))
        and not value.startswith(("AAAA", "0x", "sha"))
        and not _IS.picture.match(value)
        and not _IS.code.search(value.rstrip("="))
        and len(_IS.words.findall(value)) < 2
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if a value is no part of code, and no digest, id or place by its name."""
    if text[start - 1 : start] in tuple("([{)]<\\") or text[end : end + 1] in tuple("([{])"):
        return False
    if _IS.runs_up_to.search(text, max(0, start - 40), start) or _IS.runs_on.match(text, end):
        return False  # of encoded data, or of minified code
    is_digest = SHAPES.digests.search(text[max(0, start - 24) : start].lower())
    return not (is_digest or shapes.is_called(text, start, end, is_alone=True))
