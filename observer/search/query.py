"""What a search looks for: any user text becomes a plan; no text is an error.

A text that uses operators is taken at its word; of every other text any word may match. Operators
are FTS5's: ``AND``, ``OR`` and ``NOT`` in capitals (``NOT`` binds tightest, then ``AND``),
``"exact phrase"``, ``prefix*``, ``column:term``, ``NEAR(a b, 5)``, parentheses. Operands side by
side are all required. Whatever `parse` returns is legal FTS5: every word in it is quoted.

Of time words `dated` says which days they mean; weeks begin on Monday. A day, month or year by its
name counts only behind a word that makes it a time ("on Friday"): "may" and "march" are verbs too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.model import COLUMNS, spaced
from observer.core.patterns import lazy_pattern
from observer.core.value import Value
from observer.index import WORD_CHARS, pieces, words_of

MAX_TERMS = 64
"""Operands of one expression; FTS5 itself stops at an expression depth of 256."""

MAX_DEPTH = 20
"""Parentheses inside parentheses; the engine's own parser has a stack of 100."""

_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<column>(?:{"|".join(COLUMNS)}):(?=[^\s)]))
    | (?P<phrase>"(?:[^"]|"")*"\*?)
    | (?P<near>NEAR(?=\())
    | (?P<open>\() | (?P<close>\)) | (?P<comma>,) | (?P<stray>")
    | (?P<operator>(?:AND|OR|NOT)(?![^\s()]))
    | (?P<prefix>[^\s()",*]*[^\W_]\*(?![^\s()",]))
    | (?P<word>[^\s()",]+)
    """,
    re.VERBOSE,
)

_AFTER_PLAIN_NOT = (
    "ACCEPTABLE ALLOWED AUTHORIZED BETWEEN EXIST EXISTS EXTENDED FOUND IMPLEMENTED IN LIKE MODIFIED"
    " NULL SUPPORTED VALID"
)
_BEFORE_PLAIN_NOT = "CAN COULD DID DO DOES IF IS MAY MUST SHALL SHOULD WAS WHERE WILL WOULD"
_IDIOM_AFTER = frozenset(_AFTER_PLAIN_NOT.split())
_IDIOM_BEFORE = frozenset(_BEFORE_PLAIN_NOT.split())


class QueryToken(NamedTuple):
    """A piece of the text; `kind` is the name of the group of `_TOKEN` that took it."""

    kind: str
    text: str


_END = QueryToken("", "the end")
_AND_NOT = [QueryToken("operator", "AND"), QueryToken("operator", "NOT")]


class Expression(Value):
    """A legal FTS5 expression, the operands that a match may hold, and those that are prefixes."""

    fts: str
    terms: tuple[str, ...]
    prefixes: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """Return a text as an FTS5 string: its words, in this order, side by side."""
    return '"' + spaced(text).replace('"', '""') + '"'


def tokens(text: str) -> list[QueryToken]:
    """Return the pieces of a text; ``NOT`` of ``NOT NULL`` is a word, ``AND NOT`` is ``NOT``."""
    found = [
        QueryToken(match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]
    return [
        QueryToken("word", token.text)
        if token == _AND_NOT[1] and (before.text in _IDIOM_BEFORE or after.text in _IDIOM_AFTER)
        else token
        for before, token, after in zip([_END, *found], found, [*found[1:], _END], strict=False)
        if [token, after] != _AND_NOT
    ]


def uses_operators(found: list[QueryToken]) -> bool:
    """Return True if a text uses the query language: an operator, or only quoted phrases."""
    kinds = {token.kind for token in found}
    return kinds == {"phrase"} or not kinds.isdisjoint({"operator", "column", "near", "prefix"})


def parse(found: list[QueryToken]) -> Expression:
    """Read tokens as one expression.

    Raises: BadInput (they are no expression; the message says what is wrong with them).
    """
    parser = _Parser(found)
    fts = parser.alternatives()
    if parser.now.kind:
        raise BadInput(f"{parser.now.text} does not belong there")
    return Expression(fts=fts, terms=tuple(parser.terms), prefixes=tuple(parser.prefixes))


class _Parser:
    """Recursive descent; each method reads one rule of the grammar and returns it as FTS5."""

    def __init__(self, found: list[QueryToken]) -> None:
        self.terms: list[str] = []
        self.prefixes: list[str] = []
        self._found = [*found, _END]
        self._next = 0
        self._depth = 0
        self._operands = 0

    @property
    def now(self) -> QueryToken:
        return self._found[self._next]

    def alternatives(self) -> str:
        return self._joined("OR", lambda: self._joined("AND", self._exclusions))

    def _exclusions(self) -> str:
        parts = [self._side_by_side()]
        kept = len(self.terms)
        while self._took("operator", "NOT"):
            parts.append(self._side_by_side())
        del self.terms[kept:]
        return _group(" NOT ", parts)

    def _side_by_side(self) -> str:
        parts = [self._operand()]
        while self.now.kind not in {"", "operator", "close"}:
            parts.append(self._operand())
        return _group(" AND ", parts)

    def _joined(self, operator: str, rule: Callable[[], str]) -> str:
        parts = [rule()]
        while self._took("operator", operator):
            parts.append(rule())
        return _group(f" {operator} ", parts)

    def _operand(self) -> str:
        column = self.now.text if self.now.kind == "column" else ""
        self._next += bool(column)
        if self._took("open"):
            return f"{column}{self._parenthesis()}"
        if self._took("near"):
            return f"{column}{self._near()}"
        return f"{column}{self._string()}"

    def _parenthesis(self) -> str:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadInput(f"more than {MAX_DEPTH} parentheses inside each other")
        inside = self.alternatives()
        self._expect("close", "a parenthesis is not closed")
        self._depth -= 1
        return f"({inside})"

    def _near(self) -> str:
        self._expect("open", "NEAR needs parentheses")
        strings = [self._string()]
        while self.now.kind not in {"", "comma", "close"}:
            strings.append(self._string())
        distance = ""
        if self._took("comma"):
            if not re.fullmatch(r"[0-9]{1,4}", self.now.text):
                raise BadInput("the distance of NEAR is not a number")
            distance = f", {self.now.text}"
            self._next += 1
        self._expect("close", "a parenthesis is not closed")
        return f"NEAR({' '.join(strings)}{distance})"

    def _string(self) -> str:
        kind, text = self.now
        if kind not in {"word", "phrase", "prefix"}:
            raise BadInput(f"a word is missing before {text}")
        is_open = kind == "prefix" or text.endswith('"*')
        plain = text[: -1 if is_open else None]
        if kind == "phrase":
            plain = plain[1:-1].replace('""', '"')
        if not any(character.isalnum() for character in plain):
            raise BadInput(f"{text} holds no letter or digit")
        self._operands += 1
        if self._operands > MAX_TERMS:
            raise BadInput(f"more than {MAX_TERMS} operands")
        self._next += 1
        self.terms.append(plain)
        self.prefixes += [plain] if is_open else []
        return f"{quoted(plain)} *" if is_open else quoted(plain)

    def _took(self, kind: str, text: str = "") -> bool:
        fits = self.now.kind == kind and text in {"", self.now.text}
        self._next += fits
        return fits

    def _expect(self, kind: str, otherwise: str) -> None:
        if not self._took(kind):
            raise BadInput(otherwise)


def _group(joint: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({joint.join(parts)})"


MAX_WORD = WORD_CHARS
"""Characters of one word that are looked at; what is longer is no word."""

MAX_SHAPES = 16
"""Exact sequences (identifiers, paths, quoted phrases) that one search tries."""

MAX_CHARS = 4_000
"""Characters of a text that are read: a trace ends with its error, so half from either end."""

NO_WORD = "there is no word to search for"

_ENGLISH = (
    "a about after all also am an and any are as at be because been before being between both but"
    " by can could did do does doing during each few for from further had has have having he her"
    " here hers him his how i if in into is it its just me more most my no nor not of off on once"
    " only or other our ours out over own same she should so some such than that the their theirs"
    " them then there these they this those through to too under until up us very was we were what"
    " when where which while who whom why will with would you your yours"
    " s t don didn doesn isn wasn ll ve re"
)
STOP_WORDS = frozenset(_ENGLISH.split())

_ABBREVIATED = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,63}", re.IGNORECASE)
"""A hash as git abbreviates it: to as many digits as the repository needs."""

_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class QueryPlan(Value):
    """What to look for; `text` is what means something: the words as written.

    `words` are single words, in the order of the text; `shapes` are texts whose words must stand
    side by side (identifiers, file names, quoted phrases), `prefixes` beginnings of words: of
    abbreviated hashes. With operators, `expression` is the user's own and must hold, and `words`,
    `shapes` and `prefixes` are its operands. All empty: nothing can match.
    """

    text: str = ""
    words: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    expression: str = ""
    notice: str = ""


def plan(text: str) -> QueryPlan:
    """Turn any text into a plan; `notice` says where it was not taken at its word."""
    half = MAX_CHARS // 2
    is_whole = len(text) <= MAX_CHARS
    read = text if is_whole else f"{text[:half]}\n{text[1 - half :]}"
    clean = unicodedata.normalize("NFC", _UNUSABLE.sub(" ", read)).strip()
    made = _words(clean, "") if clean else QueryPlan()
    found = tokens(clean)
    if not uses_operators(found):
        if any(token.kind == "stray" for token in found):
            made = _words(clean, "a quotation mark is not closed")
    elif _is_prose(found):
        made = _words(clean, "operators stand between single words or parentheses")
    else:
        try:
            expression = parse(found)
        except BadInput as wrong:
            made = _words(clean, wrong.message)
        else:
            terms = _words(" ".join(map(quoted, expression.terms)), "")
            made = replace(
                terms,
                text=" ".join(expression.terms),
                prefixes=expression.prefixes,
                expression=expression.fts,
                notice="",
            )
    if is_whole:
        return made
    cut = f"only the first and the last {half:,} characters were read"
    return replace(made, notice="; ".join(filter(None, (made.notice, cut))))


def parts(text: str) -> list[str]:
    """Return the words of a text as the index parts them: at punctuation and at humps."""
    return [piece for word in words_of(text) for piece in pieces(word)]


def _words(text: str, reason: str) -> QueryPlan:
    words: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for phrase, bare in _PIECE.findall(text):
        # A quoted phrase, or one run of characters: its words, and its shape if they are several.
        whole = words_of(phrase or bare)
        if not whole or max(map(len, whole)) > MAX_WORD:
            continue
        inside = parts(phrase or bare)
        for word in (*whole, *inside):
            words.setdefault(word.casefold(), word)
        if 1 < len(inside) <= MAX_TERMS and not STOP_WORDS.issuperset(map(str.casefold, inside)):
            shape = " ".join(inside)
            shapes.setdefault(shape.casefold(), shape)
    useful = [word for key, word in words.items() if key not in STOP_WORDS] or list(words.values())
    notices = [f"searched as plain words: {reason}"] if reason else []
    if not useful:
        notices = [NO_WORD]
    if len(useful) > MAX_TERMS:
        notices.append(f"only the first and the last {MAX_TERMS // 2} words were searched")
    searched = _ends(useful, MAX_TERMS)
    return QueryPlan(
        text=text,
        words=searched,
        shapes=_ends(list(shapes.values()), MAX_SHAPES),
        prefixes=tuple(filter(_ABBREVIATED.fullmatch, searched)),
        notice="; ".join(notices),
    )


def _ends(texts: list[str], most: int) -> tuple[str, ...]:
    """Return the first and the last of more than are wanted: half from either end."""
    return tuple(texts if len(texts) <= most else texts[: most // 2] + texts[-(most // 2) :])


def _is_prose(found: list[QueryToken]) -> bool:
    """Return True for a sentence with AND, OR or NOT; a query has single words between them."""
    run: list[str] = []
    is_near = False
    for token in (*found, _END):
        is_near = token.kind == "near" or (is_near and token.kind != "close")
        if token.kind == "word" and not is_near:
            run.append(token.text.casefold())
            continue
        if len(run) > 3 or (len(run) > 1 and not STOP_WORDS.isdisjoint(run)):
            return True
        run = []
    return False


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3,
    "several": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

Days = tuple[date, date]
"""The first day, and the first that is behind the last."""
Match = re.Match[str]


class Dated(NamedTuple):
    """A query with time words: `rest` without them, `days` as shown, the time as in `Filters`."""

    rest: str
    days: str
    since_ms: int | None
    until_ms: int | None


def dated(text: str, *, now_ms: int, zone: tzinfo | None = None) -> Dated | None:
    """Return which time a query is about, by its first time words; None for any.

    In quotation marks words are but words. Days are those of a zone, this machine's if None.
    """
    if '"' in text:
        return None
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    for match, read in (
        (match, read) for words, read in _TIME_WORDS for match in words.finditer(text)
    ):
        with suppress(ValueError, OverflowError):  # no day of any calendar: 2026-13-40
            return _restricted(text, match, read(match, today), zone)
    return None


def _restricted(text: str, match: Match, days: Days, zone: tzinfo | None) -> Dated:
    """Return a query without the time words that were found in it."""
    first, end = days
    bound = (match["bound"] or "").lower()
    since = {"before": None, "until": None, "till": None, "after": end}.get(bound, first)
    until = {"before": first, "until": end, "till": end, "since": None, "after": None}.get(
        bound, end
    )
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    last = until and until - timedelta(days=1)
    if since and last:
        shown = str(since) if since == last else f"{since} to {last}"
    else:
        shown = f"from {since}" if since else f"until {last}"
    return Dated(
        rest=" ".join(rest.split()),
        days=shown,
        since_ms=_start_ms(since, zone) if since else None,
        until_ms=_start_ms(until, zone) if until else None,
    )


def day_start_ms(*, now_ms: int, ago: int = 0, zone: tzinfo | None = None) -> int:
    """Return when today began, or the day so many days ago, in a zone (as in `dated`)."""
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    return _start_ms(today - timedelta(days=ago), zone)


def _start_ms(day: date, zone: tzinfo | None) -> int:
    return int(datetime.combine(day, time(), zone).timestamp() * 1000)


def _of_unit(day: date, unit: str) -> Days:
    """Return the day, week, month or year that a day is in."""
    if unit == "day":
        return day, day + timedelta(days=1)
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=7)
    if unit == "month":
        return day.replace(day=1), _months(day, 1)
    return date(day.year, 1, 1), date(day.year + 1, 1, 1)


def _months(day: date, count: int) -> date:
    """Return the first day of the month that is so many months later."""
    number = day.year * 12 + day.month - 1 + count
    return date(number // 12, number % 12 + 1, 1)


def _back(day: date, unit: str, count: int) -> date:
    """Return a day of the unit that is so many units earlier."""
    if unit in {"day", "week"}:
        return day - timedelta(days=count * _DAYS[unit])
    return _months(day, -count * (12 if unit == "year" else 1))


def _number(match: Match) -> int:
    count = " ".join(match["count"].lower().split())
    return NUMBERS.get(count) or int(count)


def _weekday(match: Match, today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["name"].lower())) % 7
    if _which(match) == "last" and not back:
        back = 7
    return _of_unit(today - timedelta(days=back), "day")


def _month(match: Match, today: date) -> Days:
    number = MONTHS.index(match["name"].lower()) + 1
    newest = today.month - (_which(match) == "last")
    year = int(match["year"] or today.year - (number > newest))
    return _of_unit(date(year, number, 1), "month")


def _which(match: Match) -> str:
    return (match["which"] or "").strip().lower()


_PLAIN = r"(?:in|on|of|from|during|within|over)\s+(?:the\s+)?"
_BEFORE = rf"(?:(?P<bound>since|after|before|until|till)\s+(?:the\s+)?|{_PLAIN})"
_NAMED = rf"(?:{_BEFORE}|(?=(?:last|this)\s))(?P<which>(?:last|this)\s+)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)"
_OF_YEAR = r"(?P<year>(?:19|20)\d\d)"

_PATTERNS: tuple[tuple[str, Callable[[Match, date], Days]], ...] = (
    (
        rf"{_BEFORE}?(?P<day>today|yesterday)",
        lambda match, today: _of_unit(
            _back(today, "day", match["day"].lower() == "yesterday"), "day"
        ),
    ),
    (
        rf"{_BEFORE}?{_COUNT}\s+{_UNIT}s?\s+ago",
        lambda match, today: _of_unit(
            _back(today, unit := match["unit"].lower(), _number(match)), unit
        ),
    ),
    (
        rf"{_BEFORE}?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}s?",
        lambda match, today: (
            today - timedelta(days=_number(match) * _DAYS[match["unit"].lower()]),
            today + timedelta(days=1),
        ),
    ),
    (
        rf"{_BEFORE}?(?P<which>this|last|past|previous)\s+(?P<unit>week|month|year)",
        lambda match, today: _of_unit(
            _back(today, unit := match["unit"].lower(), int(_which(match) != "this")), unit
        ),
    ),
    (rf"{_NAMED}(?P<name>{'|'.join(WEEKDAYS)})", _weekday),
    (rf"{_NAMED}(?P<name>{'|'.join(MONTHS)})(?:\s+{_OF_YEAR})?", _month),
    (
        rf"{_BEFORE}(?P<iso>\d{{4}}-\d\d-\d\d)",
        lambda match, _: _of_unit(date.fromisoformat(match["iso"]), "day"),
    ),
    (rf"{_BEFORE}{_OF_YEAR}", lambda match, _: _of_unit(date(int(match["year"]), 1, 1), "year")),
)
_TIME_WORDS = tuple(
    (lazy_pattern(rf"(?<![\w-]){words}(?:'s)?(?![\w-])", re.IGNORECASE), read)
    for words, read in _PATTERNS
)
