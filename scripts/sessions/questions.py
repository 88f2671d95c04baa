"""What search finds, after all sessions, for questions about what happened in them.

The `questions.jsonl` of a corpus holds `question`, `answer`, and `all_of`: patterns that must all
match the text of an item that answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from observer.core.model import Item, columns_of
from observer.core.value import Value
from sessions.kept import Kept
from sessions.measures import Scored, line, share
from sessions.product import Reading

_GROUP = "questions"
_DEPTHS = (1, 3, 5)


class _Question(Value):
    question: str
    all_of: tuple[str, ...]


def scored(kept: Kept) -> Scored:
    """Return for how many questions an answer is among the first hits; no question, no figure."""
    questions = _read(kept.corpus / "questions.jsonl")
    if not questions:
        return Scored(measures=())
    at_ms = max(step.at_ms for step in kept.steps)
    folder, most = kept.repositories[0].folder, _DEPTHS[-1]
    with Reading(kept.home, at_ms) as memory:
        found = [memory.search(one.question, folder, limit=most)[:most] for one in questions]
    places = list(map(_place, questions, found))
    return Scored(
        measures=tuple(
            share(_GROUP, f"answered by the first {depth}", good, len(questions))
            for depth in _DEPTHS
            for good in [sum(place < depth for place in places)]
        ),
        wrong=tuple(
            f"{one.question} | {', '.join(f'#{item.id} {line(item.title, 60)}' for item in hits)}"
            for one, hits, place in zip(questions, found, places, strict=True)
            if place == most
        ),
    )


def _read(file: Path) -> Sequence[_Question]:
    lines = file.read_bytes().splitlines() if file.exists() else ()
    return [msgspec.json.decode(each, type=_Question) for each in lines]


def _place(asked: _Question, hits: Sequence[Item]) -> int:
    """Return how many hits stand before the first that answers; all of the most if none does."""
    for place, item in enumerate(hits):
        text = " ".join(columns_of(item))
        if all(re.search(pattern, text) for pattern in asked.all_of):
            return place
    return _DEPTHS[-1]
