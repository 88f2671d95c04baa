"""What is redacted where there is no secret: counted by sort of text, with its surroundings."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from leaks.ordinary import Ordinary
from observer.redaction.redact import redact_text

_MARK = re.compile(r"\[redacted:[\w-]+\]")
_AROUND = 40
"""Characters shown before and behind what was redacted."""


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
    place = at = 0
    for found in _MARK.finditer(clean):
        place += found.start() - at
        at = found.end()
        if each.text.startswith(found[0], place):
            place += len(found[0])
            continue
        following = clean[at : at + 20].partition("[redacted:")[0]
        end = each.text.find(following, place + 1) if following else len(each.text)
        end = place + 200 if end < 0 else end
        before = each.text[max(place - _AROUND, 0) : place]
        gone, behind = each.text[place:end], each.text[end : end + _AROUND]
        yield Mark(each.name, found[0], f"{before}⟦{gone}⟧{behind}".replace("\n", "⏎"))
        place = end


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
