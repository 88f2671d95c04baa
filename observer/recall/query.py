"""What a search looks for: any user text becomes a plan, a plan becomes legal FTS5.

First step of a search, pure. A text that uses the operators of `recall.language` is taken at its
word; every other text is natural language: any of its words may match, closeness and exactness
are rewarded later. No text is an error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import combinations

from observer.errors import BadInput
from observer.events import Value
from observer.recall.language import MAX_TERMS, Token, parse, quoted, tokens, uses_operators

MAX_WORD = 200
"""Characters of one word that are looked at; what is longer is no word."""

MAX_SHAPES = 16
"""Exact sequences (identifiers, paths, quoted phrases) that one search tries."""

MOST_CLOSE = 5
"""Words of the longest query whose words are expected to stand together."""

CLOSE_DISTANCE = 3
"""Other words that may stand between words which count as close. Source: development sets."""

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

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Plan(Value):
    """What to look for.

    `words` are single words, in the order of the text; `shapes` are texts whose words must stand
    side by side (identifiers, file names, quoted phrases). With operators, `expression` is the
    user's own and must hold, and `words` are its operands. All empty: nothing can match.
    """

    words: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    expression: str = ""
    has_prefix: bool = False
    notice: str = ""


def plan(text: str) -> Plan:
    """Turn any text into a plan; `notice` says where it was not taken at its word."""
    clean = unicodedata.normalize("NFC", _UNUSABLE.sub(" ", text)).strip()
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
    return Plan(words=expression.terms, expression=expression.fts, has_prefix=expression.has_prefix)


def scored(wanted: Plan) -> str:
    """Return the expression that a match must satisfy and is scored by.

    Any of the words may hold; exact sequences and words standing close together are expressions
    of their own beside them, so that BM25 rewards them by their rarity.
    """
    if wanted.expression or not wanted.words:
        return wanted.expression
    rewards = []
    if 1 < len(wanted.words) <= MOST_CLOSE:
        near = " ".join(map(quoted, wanted.words))
        rewards = [f"NEAR({near}, {CLOSE_DISTANCE})", quoted(" ".join(wanted.words))]
    return " OR ".join([any_of((*wanted.words, *wanted.shapes)), *rewards])


def any_of(texts: Iterable[str]) -> str:
    """Return the expression that holds where one of the texts stands; empty for none."""
    return " OR ".join(quoted(text) for text in texts)


def two_of(texts: Iterable[str]) -> str:
    """Return the expression that holds where two of the texts stand; empty for fewer texts."""
    pairs = combinations(map(quoted, texts), 2)
    return " OR ".join(f"({one} AND {other})" for one, other in pairs)


def parts(text: str) -> list[str]:
    """Return the words of a text as the index parts them: at punctuation and at humps."""
    found = []
    for word in _WORD.findall(text):
        if word[1:].islower():
            found.append(word)
        else:
            found += _HUMP.split(word)
    return found


def _words(text: str, reason: str) -> Plan:
    words: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for phrase, bare in _PIECE.findall(text):
        for piece in [phrase] if phrase else [bare]:
            _take(piece, words, shapes)
    useful = [word for key, word in words.items() if key not in STOP_WORDS] or list(words.values())
    notices = [f"searched as plain words: {reason}"] if reason else []
    if not useful:
        notices = ["there is no word to search for"]
    if len(useful) > MAX_TERMS:
        notices.append(f"only the first {MAX_TERMS} words were searched")
    return Plan(
        words=tuple(useful[:MAX_TERMS]),
        shapes=tuple(shapes.values())[:MAX_SHAPES],
        notice="; ".join(notices),
    )


def _take(piece: str, words: dict[str, str], shapes: dict[str, str]) -> None:
    """Add the words of a quoted phrase or of one run of characters, and its shape if several."""
    whole = _WORD.findall(piece)
    if not whole or max(map(len, whole)) > MAX_WORD:
        return
    inside = parts(piece)
    for word in (*whole, *inside):
        words.setdefault(word.casefold(), word)
    if 1 < len(inside) <= MAX_TERMS and not STOP_WORDS.issuperset(map(str.casefold, inside)):
        shape = " ".join(inside)
        shapes.setdefault(shape.casefold(), shape)


def _is_prose(found: list[Token]) -> bool:
    """Tell a sentence that happens to hold AND, OR or NOT from a query.

    A query names single words between its operators; a sentence runs on.
    """
    run: list[str] = []
    is_near = False
    for token in (*found, Token("", "")):
        is_near = token.kind == "near" or (is_near and token.kind != "close")
        if token.kind == "word" and not is_near:
            run.append(token.text.casefold())
            continue
        if len(run) > 3 or (len(run) > 1 and not STOP_WORDS.isdisjoint(run)):
            return True
        run = []
    return False
