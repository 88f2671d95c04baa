"""What is redacted where there is no secret: counted by sort of text, with its surroundings."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from leaks.ordinary import Ordinary
from observer.redaction.redact import redact_text

_MARK = re.compile(r"\[redacted:[\w-]+\]")
_AROUND = 40
"""Characters shown before and behind what was redacted."""
_MOST_SHOWN = 400
_MOST_ALIGNED = 20
"""Marks in a line up to which each is distinguished from the text that it stands in."""


class Mark(NamedTuple):
    """A redaction: where, and what was redacted with what stands around it."""

    name: str
    rule: str
    shown: str


class Count(NamedTuple):
    """What was found in the texts of a sort; the seconds are of processor time."""

    sort: str
    characters: int
    marks: tuple[Mark, ...]
    seconds: float

    @property
    def per_mb(self) -> float:
        """Redactions in a million characters."""
        return 1e6 * len(self.marks) / max(self.characters, 1)

    @property
    def seconds_per_mb(self) -> float:
        """Seconds of processor time for a million characters."""
        return 1e6 * self.seconds / max(self.characters, 1)


def count(texts: Iterable[Ordinary]) -> list[Count]:
    """Return what is redacted in texts, by their sort."""
    sizes: dict[str, int] = {}
    marks: dict[str, list[Mark]] = {}
    seconds: dict[str, float] = {}
    for each in texts:
        begun = time.process_time()
        clean = redact_text(each.text)
        seconds[each.sort] = seconds.get(each.sort, 0.0) + time.process_time() - begun
        sizes[each.sort] = sizes.get(each.sort, 0) + len(each.text)
        marks.setdefault(each.sort, []).extend(_marks(each, clean))
    return [Count(sort, sizes[sort], tuple(marks[sort]), seconds[sort]) for sort in sizes]


def merged(sort: str, counts: Sequence[Count]) -> Count:
    """Return counts as one."""
    return Count(
        sort,
        sum(each.characters for each in counts),
        tuple(mark for each in counts for mark in each.marks),
        sum(each.seconds for each in counts),
    )


def _marks(each: Ordinary, clean: str) -> Iterator[Mark]:
    """Yield the redactions that the text did not hold itself, with what they stand for."""
    if clean == each.text:
        return
    pairs = [(each.text, clean)]
    if each.text.count("\n") == clean.count("\n"):
        pairs = list(zip(each.text.split("\n"), clean.split("\n"), strict=True))
    at = 0
    for before, after in pairs:
        if before != after:
            for rule, (start, end) in _spans(before, after):
                yield Mark(each.name, rule, _shown(each.text, at + start, at + end))
        at += len(before) + 1


def _spans(before: str, after: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what each mark says, and the span before of what it stands for.

    Where this is unknown, it is all.
    """
    marks = [found[0] for found in _MARK.finditer(after)]
    found = None
    if len(marks) <= _MOST_ALIGNED:
        kept = map(re.escape, _MARK.split(after))
        found = re.fullmatch("(.*?)".join(kept), before, re.DOTALL)
    for number, rule in enumerate(marks, start=1):
        if not found:
            yield rule, (0, len(before))
        elif found[number] != rule:
            yield rule, found.span(number)


def _shown(text: str, start: int, end: int) -> str:
    before, behind = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    return f"{before}⟦{text[start:end][:_MOST_SHOWN]}⟧{behind}".replace("\n", "⏎")
