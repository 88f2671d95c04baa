"""What search finds at real prompts: of earlier sessions, what is about the files edited next.

An item is relevant by 2 if it changed a file that the session edits after the prompt, by 1 if it
only read one. *Strict* leaves out items of more than five files, which are about everything.
Three baselines stand beside it: plain words over the same items, and reciprocal ranks of plain
words and of the newest over turns, or turns and commits, as they were written.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from observer.core.model import Item, columns_of
from sessions.corpus import Repository
from sessions.kept import Asked, Kept
from sessions.measures import Scored, count, line, mean
from sessions.starts import KNOWN_AFTER
from sessions.transcript import HookEvent
from sessions.turns import Unit, Words, fused, units

_GROUP = "prompts"
_FEW_FILES, _ANY = 5, 1_000_000
_HITS, _DEPTH, _CANDIDATES = 5, 10, 200


class _Touched(NamedTuple):
    """The files that an item or a unit changed and read."""

    changed: frozenset[str]
    read: frozenset[str]


class _Case(NamedTuple):
    """A prompt that edits follow: what search found of what was known, and what baselines find."""

    asked: Asked
    edited: frozenset[str]
    hits: Sequence[Item]
    known: Sequence[_Touched]
    found: Mapping[str, Sequence[_Touched]]


_BASELINES = ("plain words", "turns", "turns and commits")


def scored(kept: Kept, *, known_after: int = KNOWN_AFTER) -> Scored:
    """Return hit@5 and nDCG@10 of search, and of baselines, at the prompts that edits follow."""
    past = _Past(kept)
    late = [asked for asked in kept.log.prompts if asked.number > known_after]
    cases = [case for asked in late if (case := _case(kept, asked, past))]
    measures = []
    for sort, most_files in (("loose", _ANY), ("strict", _FEW_FILES)):
        asked = [each for each in cases if any(_gains(each, each.known, most_files))]
        ideal = [_gains(each, each.known, most_files) for each in asked]
        for name in ("", *_BASELINES):
            found = [_gains(each, each.found[name], most_files) for each in asked]
            by = f", {name}" if name else ""
            hits = [float(any(gains[:_HITS])) for gains in found]
            ndcg = [_ndcg(*pair) for pair in zip(found, ideal, strict=True)]
            measures.append(mean(_GROUP, f"hit@{_HITS}, {sort}{by}", hits))
            if name in ("", _BASELINES[0]):  # the others are of other units
                measures.append(mean(_GROUP, f"nDCG@{_DEPTH}, {sort}{by}", ndcg))
    types = Counter(item.type for each in cases for item in each.hits[:_HITS])
    measures += [count(_GROUP, f"{name} in the top {_HITS}", types[name]) for name in sorted(types)]
    wrong = [each for each in cases if not any(_gains(each, each.found[""][:_HITS], _FEW_FILES))]
    return Scored(measures=tuple(measures), wrong=tuple(map(_shown, wrong)))


class _Past:
    """What baselines search: the product's items by their words, and turns and commits."""

    def __init__(self, kept: Kept) -> None:
        self.items = Words({item.id: " ".join(columns_of(item)) for item in kept.items})
        self.units = units(kept.repositories)
        self.words = Words(dict(enumerate(unit.text for unit in self.units)))

    def found(self, asked: Asked, *, with_commits: bool) -> list[_Touched]:
        """Return the units before a prompt, of other sessions, by words and newest first."""
        before = bisect_left(self.units, asked.at_ms, key=lambda unit: unit.at_ms)
        known = [
            number
            for number, unit in enumerate(self.units[:before])
            if unit.session != asked.session and (unit.session or with_commits)
        ]
        said = self.words.search(asked.prompt, before=before, limit=_ANY)
        worded = [number for number in said if number in set(known)]
        found = fused(worded, known[::-1]) if worded else known[::-1]
        return [_touched(self.units[number]) for number in found[:_CANDIDATES]]


def _case(kept: Kept, asked: Asked, past: _Past) -> _Case | None:
    repository = next(each for each in kept.repositories if each.name == asked.repository)
    transcript = next(each for each in repository.transcripts if each.session == asked.session)
    edited = frozenset(_edited(repository, transcript.events[asked.place :]))
    if not edited:
        return None
    own = {each.session_id for each in kept.events if each.event.session == asked.session}
    others = {item.id: item for item in kept.items if item.session_id not in own - {None}}
    plain = past.items.search(asked.prompt, before=asked.next_item, limit=_CANDIDATES)
    hits = [others[item] for item in asked.hits if item in others]
    found = {
        "": list(map(_touched, hits)),
        "plain words": [_touched(others[item]) for item in plain if item in others],
        "turns": past.found(asked, with_commits=False),
        "turns and commits": past.found(asked, with_commits=True),
    }
    known = [_touched(item) for item in others.values() if item.id < asked.next_item]
    return _Case(asked=asked, edited=edited, hits=hits, known=known, found=found)


def _touched(found: Item | Unit) -> _Touched:
    if isinstance(found, Unit):
        return _Touched(found.changed, frozenset())  # as turns are written
    return _Touched(frozenset(found.files_modified), frozenset(found.files_read))


def _gains(case: _Case, found: Sequence[_Touched], most_files: int) -> list[int]:
    return [_gain(one, case.edited, most_files) for one in found]


def _gain(one: _Touched, edited: frozenset[str], most_files: int) -> int:
    if len(one.changed | one.read) > most_files:
        return 0
    return 2 if one.changed & edited else int(bool(one.read & edited))


def _edited(repository: Repository, events: Sequence[HookEvent]) -> set[str]:
    paths = (
        event.payload["tool_input"].get("file_path", "")
        for event in events
        if event.event == "PostToolUse" and event.payload["tool_name"] in {"Edit", "Write"}
    )
    return set(filter(None, map(repository.relative, paths)))


def _ndcg(gains: Sequence[int], ideal: Sequence[int]) -> float:
    return _dcg(gains) / _dcg(sorted(ideal, reverse=True))


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:_DEPTH]))


def _shown(case: _Case) -> str:
    found = ", ".join(f"#{item.id} {item.type}" for item in case.hits[:_HITS])
    where = f"{case.asked.session[:8]} {case.asked.place}"
    return f"{where}: {line(case.asked.prompt, 100)} | {found}"
