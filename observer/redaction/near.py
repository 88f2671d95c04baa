"""A secret's name and its value, whatever stands between the two.

Part of step 4 (redaction). A table, a pair, an option and its argument, prose: the forms in which
people and programs join a name and a value have no end. So what is known here is only that both
stand close together, and that the value looks drawn, or made up and directly behind the name.
Where a form says more than that, `key_values` needs less of the value.
"""

from __future__ import annotations

import re

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import SecretName, is_about_secret
from observer.redaction.secrets import UUID, Span, is_placeholder, is_random

_FAR = 100
"""Characters that may stand between a name and what looks drawn."""
_SIGNS = r"\s\"'`\\\])}>:=|,(\[{<~+*!.\u2192\u2500-\u257f\u00bb\u201c\u201e\u00ab-"
_TAIL = lazy(r"(?:w(?:or)?d|wort|phrase|code)?s?(?![a-z])(?P<more>[A-Za-z0-9_-]{0,40}+)")
_DIRECT = lazy(rf"[{_SIGNS}]{{1,40}}+")
_WORDS = lazy(
    rf"(?:[{_SIGNS}]{{1,24}}[A-Za-z\u00c0-\u024f.$@!#%/_]{{1,24}}+){{1,7}}?[{_SIGNS}]{{1,24}}"
    r"(?=[^\s\"'`]*\d)"
)
_BACK = lazy(r"(?P<value>[^\s\"'`]{8,128})[\"'`)]*(?:\s+[|#\\/<-]*){1,3}(?:[a-z]{1,12}\s+){0,4}[\w.$-]*\Z", re.IGNORECASE)
_BARE = lazy(r"[^\s\"'`]{4,256}+")
_QUOTED = {sign: lazy(rf"[^{sign}\r\n]{{4,256}}?(?=\\{{0,7}}{sign})") for sign in "\"'`"}
_CUT = lazy(
    r"</|\\+[nrt\"'`]|&(?=[\w.-]{1,64}=)|[),;\]}>|]+(?=[),;\]}>|.:]*(?:\s|\Z|[\"'`]))"
    r"|[,;](?=[\w.-]{1,40}[=:])|[\u2500-\u257f]"
)
_LEADS = "!#$%&*+-./?@^_~"
_ENDS = ".,:;?*_)]}>"
_NO_VALUE = lazy(
    r"https?:|\w+://|(?:~|\.{1,2})?/(?:[\w.-]+/)*[\w.-]*\Z|[\d.,:/x-]+\Z|[A-Za-z]:\\|[$%@&][A-Za-z_]+\Z"
    r"|\d{4}-\d\d-\d\d|(?:sha|md|utf|rfc|iso|base|v|aes|rsa|hs|es|rs)-?\d+(?![A-Za-z0-9]{6})|<[\w!/]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|\w+=\w",
    re.IGNORECASE,
)
_CODE = lazy(r"[(){}\[\]]|\w(?:->|::|=>)\w|&&|\|\||==")
_DIGESTS = lazy(r"sha|md5|hash|digest|commit|checksum|fingerprint|etag|integrity|revision|uuid|\bid")
_SYMBOLS = lazy(r"[!#$%&*+=?@^~]")


def near(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that stands close to a secret's name; None if none does."""
    tail = _TAIL.match(text, found.end())
    if tail is None or is_about_secret(text, found.start(), tail):
        return None
    gap = _DIRECT.match(text, tail.end())
    if gap is not None:
        is_option = text.startswith("--", max(0, text.rfind(" ", 0, found.start())) + 1)
        start, end = _bounds(text, gap.end())
        value = text[start:end]
        is_joined = is_option or gap[0].strip(" \t") != ""
        if gap[0].count("\n") < 4 and (_is_drawn(value) or _is_made_up(value, word, is_joined)):
            return Span(start, end, word.name)
    return _behind_words(text, tail.end(), word)


def _behind_words(text: str, at: int, word: SecretName) -> Span | None:
    words = _WORDS.match(text, at, at + _FAR)
    if words is None or words[0].count("\n") > 2:
        return None
    start, end = _bounds(text, words.end())
    value = text[start:end]
    is_close = words[0][-1] not in " \t" or words[0].rstrip()[-1:] in ":=>"
    if _is_drawn(value, words[0]) or (is_close and _is_made_up(value, word, False)):
        return Span(start, end, word.name)
    return None


def _bounds(text: str, at: int) -> tuple[int, int]:
    """Return where the value around a place starts and ends."""
    start = at
    while start and text[start - 1] in _LEADS:
        start -= 1
    before = text[start - 1 : start]
    inside = _QUOTED[before].match(text, start) if before in _QUOTED else None
    if inside is not None and " " not in inside[0]:
        return start, inside.end()
    bare = _BARE.match(text, start)
    if bare is None:
        return at, at
    end = bare.end()
    if cut := _CUT.search(text, max(start + 1, at), end):
        end = cut.start()
    return start, start + len(text[start:end].rstrip(_ENDS))


def _is_drawn(value: str, between: str = "") -> bool:
    if not is_random(value) or is_placeholder(value) or _NO_VALUE.match(value):
        return False
    is_hex = not value.strip("0123456789abcdefABCDEF-")
    if is_hex or UUID.search(value):
        return between == "" or not _DIGESTS.search(between.lower())
    return not _CODE.search(value)


def _is_made_up(value: str, word: SecretName, is_joined: bool) -> bool:
    if len(value) < 6 or word.is_weak or _CODE.search(value) or _NO_VALUE.match(value):
        return False
    if is_placeholder(value) or not any(map(str.isdigit, value)) or value.isdigit():
        return False
    if _SYMBOLS.search(value):
        return len(value) >= 8 and any(map(str.isalpha, value))
    return is_joined and word.is_password and len(value) >= 8 and any(map(str.isalpha, value))
