"""What may take the place of a draft's line when a language model words it anew. Pure.

Kind, place and source of a line are written here and never asked of a model. What says other
things than the line did is refused: names and numbers may neither come nor go, nor may a "not".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from observer.core.text import one_line
from observer.notes.drafts import LINE_CHARS, Draft
from observer.observations.prompt_injection import suspicion
from observer.redaction.redact import redact_text
from observer.search.query import STOP_WORDS

_LINE = re.compile(r"(?P<head>- \[[^\]\n]+\] )(?P<said>.+)(?P<tail> \(#(?P<item>\d+)\))")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SENTENCE = re.compile(r"(?:^|[.!?:;]\s+)\W*(\w+)")
_IN_NAMES = re.compile(r"[\w.][/\\_@=<>.:#+*-]+\w|\w[A-Z]|^[/~@#$.-]\w|\(\)")
_EDGES = ".,;:!?\"'()[]{}\u2026\u2013\u2014"
_DENIALS = re.compile(
    r"\b(?:not|no|never|none|nothing|without|cannot|fails?|failed)\b|n['\u2019]t\b", re.IGNORECASE
)


class DraftLine(NamedTuple):
    """A line of a draft: its number in the text, what it says, and the item that it is from."""

    number: int
    said: str
    item: int


def lines_of(draft: Draft) -> Iterator[DraftLine]:
    """Yield the lines that are from an item."""
    for number, line in enumerate(draft.text.split("\n")):
        if found := _LINE.fullmatch(line):
            yield DraftLine(number, found["said"], int(found["item"]))


def with_words(draft: Draft, said: Mapping[int, str]) -> Draft:
    """Return a draft with other words in its lines, by their numbers; all else as it was."""
    lines = draft.text.split("\n")
    for number, words in said.items():
        if found := _LINE.fullmatch(lines[number]):
            lines[number] = f"{found['head']}{words}{found['tail']}"
    return draft._replace(text="\n".join(lines))


def words_of(answer: str) -> str:
    """Return the words of a model for a line as they may stand in one."""
    return one_line(redact_text(answer), LINE_CHARS)


def refusal(before: str, after: str) -> str:
    """Return why words may not take the place of others; "" if they may."""
    if not after or "[[" in after or suspicion(after):
        return "it says nothing, links, or imitates markup"
    if sorted(_NUMBER.findall(before)) != sorted(_NUMBER.findall(after)):
        return "its numbers are others"
    if bool(_DENIALS.search(before)) != bool(_DENIALS.search(after)):
        return "it denies what was said, or the other way round"
    known = {word.casefold() for word in _words(before)}
    if new := [name for name in _names(after) if name.casefold() not in known]:
        return f"it names {new[0]!r}"
    if lost := [name for name in _names(before) if _IN_NAMES.search(name) and name not in after]:
        return f"it leaves out {lost[0]!r}"
    return ""


def _words(text: str) -> Sequence[str]:
    """Return the words of a text, those inside of names too."""
    whole = (word.strip(_EDGES) for word in text.replace("`", " ").split())
    return [*filter(None, whole), *re.findall(r"\w+", text)]


def _names(text: str) -> Iterator[str]:
    """Yield what is called so: code, paths, and words with a capital that no sentence asks for."""
    begin = {found.start(1) for found in _SENTENCE.finditer(text)}
    for found in re.finditer(r"[^\s`]+", text):
        word = found[0].strip(_EDGES)
        at = found.start() + found[0].find(word)
        is_plain = at in begin and word.casefold() in STOP_WORDS
        if word and (_IN_NAMES.search(word) or (word[0].isupper() and not is_plain)):
            yield word
