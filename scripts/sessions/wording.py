"""Faults of items that can be counted without reading: empty, raw or misdated ones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from observer.core.events import Commit, Prompt
from observer.core.model import Item
from sessions.kept import Kept
from sessions.measures import Measure, Scored, count, line, share

_GROUP = "items"
_SPEAKING = frozenset({"delegation", "prompt", "research", "summary", "tool-use"})
"""Types of items that should speak plain words; a command may well hold JSON."""
_JSON = re.compile(r"[{\[]\s*\"[\w.-]+\"\s*[:,]|\[\{")
_BOILERPLATE = re.compile(
    r"(?i)implement the following plan|this session is being continued|<[a-z-]+>|caveat:|/[a-z-]+\b"
    r"|\[request interrupted|fix (?:them|it|this)\b|(?:yes|ok|go|continue|thanks)\b[.!]?$"
)
_UNCOMMITTED = re.compile(r"(?:[Nn]ot|[Uu]n)[ -]?committed(?: yet)?:? (.*?)(?:\.$|\. |\n|$)")
_PATH = re.compile(r"[\w./@+-]*\w[\w./@+-]*\.\w+")


class _Uncommitted(NamedTuple):
    """A file that a summary calls uncommitted; whether it was at its end, and remains so."""

    item: Item
    path: str
    was: bool
    remains: bool


def scored(kept: Kept) -> Scored:
    """Return the counts of items by type, and of those with a fault that a machine can see."""
    items = kept.items
    research = [item for item in items if item.type == "research"]
    summaries = [item for item in items if item.kind == "summary"]
    faults = {
        "research without files": [i for i in research if not (i.files_read or i.files_modified)],
        "raw JSON in title or narrative": [
            i for i in items if i.type in _SPEAKING and _JSON.search(_words(i))
        ],
        "summaries titled by boilerplate": [i for i in summaries if _BOILERPLATE.match(i.title)],
        "summaries dated before their first prompt": list(_misdated(kept, summaries)),
    }
    types = Counter(f"{item.type} items" for item in items)
    claims = list(_uncommitted(kept, summaries))
    measures: list[Measure] = [
        *(count(_GROUP, name, number) for name, number in sorted(types.items())),
        *(count(_GROUP, name, len(found)) for name, found in faults.items()),
        share(_GROUP, "'not committed' true then", sum(c.was for c in claims), len(claims)),
        share(_GROUP, "'not committed' true now", sum(c.remains for c in claims), len(claims)),
    ]
    wrong = [
        f"{name}: #{item.id} {line(item.title, 100)}"
        for name, found in faults.items()
        for item in found
    ]
    wrong += [f"'not committed': #{c.item.id} {c.path}" for c in claims if not c.was]
    return Scored(measures=tuple(measures), wrong=tuple(wrong))


def _words(item: Item) -> str:
    return f"{item.title}\n{item.narrative}"


def _misdated(kept: Kept, summaries: list[Item]) -> Iterator[Item]:
    first: dict[int, int] = {}
    for each in kept.events:
        if isinstance(each.event.body, Prompt) and each.session_id:
            first.setdefault(each.session_id, each.event.at_ms)
    for item in summaries:
        if item.session_id in first and item.created_ms < first[item.session_id]:
            yield item


def _uncommitted(kept: Kept, summaries: list[Item]) -> Iterator[_Uncommitted]:
    """Yield the files that summaries call uncommitted: what git had then, and what it has since."""
    names = {each.session_id: each.event.session for each in kept.events}
    dirty = {each.session: each.dirty for each in kept.log.ends}
    committed: dict[str, int] = defaultdict(int)
    for each in kept.events:
        if isinstance(each.event.body, Commit):
            for file in each.event.body.files:
                committed[file.path] = max(committed[file.path], each.event.at_ms)
    for item in summaries:
        name = names.get(item.session_id, "")
        for path in _paths(item) if name in dirty else ():
            yield _Uncommitted(item, path, path in dirty[name], committed[path] <= item.updated_ms)


def _paths(item: Item) -> list[str]:
    shown = item.summary.next_steps if item.summary else ""
    found = _UNCOMMITTED.search(shown)
    return _PATH.findall(found[1]) if found else []
