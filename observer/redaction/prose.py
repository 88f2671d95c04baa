"""Passwords in prose and in tables: `the password for staging is …`, `пароль: …`.

Part of step 4 (redaction). Most of what people write about secrets is not one, so a value must
mix letters with digits or signs, and be neither an algorithm, a measure nor a name. In tables
(Markdown, database clients, values separated by commas, semicolons or tabs) passwords stand below
or beside a cell that says so, and must look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import Span, is_placeholder, is_random

Words: TypeAlias = tuple[str, ...]

_FAMILIAR: Words = ("password", "passwort", "passwd", "passcode", "passphrase")
_FOREIGN: Words = (
    *("kennwort", "contraseña", "mot de passe", "palavra-passe", "senha", "hasło", "şifre"),
    *("lösenord", "jelszó", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
_SHORT: Words = ("pass", "pw", "pwd")
_KEYS: Words = ("token", "api key", "api-key")
_ACCOUNTS: Words = ("credentials", "login", "log in", "sign in")
_OF = (
    r"(?:[ ](?:for|of|to|on|from|für|von|zum|zur|auf|de|del|para|pour|du|för|voor|do|для|от)"
    r"(?:[ ][\w.@'/-]{1,40}){1,5}?)?"
)
_IS = (
    r"(?:'s|[ ](?:is|was|ist|war|lautet|es|est|é|è|är|er|jest|je|on))"
    r"[ ](?:now[ ]|still[ ]|jetzt[ ])?(?:[:=][ ])?|[ ](?:is|ist)[:=][ ]?|[ ]?[은는はが是为為][ ]?"
)
_SET = r"[ ](?:(?:was|is|has[ ]been)[ ])?(?:changed|set|reset|updated)[ ]to[ ]"
_BESIDE = "|".join(
    f"(?<={before}[ ]password)[ ]"
    for before in (r"\buse", r"\bwith", r"\bthe", r"\btry", r"\bhas", ",", "/")
)
_INSERTED = r",[ ](?=[^\s,]{6,64},[ ](?:is|was|has|does|works)\b)"
_QUOTED = r"[ ](?=\\{0,3}[\"'`“„«])"
_WHOLE = r"(?:(?<=\bpass)|(?<=\bpw)|(?<=\bpwd))"
_OF_ACCOUNT = (
    r"(?:[ ](?:with|as|using|are|for))?:?[ ][\w.@-]{1,40}(?:[ ](?:and|with)[ ]|[ ]?[/,:][ ]?)"
    r"(?:password[ ])?"
)
_VALUE = r"[\\\"'`“„«*]{0,4}(?P<secret>[!#-&*-:=?-\[\]-_a-~]{6,128}+)(?![({])"
_PATTERNS = {
    words: lazy(f"{_OF}(?:{ways}){_VALUE}")
    for words, ways in (
        (
            _FAMILIAR,
            f"{_SET}|{_IS}|{_BESIDE}|{_INSERTED}|{_QUOTED}|(?<=\\bset[ ]the[ ]password)[ ]to[ ]",
        ),
        (_FOREIGN, rf"{_IS}|[ ]?[:=\uff1a][ ]?|[ ]"),
        (_SHORT, rf"{_WHOLE}(?:{_IS}|:[ ])"),
        (_KEYS, _IS),
        (_ACCOUNTS, _OF_ACCOUNT),
    )
}
_NAMED_AFTER = lazy(
    r"\buse[ ][\"'`]?(?P<secret>[!#-&*-:=?-\[\]-_a-~]{6,64})[\"'`]?[ ]as[ ]"
    r"(?:(?:the|a|my|our|your)[ ])?(?:[a-z]{1,16}[ ])?password"
)

_SHARED = ("pass", "api", "log")
_GATES: dict[str, list[tuple[str, Words]]] = {}
"""Words by what they share: most text holds neither, and is asked once for all of them."""
for _words in _PATTERNS:
    for _word in _words:
        _gate = next((part for part in _SHARED if part in _word), _word)
        _GATES.setdefault(_gate, []).append((_word, _words))

_MADE_UP = lazy(r"(?=.*[A-Za-z])(?=.*[\d!#$%^&*@+=?~])[^(){}\[\]\\|]{6,}")
_KNOWN = lazy(
    r"(?:utf|sha|md|base|argon|[bs]crypt|pbkdf|aes|rsa|ed|[hre]s|hmac|crc|iso|rfc|http|oauth|v)"
    r"[-_]?\d.*"
    r"|\d+[-_]?[a-z]+(?:-[a-z]+)*"  # 8-character
    r"|[a-z]+[?*:=]*|.*(?:/|::|->|==|&&|\*{3}).*"
    r"|\$.*|[a-z_]\w*(?:[.=-][a-z_]\w*)+",  # a variable, an attribute, an option
    re.IGNORECASE,
)


def prose_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the secrets that prose names; `low` is the text in lower case, at equal offsets."""
    if " as " in low and "password" in low:
        yield from _named_after(text)
    for gate in filter(low.__contains__, _GATES):
        for word, words in _GATES[gate]:
            pattern = _PATTERNS[words]
            at = 0
            while (found := low.find(word, at)) >= 0:
                at = found + len(word)
                match = pattern.match(text, at)
                if match and (
                    value := invented_secret(match["secret"], must_be_random=words is _KEYS)
                ):
                    start = match.start("secret")
                    yield Span(
                        start, start + len(value), "api-key" if words is _KEYS else "password"
                    )


