"""Labelled sets of edits, sessions and command outputs, and the claims observer makes of them.

Each module owns one set: it reads the cases of a folder, derives claims, and yields them beside the
expected ones. Labels are written before the code is run on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from labelled import changes, fixes, outcomes
from labelled.score import Case

SETS: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "changes": changes.cases,
    "arcs": fixes.cases,
    "outcomes": outcomes.cases,
    "signatures": outcomes.signatures,
}
"""The reader of each set's cases; a set has the name of its folder in `tests/data`."""
