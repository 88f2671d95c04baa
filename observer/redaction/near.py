"""A secret's name and its value, whatever stands between the two.

Part of step 4 (redaction). A table, a pair, an option and its argument, prose: the forms in which
people and programs join a name and a value have no end. So what is known here is only that both
stand close together, and that the value looks drawn, or made up and directly behind the name.
Where a form says more than that, `key_values` needs less of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import SecretName, is_about_secret
from observer.redaction.secrets import (
    UUID,
    Span,
    is_drawn_letters,
    is_encoded,
    is_placeholder,
    is_random,
)

_FAR = 100
"""Characters that may stand between a name and what looks drawn."""
_MOST_LINES = 3
_SIGNS = (
    r"\s\"'`\\\])}>:=|,(\[{<~+*!./\u2192\u662f\u4e3a\u70ba\uc740\ub294\u306f\u304c\uff1a"
    r"\u2500-\u257f\u00bb\u201c\u201e\u00ab-"
)
_TAIL = lazy(r"(?:w(?:or)?d|wort|phrase|code)?s?(?![a-z])(?P<more>[A-Za-z0-9_-]{0,40}+)")
_DIRECT = lazy(rf"[{_SIGNS}]{{1,40}}+")
_STATEMENT = lazy(r"\spass[ \t]*(?:#.*)?(?:\r?\n|\Z)")
"""One of Python."""
_RESULT = lazy(r"(?<!\w)PASS: ")
_DATA_LENGTH = 24
_DATA = lazy(rf"[A-Za-z0-9+/]{{{_DATA_LENGTH}}}")
_WORD = lazy(r"[A-Za-z\u00c0-\u024f]{2,}")
_INNER = r"[^\s\"'`<>|,;(){}\[\]]"
_TOKEN = lazy(
    rf"(?<!{_INNER})(?={_INNER}{{0,64}}?(?:[\d!#$%^*?@]|-\w+-\w+-|[a-z][A-Z]))"
    rf"{_INNER}{{8,256}}+"
)
_BARE = lazy(r"[^\s\"'`]{4,256}+")
_QUOTED = {sign: lazy(rf"[^{sign}\r\n]{{4,256}}?(?=\\{{0,7}}{sign})") for sign in "\"'`"}
_CUT = lazy(
    r"</|\[redacted:|\\+[nrt\"'`]|&(?=[\w.-]{1,64}=)|%26(?=[\w.-]{1,64}%3D)|[),;\]}>|]+(?=[),;\]}>|.:]*(?:\s|\Z|[\"'`]))"
    r"|[,;](?=[\w.-]{1,40}[=:])|[\u2500-\u257f\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uff0f]"
)
_LEADS = "!#$%&*+-./?@^_~"
_ENDS = ".,:;)]}>"
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
    r"|[a-z]+(?:_[a-z0-9]+)+\Z|[A-Z]+(?:_[A-Z0-9]+)+\Z|[~.]?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z"
    r"|[A-Za-z]+\$\d\Z|\$[A-Za-z_]\w*[|/;:]|[A-Za-z_$][\w$]*(?:\.[\w$]+)+[=(\[?|&]"
)
_CODE = lazy(r"[(){}\[\]]|\w(?:->|::|=>)\w|&&|\|\||==(?!\Z)|\\[a-z]")
_DIGESTS = lazy(
    r"sha|md5|hash|digest|commit|checksum|fingerprint|etag|integrity|revision|uuid|\bid"
)
_CAMEL = lazy(
    r"(?=.*[A-Z])(?:[A-Z]?[a-z]+\d{0,5})+(?:[A-Z]{2,4}\d?)?"
    r"|(?=.*[A-Z])(?:(?:[A-Z]{1,6}|[A-Z]{0,4}[a-z]{2,})\d{0,3}(?:[-_.]\d{0,3}|\Z|(?=[A-Z]))[-_.]?)+"
)
"""Names of code, types, licences."""
_BASE64 = lazy(r"(?=.{0,20}[A-Z])(?=.{0,20}[a-z])[A-Za-z0-9+/]{20,}={0,2}")
_PHRASE = lazy(r"(?:[^\W\d_]{3,}-){3,5}(?:[^\W\d_]{3,}|\d{2,4})")
_NAMES = lazy(
    r"pass|secret|token|key|cred|auth|user|name|your|the-|-of-|-and-|-for-|-to-|-a-|-in-|based",
    re.IGNORECASE,
)
_SYMBOLS = lazy(r"[!#$%&*+=?@^~]")


_ACCOUNTS = frozenset({"login", "log in", "sign in", "logon", "signin", "creds"})
"""Words behind which a user's name stands before the secret."""


