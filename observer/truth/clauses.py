"""The words of a clause, where its verb stands, and what prepositions part behind that; pure.

`frames` makes roles of them. Each word is looked at a fixed number of times.
"""

from __future__ import annotations

import re

from observer.interpret.wording import word_set
from observer.truth import phrases
from observer.truth.stemming import Words, stem, stems
from observer.truth.verbs import NOUNS, class_of, is_base, is_past

BE = word_set("is are was were be been being am stay stays become becomes")
MODALS = word_set(
    "must should may might can could will would shall need needs has have had do does did cannot"
)
PREPOSITIONS = {
    "in": "in", "on": "on", "at": "at", "with": "with", "by": "by", "to": "to", "into": "to",
    "onto": "to", "from": "from", "for": "for", "as": "as", "under": "in", "inside": "in",
    "within": "in", "via": "through", "through": "through", "using": "with", "over": "over",
    "per": "per", "between": "between", "against": "against", "without": "without", "near": "at",
    "next": "at", "beside": "at", "above": "over", "below": "below", "after": "when",
    "before": "when", "when": "when", "if": "when", "while": "when", "until": "until",
    "once": "when", "during": "when", "unless": "when", "whenever": "when", "about": "about",
    "towards": "to", "toward": "to", "off": "from", "across": "in", "among": "in",
}  # fmt: skip
SAYERS = word_set("we you i people they everybody everyone somebody someone let please lets one us")
_STOPS = word_set("that which who whose where because so")
_WORD = re.compile(
    r"[\w./~*]?[a-z0-9][\w+.#/&*-]*[\w+#/*]|[a-z0-9]|:(?=\s|$)|,(?=\s|$)", re.IGNORECASE
)
_PATH = re.compile(r"[./~*_].*|.*[/_*]|.*[/_].*")
"""What is written like a path or an identifier, and stands for itself."""
_SHORT = (
    ("can't", "cannot"), ("won't", "will not"), ("n't", " not"), ("takes care of", "maintains"),
    ("take care of", "maintain"), ("taken care of", "maintained"), (" off ", " "),
    ("'ll", " will"), ("'re", " are"), ("'ve", ""), ("'d", ""), ("'s", ""),
    ("going to ", ""), ("has to ", "must "), ("have to ", "must "), ("needs to ", "must "),
    ("need to ", "must "), ("ought to ", "must "), (" at least", ""), (" at most", ""),
    (" up to", ""), ("as of ", ""), (" back ", " "),
    ("in charge of", "responsible for"), (" out of ", " from "), (" instead of ", " without "),
    (" rather than ", " without "),
)  # fmt: skip
_NAME = re.compile(r"(?<=[^.!?:]\s)([A-Z][\w+.#&-]*|[a-z]+[A-Z]\w*|[\w./+-]*[\d_/.][\w./+-]*\w)")
ADVERBS = word_set(
    "always never not only just now also too still already again simply directly then instead "
    "no longer all"
)
Places = tuple[tuple[str, Words], ...]
"""Groups of prepositions, and the words behind each."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, short forms written out; paths are words."""
    lowered = text.lower()
    for short, full in _SHORT:
        lowered = lowered.replace(short, full)
    return _WORD.findall(lowered)


def known(text: str) -> Words:
    """Return the stems of all words of a text, of those too that say nothing."""
    return frozenset(word if _PATH.fullmatch(word) else stem(word) for word in words_of(text))


def names_of(text: str) -> Words:
    """Return the stems of what a text writes like a name, a version or a path."""
    return frozenset(one for found in _NAME.finditer(text) for one in _stemmed(found[1].lower()))


def unfronted(words: list[str]) -> list[str]:
    """Return words with what stands before "we" behind the rest: "for icons we use …"."""
    if words[0] in PREPOSITIONS:
        for at, word in enumerate(words[1:8], 1):
            if word in SAYERS:
                return [word for word in words[at:] if word != ","] + words[:at]
    return words


def said_at(words: list[str]) -> int:
    """Return where a clause begins behind "let's", "we" and the like."""
    said = (at for at, word in enumerate(words) if word not in SAYERS and word not in ADVERBS)
    return next(said, len(words))


def verb_at(words: list[str], start: int) -> int | None:
    """Return where the verb stands that says something of what stands before it, if any does."""
    for place, word in enumerate(words[start:], start):
        if _ends_clause(word) or (word == "," and place > start + 3):
            break
        if word in BE or word in MODALS:
            return place
    if start < len(words) and is_base(words[start]) and words[start] not in NOUNS:
        return None
    return _finite_at(words, start)


def _finite_at(words: list[str], start: int) -> int | None:
    """Return the last of the first forms of verbs that stand side by side: "reviews take"."""
    found = None
    for place in range(start + 1, len(words)):
        if _ends_clause(words[place]) or (found is not None and found != place - 1):
            break
        if _is_finite(words[place - 1], words[place]):
            found = place
    return found


def _ends_clause(word: str) -> bool:
    return word in _STOPS or PREPOSITIONS.get(word) == "when"


def _is_finite(before: str, word: str) -> bool:
    """Return True for a form of a verb that what stands before it may have."""
    if before in PREPOSITIONS or (before in phrases.EMPTY and before not in ADVERBS):
        return False
    if class_of(word) is None:
        return False
    if is_base(word):
        return before.endswith("s") or word not in NOUNS
    return word.endswith("s") or is_past(word)


def _stemmed(word: str) -> list[str]:
    """Return what a word says: a path stands for itself."""
    return [word] if _PATH.fullmatch(word) else sorted(stems(word))


def parts(words: list[str]) -> tuple[tuple[str, ...], Places]:
    """Return what stands behind a verb: its object's stems in order, and what prepositions say."""
    value: list[str] = []
    places: list[tuple[str, list[str]]] = []
    for word in words:
        if word in _STOPS:
            break
        if word in PREPOSITIONS:
            places.append((PREPOSITIONS[word], []))
        elif word not in {",", ":"}:
            (places[-1][1] if places else value).extend(_stemmed(word))
    return tuple(value), tuple((group, frozenset(found)) for group, found in places if found)
