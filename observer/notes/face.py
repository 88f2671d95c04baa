"""Knowledge: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the one door; toolsets are thin adapters over it.

- Write: `remember`, `edit`, `forget`, `undo`, `approve`, `link`, `unlink`.
- Read: `get`, `list`, `counts`, `history`, `links`, `claims`, `similar`, `rules`.
- What stands in the notes unwritten: `Signals`, and `Inferences` that a person approved;
  `flashbacks` from elsewhere.
- Whose: `Memory.notes`; of somebody else, who sees nothing of ours, `Memory.of(owner).notes`.
"""

from observer.notes.inferences import Hypothesis, Inference, Inferences
from observer.notes.note_reader import Shelf
from observer.notes.notes import Notes
from observer.notes.signals import Signal, Signals
from observer.notes.similar import Flashback, Nostalgia
from observer.notes.values import (
    Author,
    Changes,
    Connection,
    Connections,
    Note,
    Record,
    Remembered,
    Similar,
    Version,
)
from observer.observations.note_syntax import Claim

__all__ = [
    "Author",
    "Changes",
    "Claim",
    "Connection",
    "Connections",
    "Flashback",
    "Hypothesis",
    "Inference",
    "Inferences",
    "Nostalgia",
    "Note",
    "Notes",
    "Record",
    "Remembered",
    "Shelf",
    "Signal",
    "Signals",
    "Similar",
    "Version",
]
