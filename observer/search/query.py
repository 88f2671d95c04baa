"""What a search looks for: any user text becomes a plan.

First step of a search, pure. A text that uses operators is taken at its word; every other text is
natural language: any of its words may match, closeness and exactness are rewarded later. No text is
an error.

The query language is FTS5's operators, read by a parser of our own: ``AND``, ``OR`` and ``NOT`` in
capitals (``NOT`` binds tightest, then ``AND``), ``"exact phrase"``, ``prefix*``, ``column:term``,
``NEAR(a b, 5)``, parentheses. Operands side by side are all required. Whatever `parse` returns is
legal FTS5, since every word in it is quoted and every operator is one that the parser understood.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from observer.core.errors import BadInput
from observer.core.model import COLUMNS, spaced
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
    """Return the pieces of a text.

    ``NOT`` in idioms such as ``NOT NULL`` is a plain word; ``AND NOT`` is ``NOT``.
    """
    found = [
        QueryToken(match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]
    return [
        QueryToken("word", token.text) if _is_idiom(found, place) else token
        for place, token in enumerate(found)
        if found[place : place + 2] != _AND_NOT
    ]


def uses_operators(found: list[QueryToken]) -> bool:
    """Return True if a text uses the query language: an operator, or only quoted phrases."""
    kinds = {token.kind for token in found}
    return kinds == {"phrase"} or not kinds.isdisjoint({"operator", "column", "near", "prefix"})


def parse(found: list[QueryToken]) -> Expression:
    """Read tokens as one expression.

    Raises:
        BadInput: they are no expression; the message says what is wrong with them.
    """
    parser = _Parser(found)
    fts = parser.alternatives()
    if parser.kind:
        raise BadInput(f"{parser.text} does not belong there")
    return Expression(fts=fts, terms=tuple(parser.terms), prefixes=tuple(parser.prefixes))


def _is_idiom(found: list[QueryToken], place: int) -> bool:
    if found[place] != ("operator", "NOT"):
        return False
    before = found[place - 1].text if place else ""
    after = found[place + 1].text if place + 1 < len(found) else ""
    return before in _IDIOM_BEFORE or after in _IDIOM_AFTER


class _Parser:
    """Recursive descent; each method reads one rule of the grammar and returns it as FTS5."""

    def __init__(self, found: list[QueryToken]) -> None:
        self.terms: list[str] = []
        self.prefixes: list[str] = []
        self._found = found
        self._next = 0
        self._depth = 0
        self._operands = 0

    @property
    def kind(self) -> str:
        return self._found[self._next].kind if self._next < len(self._found) else ""

    @property
    def text(self) -> str:
        return self._found[self._next].text if self._next < len(self._found) else "the end"

    def alternatives(self) -> str:
        return self._joined("OR", self._requirements)

    def _requirements(self) -> str:
        return self._joined("AND", self._exclusions)

    def _exclusions(self) -> str:
        parts = [self._side_by_side()]
        kept = len(self.terms)
        while self._took("operator", "NOT"):
            parts.append(self._side_by_side())
        del self.terms[kept:]
        return _group(" NOT ", parts)

    def _side_by_side(self) -> str:
        parts = [self._operand()]
        while self.kind not in {"", "operator", "close"}:
            parts.append(self._operand())
        return _group(" AND ", parts)

    def _joined(self, operator: str, rule: Callable[[], str]) -> str:
        parts = [rule()]
        while self._took("operator", operator):
            parts.append(rule())
        return _group(f" {operator} ", parts)

    def _operand(self) -> str:
        column = self.text if self.kind == "column" else ""
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
        while self.kind not in {"", "comma", "close"}:
            strings.append(self._string())
        distance = ""
        if self._took("comma"):
            if not re.fullmatch(r"[0-9]{1,4}", self.text):
                raise BadInput("the distance of NEAR is not a number")
            distance = f", {self.text}"
            self._next += 1
        self._expect("close", "a parenthesis is not closed")
        return f"NEAR({' '.join(strings)}{distance})"

    def _string(self) -> str:
        kind, text = self.kind, self.text
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
        fits = self.kind == kind and text in {"", self.text}
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
    """What to look for.

    `words` are single words, in the order of the text; `shapes` are texts whose words must stand
    side by side (identifiers, file names, quoted phrases), `prefixes` beginnings of words: of
    abbreviated hashes. With operators, `expression` is the user's own and must hold, and `words`,
    `shapes` and `prefixes` are its operands. All empty: nothing can match. `text` is what means
    something: the words as written.
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
    made = _plan(clean)
    if is_whole:
        return made
    cut = f"only the first and the last {half:,} characters were read"
    return msgspec.structs.replace(made, notice="; ".join(filter(None, (made.notice, cut))))


def _plan(clean: str) -> QueryPlan:
    if not clean:
        return QueryPlan()
    found = tokens(clean)
    if not uses_operators(found):
        unclosed = any(token.kind == "stray" for token in found)
        return _words(clean, "a quotation mark is not closed" if unclosed else "")
    if _is_prose(found):
        return _words(clean, "operators stand between single words or parentheses")
    try:
        expression = parse(found)
    except BadInput as wrong:
        return _words(clean, wrong.message)
    operands = _words(" ".join(map(quoted, expression.terms)), "")
    return msgspec.structs.replace(
        operands, text=" ".join(expression.terms), prefixes=expression.prefixes,
        expression=expression.fts, notice="",
    )  # fmt: skip


def parts(text: str) -> list[str]:
    """Return the words of a text as the index parts them: at punctuation and at humps."""
    return [piece for word in words_of(text) for piece in pieces(word)]


def _words(text: str, reason: str) -> QueryPlan:
    words: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for phrase, bare in _PIECE.findall(text):
        for piece in [phrase] if phrase else [bare]:
            _take(piece, words, shapes)
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


def _take(piece: str, words: dict[str, str], shapes: dict[str, str]) -> None:
    """Add the words of a quoted phrase or of one run of characters, and its shape if several."""
    whole = words_of(piece)
    if not whole or max(map(len, whole)) > MAX_WORD:
        return
    inside = parts(piece)
    for word in (*whole, *inside):
        words.setdefault(word.casefold(), word)
    if 1 < len(inside) <= MAX_TERMS and not STOP_WORDS.issuperset(map(str.casefold, inside)):
        shape = " ".join(inside)
        shapes.setdefault(shape.casefold(), shape)


def _is_prose(found: list[QueryToken]) -> bool:
    """Return True for a sentence that merely contains AND, OR or NOT.

    A query names single words between its operators; a sentence runs on.
    """
    run: list[str] = []
    is_near = False
    for token in (*found, QueryToken("", "")):
        is_near = token.kind == "near" or (is_near and token.kind != "close")
        if token.kind == "word" and not is_near:
            run.append(token.text.casefold())
            continue
        if len(run) > 3 or (len(run) > 1 and not STOP_WORDS.isdisjoint(run)):
            return True
        run = []
    return False
