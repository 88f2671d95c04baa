"""Secrets that no word for one gives away: in commands, and what looks like nothing else.

Part of step 4 (redaction). Both cases, digits and signs together make a password, wherever it
stands alone; what looks drawn without signs needs the name of a setting before it. Neither is a
secret where its name is that of a digest, an id or a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import HUMPS
from observer.redaction.secrets import (
    PHRASE,
    UUID,
    WORDS,
    Span,
    is_encoded,
    is_placeholder,
    is_random,
)
from observer.redaction.values import (
    DIGESTS,
    SYMBOLS,
    is_drawn,
    is_hex,
    is_strong,
    is_typed,
)

_VALUE = r"[\"']?(?P<value>[^\s\"'|;]{8,128})"
_TYPED = {
    "-": lazy(rf"-(?<=\s-)(?:[pPwWaAkKxXtTyU]|[hx]p|-?(?:pw|pass|pwd|hmac|auth))[ =]?{_VALUE}"),
    "echo ": lazy(rf"echo (?:-\w+ )?{_VALUE}"),
    "<<<": lazy(rf"<<< ?{_VALUE}"),
    ":": lazy(r":(?<=\w:)(?P<value>[^\s\"'@,;:(){}\[\]<>]{8,128})(?=[\s\"'@]|\Z)"),
}
_USER = lazy(r"(?:\A|[\s\"'=(/])([A-Za-z][\w.-]{2,31})\Z")
_USERLESS = lazy(
    r"(?i:\w*(?:sha\d*|md5|id|hash|etag|digest|integrity|image|ref|urn|arn|data))|[A-Z]\w+"
)
_ENDS = ".,:;!?)"
_LONG_HEX = 24


def typed_secrets(text: str) -> Iterator[Span]:
    """Yield what looks drawn behind an option that often takes a password, or behind a user."""
    for sign, pattern in _TYPED.items():
        if sign not in text:
            continue
        for found in pattern.finditer(text):
            value = found["value"].rstrip(_ENDS)
            if sign == ":":
                user = _USER.search(text, max(0, found.start() - 34), found.start())
                if user is None or _USERLESS.fullmatch(user[1]) or UUID.search(value):
                    continue
            if (sign == ":" or text[found.start("value") - 1].isalpha()) and (
                PHRASE.fullmatch(value) or "/" in value
            ):
                continue
            if (not is_hex(value) or (sign == "-" and len(value) >= _LONG_HEX)) and (
                is_typed(value) or (sign != ":" and is_strong(value))
            ):
                yield Span(found.start("value"), found.start("value") + len(value), "password")


# --- what looks like nothing else ----------------------------------------------------------------

_BREAKS = b" \t\n\r\v\f\"'`<>|,;(){}[]\\"
_SHAPES = bytes(32 if code in _BREAKS or code < 33 else code for code in range(256))
_SHORTEST = 10
_WORD = re.compile(
    rb" (?=[^ ]{%d})(?:(?=[^ 0-9]*+[0-9])|(?=(?:[^ -]*+-){2}[a-z?]{3}))[^ ]{1,1000}+(?![^ ])"
    % _SHORTEST
)
"""Long ones that hold a digit or several hyphens; a blank first is found quickest."""
_QUERY = re.compile(rb"[&?](?=[\w.-]+=)")
_ASSIGNED = lazy(r"(?:[$@&.-]{0,2}[A-Za-z_*][A-Za-z_.*-]{0,40}\d{0,3}(?:=>|:=|[=:>]))+")
_NAME = lazy(
    r"([A-Za-z][\w.$-]{0,60})[\"'`\])]{0,3}[ \t]{0,3}(?:=>|:=|[=:,>])\s{0,24}"
    r"(?:[\[(][ \t]{0,3})?[bBrRuU@$]?[\"'`]?\Z"
)
_DIRECTIVE = lazy(r"(?:\A|\n)[ \t+]*([A-Za-z_]{4,60})[ \t]{1,12}[\"']?\Z")
_ARGUMENT = lazy(r"([a-z][\w.-]{1,40})[\"']?[ \t][\"']\Z")
_LINE_END = lazy(r"[\"']?;?[ \t]*(?:\n|\Z)")
_SIGNS = lazy(r"[!#$%&?@^~]")
_CODE = lazy(
    r"%[0-9A-F]{2}|\*|#/|~\w+\.|~\d|&\w+;|&#\d+\Z|\$\w+\$|://|(?=.*&).*(?:[A-Za-z]{3}/|/[A-Za-z]{3})|\w\?\Z|[A-Za-z]!\Z|\w@[\w-]+\."
    r"|\w@[A-Z]+\Z|[aA0]-[zZ9]|\A!?[A-Za-z_]+\d?\$\d{1,2}(?:[?.]|\Z)"
    r"|\w\?[A-Za-z.:-]|\?\d:|\$LATEST|->|=[\w!]|\.\w{1,4}#|[a-z]#\d{1,6}\Z|#L\d|\A\w+#[A-Z][a-z]{2}"
    r"|\^d?\d|[$!]\.[a-z]|_As[A-Z]|NaN|\A(?:x\d\d|\w+\.)[!$#]"
)
_PICTURE = lazy(r".*(?i:abcdefg|012345)|[MmLlHhVvCcSsQqTtAaZz\d.-]+\Z")
"""What all signs of a kind stand in, and what draws a picture."""
_DATA = lazy(r"[\w+/=:.@%^-]{16,}", re.ASCII)
_PARTS = lazy(r"[^A-Za-z0-9]+")
_WORDS = lazy(r"(?<![A-Za-z0-9])[A-Za-z]?[a-z]{3,}(?![A-Za-z0-9])")
_LONG = 10
"""Letters and digits of a part that looks drawn: names have none."""
_NO_SECRETS = frozenset(WORDS["no_secrets"])


def unnamed_secrets(text: str) -> Iterator[Span]:
    """Yield what stands alone and looks drawn, or typed; what else may be so beside a hint."""
    shape = _QUERY.sub(b" ", text.encode("ascii", "replace").translate(_SHAPES))
    for found in _WORD.finditer(b" " + shape):
        begin, stop = found.start(), found.end() - 1
        word = text[begin:stop]
        if word.startswith(("sha", "0x", "AAAA")) or "arn:" in word:
            continue
        name = _ASSIGNED.match(word)
        start = begin + (name.end() if name else 0)
        value = text[start:stop].rstrip(".:")
        end = start + len(value)
        is_key = _is_key(value)
        is_secret = False
        if _is_password(value) or (is_key and not _is_part(text, start, end)):
            is_secret = _stands_alone(text, start, end)
        else:
            may_be = _may_be(value, is_key=is_key)
            if not may_be and ("://" in word or value.count("/") == 1):
                start += value.rfind("/") + 1
                may_be = _may_be(text[start:end], is_key=_is_key(text[start:end]))
            is_secret = may_be and end - start < len(text) and _is_hinted(text, start, end)
        if is_secret:
            yield Span(start, end, "password")


_BEFORE = lazy(r"(?:[A-Za-z0-9+/=]{32}|-----)[\"',\\nr]*\n[\s>|+\"'\d]*\Z")
_BEHIND = lazy(r"[\"',\\]{0,3}\r?\n[\s>|+\"'\d]{0,40}[A-Za-z0-9+/=]{24,}")
_ID = lazy(
    r"--.*|eyJ\w*|[a-z]{2,8}_01\w+|[a-z0-9._-]{,23}|(?=.*_).{,23}|b[ac][a-z0-9]{40,}|Qm\w{44}"
)
_LONGER = lazy(r"[A-Z]?(?=[a-z]{0,9}[aeiouy])[a-z]{3,}|[A-Z](?=[a-z]?[aeiouy])[a-z]{2}")
_MOST_WORDS = 0.4
"""Share of what is drawn that words make; of names it is more."""
_ALPHABET = 30
"""Characters of what repeats none, and is thus an alphabet."""


def _is_wordy(value: str) -> bool:
    return sum(map(len, _LONGER.findall(value))) > _MOST_WORDS * len(value)


def _is_part(text: str, start: int, end: int) -> bool:
    """Return True for a line of encoded data, an id, a name, and for what is all of a text."""
    value = text[start:end]
    return (
        len(value) == len(text)
        or (len(value) >= _ALPHABET and len(set(value)) == len(value))
        or is_encoded(value)
        or _is_wordy(value)
        or _ID.fullmatch(value) is not None
        or _BEFORE.search(text, max(0, start - 160), start) is not None
        or _BEHIND.match(text, end) is not None
    )


_DRAWN = lazy(
    r"[0-9a-f]{24,63}|[0-9A-F]{24,63}|[A-Z0-9]{20,64}|(?=[0-9a-f]*[g-wyz])[a-z0-9]{20,64}"
)
_MADE_UP = lazy(r"[A-Z][a-z]{2,}\d{2,}[^\w\s]?_?[a-z]{3,}\d")
_HINTS = lazy(rf"(?:(?<![A-Za-z])|(?=[A-Z]))(?i:{'|'.join(map(re.escape, WORDS['hints']))})")
_LONGER_KEY = 20
_KEY = lazy(r"(?<![A-Za-z0-9_-])[Kk]ey\d?[\"']? ?[:=]>?[ \t]*[\"']?\Z")


def _may_be(value: str, *, is_key: bool) -> bool:
    """Return True for hexadecimal digits, words joined and the like: secrets beside a hint."""
    if PHRASE.fullmatch(value):
        return is_typed(value)
    is_drawn = _DRAWN.fullmatch(value) is not None and is_random(value)
    is_drawn = is_drawn and not _PICTURE.match(value)
    if (
        is_drawn
        or _MADE_UP.fullmatch(value)
        or (is_key and len(value) >= _LONGER_KEY and value[:3] != "eyJ")
    ):
        return True
    return is_strong(value) and len(SYMBOLS.findall(value)) > 1 and not _is_wordy(value)


def _is_hinted(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 70) : start].rpartition("\n")[2]
    if PHRASE.fullmatch(text, start, end):
        is_end = before[-1:] in tuple(":=>,(\"'") or text[end : end + 1] in {"", "\n"}
        if before[-2:-1] in ("", ".") or before[-1:] in "/`" or not is_end:
            return False
        before = before[-40:]
    elif _KEY.search(before):
        return _stands_alone(text, start, end)
    return _HINTS.search(before) is not None and _stands_alone(text, start, end)


def _is_password(value: str) -> bool:
    if not _SHORTEST <= len(value) <= 64 or not _SIGNS.search(value) or not value.isascii():
        return False
    is_clear = value[0].isalnum() or len(_SIGNS.findall(value)) > 1
    if not is_clear or _CODE.search(value.rstrip("=")) or not is_strong(value):
        return False
    return not is_placeholder(value)


def _is_key(value: str) -> bool:
    return (
        _DATA.fullmatch(value) is not None
        and (not (value.islower() or value.isupper()) or value.isalnum())
        and any(
            is_random(part, at_least=_LONG) and list(part) != sorted(part)
            for part in _PARTS.split(value)
        )
        and is_drawn(value)
        and not is_hex(value)
        and not value.startswith(("AAAA", "0x", "sha"))
        and not _PICTURE.match(value)
        and not _CODE.search(value.rstrip("="))
        and len(_WORDS.findall(value)) < 2
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if a value is no part of code, and no digest, id or place by its name."""
    if text[start - 1 : start] in tuple("([{)]<\\") or text[end : end + 1] in tuple("([{])"):
        return False
    before = text[max(0, start - 90) : start]
    found = _NAME.search(before)
    if found is None and _LINE_END.match(text, end):
        found = _DIRECTIVE.search(before)
    if found is None and before[-1:] in ("'", '"') and text[end : end + 1] == before[-1]:
        found = _ARGUMENT.search(before)
    words = [each.lower().rstrip("s") for each in HUMPS.findall(found[1])] if found else []
    ends = (*words[:1], *words[-1:], found[1].lower()) if found else ()
    if not _NO_SECRETS.isdisjoint(ends) or before.endswith(("h1:", "data:,")):
        return False
    return not DIGESTS.search(before[-24:].lower())
