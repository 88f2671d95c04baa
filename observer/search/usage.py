"""How useful items proved to be: weights from their use where they were shown; pure.

A weight is a smoothed ratio that decays with time. Over the sessions in which an item was shown or
used, each counting 1 and half as much after `HALF_LIFE_MS`,

    share = (used + STRENGTH * EXPECTED) / (sessions + STRENGTH)

and the weight is piecewise linear in it: `LEAST` at a share of 0, 1 at `EXPECTED`, `MOST` at 1. An
item without events weighs exactly 1, and one session moves it little.

`usage_events` finds how a session used what it was shown: it fetched or cited it, or edited its
files. An id counts as answers and cards write it (`#142`), a title by at least `FEWEST_WORDS` of
its words in one text, which misses some uses rather than inventing them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    FileWrite,
    Intent,
    Prompt,
    Remember,
    Reply,
)
from observer.core.filters import touches
from observer.core.model import Item, Recorded, UsageEvent
from observer.core.text import word_set
from observer.core.value import Value

HALF_LIFE_MS = 30 * 86_400_000
KEPT_MS = 8 * HALF_LIFE_MS
"""Age at which a use counts for next to nothing and is deleted."""
GRACE_MS = 30 * 60_000
"""A session this young may still use what it was shown: until then it counts only if it did."""
EXPECTED = 0.25
"""Share of sessions that use what they are shown, before anything is known of an item."""
STRENGTH = 4.0
"""Sessions that this expectation is worth."""
LEAST, MOST = 0.7, 1.5


class Usefulness(Value):
    """What is known of an item's use. `weight` is between `LEAST` and `MOST`, 1 for nothing."""

    weight: float = 1.0
    shown: int = 0
    """Sessions that it was shown to."""
    used: int = 0
    """Sessions that fetched or cited it, or edited its files."""
    uses: tuple[UsageEvent, ...] = ()
    """What that rests on, oldest first."""


UNKNOWN = Usefulness()


def usefulness(uses: Iterable[UsageEvent], *, now_ms: int) -> Mapping[int, Usefulness]:
    """Return the usefulness of each item that has uses, by its id."""
    of_items: dict[int, list[UsageEvent]] = defaultdict(list)
    for use in uses:
        of_items[use.item].append(use)
    return {item: _usefulness(uses, now_ms) for item, uses in of_items.items()}


def _usefulness(uses: list[UsageEvent], now_ms: int) -> Usefulness:
    shown = {use.session: use.at_ms for use in uses if use.sort == "shown"}
    used: dict[int, int] = {}
    for use in uses:
        if use.sort != "shown":
            used[use.session] = max(use.at_ms, used.get(use.session, 0))
    ignored = (
        at_ms
        for session, at_ms in shown.items()
        if session not in used and now_ms - at_ms > GRACE_MS
    )
    worth = sum(_decayed(at_ms, now_ms) for at_ms in used.values())
    lost = sum(_decayed(at_ms, now_ms) for at_ms in ignored)
    share = (worth + STRENGTH * EXPECTED) / (worth + lost + STRENGTH)
    return Usefulness(weight=_weight(share), shown=len(shown), used=len(used), uses=tuple(uses))


def _decayed(at_ms: int, now_ms: int) -> float:
    return float(0.5 ** (max(0, now_ms - at_ms) / HALF_LIFE_MS))


def _weight(share: float) -> float:
    if share < EXPECTED:
        return LEAST + (1 - LEAST) * share / EXPECTED
    return 1 + (MOST - 1) * (share - EXPECTED) / (1 - EXPECTED)


Sort = Literal["shown", "fetched", "cited", "edited"]

FEWEST_WORDS = 3
MOST_FILES = 8
"""An item about more files than this, such as a large commit, is not about any one of them."""
SEARCHED_CHARS = 20_000
"""Of one text; what was cited is named long before."""

_ID = re.compile(r"(?<![\w#/&])#(\d{1,18})(?!\w)")
_SHOW = re.compile(r"\bobserver\s+(?:show|timeline)((?:\s+#?\d{1,18}\b)+)")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = word_set(
    """
    about added after also been before changed commit does file files from have into lines modified
    only that them then there these they this what when where which with
    """
)
"""Words that say nothing of what a title is about."""


def usage_events(recorded: Recorded, shown: Sequence[Item]) -> list[UsageEvent]:
    """Return what an event made of items that its session was shown before."""
    session = recorded.session_id
    if session is None:
        return []
    sort, ids = _used(recorded.event.body, shown)
    at_ms = recorded.event.at_ms
    return [UsageEvent(item=item, session=session, sort=sort, at_ms=at_ms) for item in ids]


def _used(body: AnyBody, shown: Sequence[Item]) -> tuple[Sort, list[int]]:
    match body:
        case Intent():
            return _used(body.of, shown)
        case FileWrite():
            return "edited", [item.id for item in shown if _is_about(item, body.path)]
        case Command():
            fetched = _ids(_SHOW.findall(body.command[:SEARCHED_CHARS]))
            return "fetched", [item.id for item in shown if item.id in fetched]
        case _:
            return "cited", _cited(_text(body)[:SEARCHED_CHARS], shown)


def _text(body: AnyBody) -> str:
    match body:
        case Prompt() | Reply():
            return body.text
        case Commit():
            return f"{body.subject}\n{body.message}"
        case Remember():
            return f"{body.title}\n{body.content}"
        case _:
            return ""


def _is_about(item: Item, path: str) -> bool:
    files = item.files_modified or item.files_read
    return len(files) <= MOST_FILES and any(touches(path, file) for file in files)


def _cited(text: str, shown: Sequence[Item]) -> list[int]:
    named, words = _ids(_ID.findall(text)), _words(text)
    return [item.id for item in shown if item.id in named or _is_titled(item, words)]


def _is_titled(item: Item, words: frozenset[str]) -> bool:
    title = _words(item.title)
    return len(title) >= FEWEST_WORDS and title <= words


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _COMMON


def _ids(texts: Iterable[str]) -> frozenset[int]:
    return frozenset(int(number) for text in texts for number in _NUMBER.findall(text))
