"""What a search looks for: any user text becomes a plan.

First step of a search, pure. A text that uses the operators of `search.language` is taken at its
word; every other text is natural language: any of its words may match, closeness and exactness
are rewarded later. No text is an error.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from observer.core.errors import BadInput
from observer.core.value import Value
from observer.index import WORD_CHARS, pieces, words_of
from observer.search.language import MAX_TERMS, QueryToken, parse, quoted, tokens, uses_operators

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
