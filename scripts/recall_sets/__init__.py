"""Sets of questions written for this project: texts of mixed lengths, conversations, other words.

Texts and questions were written by hand, the texts around them are drawn from short lists. The
halves named `held` are for measuring only: no rule and no weight was chosen by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from evaluation.sets import Question, QuestionSet, SetDocument

from recall_sets import filling

FOLDER = Path(__file__).parent
HALVES = ("", "_held")


def written() -> list[QuestionSet]:
    """Return all sets: those about notes share their documents, and so do those about talks."""
    notes = {name: _pairs(name) for half in HALVES for name in (f"facts{half}", f"mixed{half}")}
    talks = {f"talks{half}": _turns(f"talks{half}") for half in HALVES}
    forms = (FOLDER / "events.txt").read_text().splitlines()
    # What people told in one form is told apart by its words alone; every other form is held.
    talks |= {f"events{half}": filling.events(forms[n::2]) for n, half in enumerate(HALVES)}
    return [
        *_sets(FOLDER / "notes", notes, filling.notes()),
        *_sets(FOLDER / "talks", talks, filling.turns()),
    ]


def _sets(
    source: Path, parts: dict[str, tuple[list[str], list[tuple[str, int]]]], around: Iterator[str]
) -> Iterator[QuestionSet]:
    """Yield a set a part; each asks the texts of all parts and those around them."""
    texts = [text for of_part, _ in parts.values() for text in of_part]
    numbers = {text: number for number, text in enumerate(dict.fromkeys([*texts, *around]))}
    documents = tuple(map(_document, numbers, numbers.values()))
    for name, (of_part, asked) in parts.items():
        questions = (
            Question(q=question, rel=(str(numbers[of_part[place]]),)) for question, place in asked
        )
        yield QuestionSet(name=name, source=source, documents=documents, questions=tuple(questions))


def _document(text: str, number: int) -> SetDocument:
    """Return a text as it is remembered: every other one with its beginning as its title."""
    if number % 2 and len(text) < filling.TITLE_CHARS:
        return SetDocument(id=str(number), title=text)
    title = text if len(text) <= filling.TITLE_CHARS else text[: filling.TITLE_CHARS] + "…"
    return SetDocument(id=str(number), title=title, narrative=text)


def _pairs(name: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the texts of a file and, for each, the question that it answers."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return lines[::2], [(question, place) for place, question in enumerate(lines[1::2])]


def _turns(name: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the turns of a file and its questions; `=` gives the turn of each, from 1."""
    turns: list[str] = []
    asked: list[tuple[str, int]] = []
    for talk in (FOLDER / f"{name}.txt").read_text().split("# ")[1:]:
        lines = talk.splitlines()[1:]
        questions = [line[2:] for line in lines if line.startswith("? ")]
        said = list(islice(lines, len(lines) - len(questions) - 1))
        answers = [len(turns) + int(place) - 1 for place in lines[-1][1:].split()]
        asked += zip(questions, answers, strict=True)
        turns += said
    return turns, asked
