"""What search finds, after all sessions, for questions about what happened in them.

The file of questions holds `question`, `answer`, and `all_of`: patterns that must all match the
text of an item that answers, or what is printed of it in a list. The baseline asks turns and
commits, as they were written, by reciprocal ranks of plain words and of meaning.
`questions/first.jsonl` asks about the sessions of the public repository context-evaluator;
nothing in them, nor in those of other repositories that were tried, answers
`questions/unanswerable.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from observer.core.model import columns_of
from observer.core.value import Value
from sessions.kept import Kept
from sessions.measures import Scored, line, share
from sessions.product import Reading
from sessions.turns import Words, fused, units

_GROUP = "questions"
_DEPTHS = (1, 3, 5)
_UNANSWERABLE = Path(__file__).parent / "questions" / "unanswerable.jsonl"


class _Question(Value):
    question: str
    all_of: tuple[str, ...] = ()


def scored(kept: Kept) -> Scored:
    """Return for how many questions an answer is among the first hits; no question, no figure."""
    questions = _read(kept.questions)
    if not questions:
        return Scored(measures=())
    at_ms = max(step.at_ms for step in kept.steps)
    folder, most = kept.repositories[0].folder, _DEPTHS[-1]
    with Reading(kept.home, at_ms) as memory:
        found = [memory.search(one.question, folder, limit=most)[:most] for one in questions]
        printed = [memory.read(one.question, folder, limit=most) for one in questions]
        texts = _baseline(kept, memory, questions)
        unanswerable = _read(_UNANSWERABLE)
        empty = [not memory.read(one.question, folder, limit=1) for one in unanswerable]
    places = [
        _place(one, [" ".join(columns_of(item)) for item in hits])
        for one, hits in zip(questions, found, strict=True)
    ]
    ranked = {
        "": places,
        ", as printed": list(map(_place, questions, printed)),
        ", turns and commits": list(map(_place, questions, texts)),
    }
    return Scored(
        measures=(
            *(
                share(_GROUP, f"answered by the first {depth}{by}", good, len(questions))
                for by, each in ranked.items()
                for depth in _DEPTHS
                for good in [sum(place < depth for place in each)]
            ),
            share(_GROUP, "nothing found where nothing answers", sum(empty), len(empty)),
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


def _baseline(kept: Kept, memory: Reading, questions: Sequence[_Question]) -> list[Sequence[str]]:
    """Return for each question the texts of the turns and commits that the baseline finds first."""
    texts = [unit.text for unit in units(kept.repositories)]
    words = Words(dict(enumerate(texts)))
    vectors = memory.vectors([*texts, *(one.question for one in questions)])
    meant = vectors[len(texts) :] @ vectors[: len(texts)].T
    found = []
    for one, scores in zip(questions, meant, strict=True):
        worded = words.search(one.question, before=len(texts), limit=len(texts))
        near = [int(number) for number in (-scores).argsort()]
        found.append([texts[number] for number in fused(worded, near)[: _DEPTHS[-1]]])
    return found


def _place(asked: _Question, texts: Sequence[str]) -> int:
    """Return how many texts stand before the first that answers; all of the most if none does."""
    for place, text in enumerate(texts):
        if all(re.search(pattern, text) for pattern in asked.all_of):
            return place
    return _DEPTHS[-1]