def _named_after(text: str) -> Iterator[Span]:
    for match in _NAMED_AFTER.finditer(text):
        if value := invented_secret(match["secret"]):
            yield Span(match.start("secret"), match.start("secret") + len(value), "password")


def invented_secret(word: str, *, must_be_random: bool = False) -> str:
    """Return the secret that a word is, without the sentence's end; "" if it is not one.

    With `must_be_random` it must look machine-generated.
    """
    value = word.rstrip(".,:;?*_")
    if not _MADE_UP.fullmatch(value) or _KNOWN.fullmatch(value) or is_placeholder(value):
        return ""
    return "" if must_be_random and not is_random(value) else value


_GATE = "passw"
_NAMED = lazy(r"passw(?:or[dt]|d)", re.IGNORECASE)
_FRAME = " \"'`*\r"
_RULER = lazy(r"\s*[|:+=-][\s|:+=-]*")
_NAME = r"\"?[\w.-]{1,40}\"?"
_HEADER = lazy(rf"{_NAME}(?:(?:,{_NAME})+|(?:;{_NAME})+|(?:\t[\w. -]{{1,40}})+)\r?")
_SEPARATORS = "|\t;,"
_VAIN = 8
"""Rows without a password after which a column is believed to hold none."""


def table_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the passwords in tables; `low` is the text in lower case, at equal offsets."""
    at = low.find(_GATE)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        head, end = _line(text, start)
        for span in _of_table(text, head, start):
            end = max(end, span.end)  # each row is part of one table
            yield span
        at = low.find(_GATE, end)


def _of_table(text: str, head: str, start: int) -> Iterator[Span]:
    """Yield the passwords below, or beside, the cells of a line that say so; most say nothing."""
    sign = next((each for each in _SEPARATORS if each in head), "")
    named = _named(head, sign) if sign else set()
    if not named or (sign != "|" and not _HEADER.fullmatch(head)):
        return
    if sign == "|":
        yield from _secrets(head, sign, {column + 1 for column in named}, start)
    vain, end = 0, start + len(head)
    while end < len(text) and vain < _VAIN:
        start = end + 1
        row, end = _line(text, start)
        if sign == "|" and _RULER.fullmatch(row):
            continue
        if row.count(sign) != head.count(sign):
            return
        found = list(_secrets(row, sign, named, start))
        vain = 0 if found else vain + 1
        yield from found


def _named(head: str, sign: str) -> set[int]:
    cells = head.split(sign)
    return {at for at, cell in enumerate(cells) if _NAMED.fullmatch(cell.strip(_FRAME))}


def _line(text: str, start: int) -> tuple[str, int]:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return text[start:end], end


def _secrets(row: str, sign: str, columns: set[int], start: int) -> Iterator[Span]:
    """Yield the cells of a row that stand in some columns, if they are passwords."""
    for column, cell in enumerate(row.split(sign)):
        bare = cell.strip(_FRAME) if column in columns else ""
        if bare and " " not in bare and (value := invented_secret(bare)):
            begin = start + cell.index(value)
            yield Span(begin, begin + len(value), "password")
        start += len(cell) + 1
