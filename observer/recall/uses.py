"""How a session made use of what it was shown: fetched it, cited it, edited its files; pure.

An id counts as it is written in answers and cards (`#142`), a title by its words: at least
`FEWEST_WORDS` of them, all in one text. Few are taken for used that were not; some that were are
missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from observer.events import AnyBody, Command, Commit, FileWrite, Intent, Prompt, Remember, Reply
from observer.filters import touches
from observer.interpret.wording import word_set
from observer.model import Item, Recorded, Use

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


def uses_of(recorded: Recorded, shown: Sequence[Item]) -> list[Use]:
    """Return what an event made of items that its session was shown before."""
    session = recorded.session_id
    if session is None:
        return []
    sort, ids = _used(recorded.event.body, shown)
    at_ms = recorded.event.at_ms
    return [Use(item=item, session=session, sort=sort, at_ms=at_ms) for item in ids]


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
