"""How well the story of the work is told, measured on labelled sets.

Each module here owns one set: it reads the cases of a folder, asks interpretation, and yields what
was told beside what the labels want. Labels are written before they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from observer.evaluation.story import arcs, changes, outcomes
from observer.evaluation.story.score import Case

SETS: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "changes": changes.cases,
    "arcs": arcs.cases,
    "outcomes": outcomes.cases,
    "signatures": outcomes.signatures,
}
"""Name of a set, which is that of its folder in `tests/data` -> reader of its cases."""