def near(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that stands close to a secret's name; None if none does."""
    tail = _TAIL.match(text, found.end())
    if tail is None or is_about_secret(text, found.start(), tail) or _is_no_name(text, found):
        return None
    gap = _DIRECT.match(text, tail.end())
    if gap is not None and (gap[0].strip() or word.gate != "auth"):
        start, end = _bounds(text, gap.end())
        if _is_value(text, found, word=word, gap=gap[0], bounds=(start, end)):
            return Span(start, end, word.name)
    if word.gate in _ACCOUNTS:
        return _behind(text, tail.end(), word)
    if word.is_weak or word.gate == "auth" or _is_verb(text, found, tail):
        return None
    return _behind(text, tail.end(), word) or _before(text, found.start(), word)


def _is_no_name(text: str, found: re.Match[str]) -> bool:
    """Return True for a statement of Python, a test's result and what stands in encoded data."""
    start = found.start()
    if start >= _DATA_LENGTH and _DATA.match(text, start - _DATA_LENGTH):
        return True
    return bool(_STATEMENT.match(text, start - 1) or _RESULT.match(text, start))


def _is_value(
    text: str, found: re.Match[str], *, word: SecretName, gap: str, bounds: tuple[int, int]
) -> bool:
    """Return True if what stands directly behind a name, but for signs, is its value."""
    start, end = bounds
    value = text[start:end]
    if gap.count("\n") > _MOST_LINES or (
        word.is_weak and _is_hex(value) and (gap != "=" or "-" in value)
    ):
        return False
    is_joined = gap.strip() != "" or _is_alone(text, found, start, end)
    if "," in gap and not (gap == ", " and text.startswith(",", end)):
        is_joined = False  # the next of a list
    return _is_drawn(value) or _is_made_up(value, word, is_joined=is_joined)


_ALONE = lazy(r"[ \t$#>]*(?:[\w.@*:/-]{1,24}[ \t]+){0,5}[\w.-]{0,40}\Z")
_REST_ALONE = lazy(r"[ \t]*(?:[\w*-]{1,12}[ \t]*){0,2}(?:[\r\n;]|\Z)")


def _is_verb(text: str, found: re.Match[str], tail: re.Match[str]) -> bool:
    """Return True for `pass` alone, which is a word of every language."""
    before = text[max(0, found.start() - 1) : found.start()]
    return found[0] == "pass" and tail[0] == "" and not (before.isalnum() or before in "_-.")


def _is_alone(text: str, found: re.Match[str], start: int, end: int) -> bool:
    """Return True if a line is little more than a name and a value."""
    if not _REST_ALONE.match(text, end) or "\n" in text[found.end() : start]:
        return False
    line = text.rfind("\n", 0, found.start()) + 1
    return found.start() - line < 80 and _ALONE.match(text, line, found.start()) is not None


def _behind(text: str, at: int, word: SecretName) -> Span | None:
    for token in _TOKEN.finditer(text, at, at + _FAR):
        if span := _apart(text, token.start(), text[at : token.start()], word):
            return span
    return None


def _is_line(text: str, start: int, end: int) -> bool:
    """Return True for what is all of its line."""
    return text[start - 1 : start] == "\n" and text[end : end + 1] in {"", "\n"}


_UP_TO_NAME = lazy(r"(?:[\s\"'`)|,<].*)?\s[\"'`]?[A-Za-z_.-]*")


def _before(text: str, at: int, word: SecretName) -> Span | None:
    line = text.rfind("\n", max(0, at - _FAR), at) + 1
    for token in _TOKEN.finditer(text, max(line, at - _FAR), at):
        between = text[token.end() : at]
        if UUID.fullmatch(token[0]) or not _UP_TO_NAME.fullmatch(between):
            continue  # what has an id of its own is named before it
        if span := _apart(text, token.start(), between, word):
            return span
    return None


def _apart(text: str, place: int, between: str, word: SecretName) -> Span | None:
    """Return what stands apart from a name, if it is a value, the more words the surer."""
    words = len(_WORD.findall(between))
    lines = between.count("\n")
    is_close = between[-1:] not in " \t\n" or between.rstrip()[-1:] in ":=>/"
    is_close = is_close or "<<" in between  # a here-document
    start, end = _bounds(text, place)
    value = text[start:end]
    is_below = lines == 1 and _is_line(text, start, end) and not _is_hex(value)
    if words > 7 or lines > 2 or (lines and not (is_close or is_below)):
        return None
    if ";" in between or ("[redacted:" in between and between.endswith("]")):
        return None
    is_joined = (is_close and "," not in between) or (
        words < 4 and word.is_password and not set(between) & set(",;(){}[]")
    )
    is_made_up = words < 4 or is_close
    is_strong = between.count("\n") == 0 and _is_strong(value)
    if (
        _is_drawn(value, between)
        or is_strong
        or (is_made_up and _is_made_up(value, word, is_joined=is_joined))
    ):
        return Span(start, end, word.name)
    return None


def _bounds(text: str, at: int) -> tuple[int, int]:
    """Return where the value around a place starts and ends."""
    start = at
    while start and text[start - 1] in _LEADS and not text[start - 2 : start - 1].isalnum():
        start -= 1
    before = text[start - 1 : start]
    inside = _QUOTED[before].match(text, start) if before in _QUOTED else None
    if inside is not None and " " not in inside[0]:
        return start, inside.end() - 2 * inside[0].endswith(("\\r", "\\n"))
    bare = _BARE.match(text, start)
    if bare is None:
        return at, at
    end = bare.end()
    if cut := _CUT.search(text, max(start + 1, at), end):
        end = cut.start()
    frame = text[start - 1 : start] if text[start - 1 : start] in "*_" else ""
    return start, start + len(text[start:end].rstrip(_ENDS + frame))


def _is_hex(value: str) -> bool:
    return not value.strip("0123456789abcdefABCDEF-")


def _is_drawn(value: str, between: str = "") -> bool:
    if not (is_random(value) or is_drawn_letters(value) or is_encoded(value)) or _CAMEL.fullmatch(
        value.lstrip("-").replace("_", "")
    ):
        return False
    if is_placeholder(value) or (_NO_VALUE.match(value) and not _BASE64.fullmatch(value)):
        return False
    if _is_hex(value) or UUID.search(value):
        return between == "" or not _DIGESTS.search(between.lower())
    return not _CODE.search(value)


def _is_made_up(value: str, word: SecretName, *, is_joined: bool) -> bool:
    value = value.strip("*_`")
    is_weak = word.is_weak and word.gate not in _ACCOUNTS
    if len(value) < 6 or is_weak or _CODE.search(value) or _NO_VALUE.match(value):
        return False
    symbols = len(_SYMBOLS.findall(value))
    has_digit = any(map(str.isdigit, value))
    if is_placeholder(value) or not any(map(str.isalpha, value)):
        return False
    if (
        (is_joined or word.is_password or word.is_weak)
        and _PHRASE.fullmatch(value)
        and not _NAMES.search(value)
    ):
        return True
    if not (has_digit or symbols > 1):
        return False
    if symbols:
        return len(value) >= 8 and not (value.isupper() or (value.islower() and not has_digit))
    takes_plain = word.is_password or word.gate == "credential"
    return is_joined and takes_plain and len(value) >= 8 and not set(value) & set("/:")


def looks_secret(value: str, word: SecretName) -> bool:
    """Return True for the value of a cell whose heading names a secret."""
    return _is_drawn(value) or _is_made_up(value, word, is_joined=True)


_VALUE = r"[\"']?(?P<value>[^\s\"'|;]{8,128})"
_TYPED = {
    "-": lazy(rf"-(?<=\s-)(?:[pPwWaAkKxX]|-?pw|-?pass|-?pwd)[ =]?{_VALUE}"),
    "/p": lazy(rf"/p(?<=\s/p)(?:w|ass|wd)?:{_VALUE}"),
    "echo ": lazy(rf"echo (?:-\w+ )?{_VALUE}"),
    "printf ": lazy(rf"printf (?:%s )?{_VALUE}"),
    "<<<": lazy(rf"<<< ?{_VALUE}"),
    ":": lazy(r":(?<=\w:)(?P<value>[^\s\"'@,;:(){}\[\]<>]{8,128})(?=[\s\"'@]|\Z)"),
}
_USER = lazy(r"(?:\A|[\s\"'=(/])([A-Za-z][\w.-]{2,31})\Z")
_USERLESS = lazy(
    r"(?i:\w*(?:sha\d*|md5|id|hash|etag|digest|integrity|image|ref|urn|arn|data))|[A-Z]\w+"
)


def typed_secrets(text: str) -> Iterator[Span]:
    """Yield what looks drawn behind an option that often takes a password, or behind a user."""
    for sign, pattern in _TYPED.items():
        if sign not in text:
            continue
        for found in pattern.finditer(text):
            value = found["value"].rstrip(_ENDS)
            if sign == ":":
                user = _USER.search(text, max(0, found.start() - 34), found.start())
                if user is None or _USERLESS.fullmatch(user[1]):
                    continue
            if (sign == ":" or text[found.start("value") - 1].isalpha()) and (
                _PHRASE.fullmatch(value) or "/" in value
            ):
                continue
            if not _is_hex(value) and (_is_typed(value) or (sign != ":" and _is_strong(value))):
                yield Span(found.start("value"), found.start("value") + len(value), "password")


def _is_strong(value: str) -> bool:
    """Return True for what mixes both cases, digits and signs, as rules for passwords demand."""
    kinds = (str.islower, str.isupper, str.isdigit, _SYMBOLS.match)
    is_mixed = all(any(map(kind, value)) for kind in kinds)
    return is_mixed and not _NO_VALUE.match(value) and not _CODE.search(value)


def _is_typed(value: str) -> bool:
    if _PHRASE.fullmatch(value):
        return not _NAMES.search(value)
    symbols = len(_SYMBOLS.findall(value))
    return _is_drawn(value) and (symbols > 1 or len(value) > 15 or not value.islower())
