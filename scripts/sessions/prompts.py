"""What search finds at real prompts: of earlier sessions, what is about the files edited next.

An item is relevant by 2 if it changed a file that the session edits after the prompt, by 1 if it
only read one. *Strict* leaves out items of more than five files, which are about everything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from observer.core.model import Item
from sessions.corpus import Repository
from sessions.kept import Asked, Kept
from sessions.measures import Scored, count, line, mean
from sessions.starts import KNOWN_AFTER
from sessions.transcript import HookEvent
from sessions.words import Words

_GROUP = "prompts"
_FEW_FILES, _ANY = 5, 1_000_000
_HITS, _DEPTH, _CANDIDATES = 5, 10, 200


class _Case(NamedTuple):
    """A prompt that edits follow: what search found, and what plain words find."""

    asked: Asked
    edited: frozenset[str]
    hits: Sequence[Item]
    words: Sequence[Item]
    known: Sequence[Item]


def scored(kept: Kept, *, known_after: int = KNOWN_AFTER) -> Scored:
    """Return hit@5 and nDCG@10 of search at the prompts that edits follow."""
    words = Words(kept.items)
    late = [asked for asked in kept.log.prompts if asked.number > known_after]
    cases = [case for asked in late if (case := _case(kept, asked, words))]
    measures = []
    for sort, most_files in (("loose", _ANY), ("strict", _FEW_FILES)):
        asked = [each for each in cases if any(_gains(each, each.known, most_files))]
        for name in ("hits", "words"):
            found = [_gains(each, getattr(each, name), most_files) for each in asked]
            ideal = [_gains(each, each.known, most_files) for each in asked]
            by = ", plain words" if name == "words" else ""
            hits = [float(any(gains[:_HITS])) for gains in found]
            ndcg = [_ndcg(*pair) for pair in zip(found, ideal, strict=True)]
            measures += [
                mean(_GROUP, f"hit@{_HITS}, {sort}{by}", hits),
                mean(_GROUP, f"nDCG@{_DEPTH}, {sort}{by}", ndcg),
            ]
    types = Counter(item.type for each in cases for item in each.hits[:_HITS])
    measures += [count(_GROUP, f"{name} in the top {_HITS}", types[name]) for name in sorted(types)]
    wrong = [each for each in cases if not any(_gains(each, each.hits[:_HITS], _FEW_FILES))]
    return Scored(measures=tuple(measures), wrong=tuple(map(_shown, wrong)))


def _case(kept: Kept, asked: Asked, words: Words) -> _Case | None:
    repository = next(each for each in kept.repositories if each.name == asked.repository)
    transcript = next(each for each in repository.transcripts if each.session == asked.session)
    edited = frozenset(_edited(repository, transcript.events[asked.place :]))
    if not edited:
        return None
    own = {each.session_id for each in kept.events if each.event.session == asked.session}
    others = {item.id: item for item in kept.items if item.session_id not in own - {None}}
    plain = words.search(asked.prompt, before=asked.next_item, limit=_CANDIDATES)
    return _Case(
        asked=asked,
        edited=edited,
        hits=[others[item] for item in asked.hits if item in others],
        words=[others[item] for item in plain if item in others],
        known=[item for item in others.values() if item.id < asked.next_item],
    )


def _gains(case: _Case, items: Sequence[Item], most_files: int) -> list[int]:
    return [_gain(item, case.edited, most_files) for item in items]


def _gain(item: Item, edited: frozenset[str], most_files: int) -> int:
    changed, read = set(item.files_modified), set(item.files_read)
    if len(changed | read) > most_files:
        return 0
    return 2 if changed & edited else int(bool(read & edited))


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
