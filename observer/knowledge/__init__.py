"""Knowledge: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the one door; toolsets are thin adapters over it.

- Write: `remember`, `edit`, `forget`, `undo`, `approve`, `link`, `unlink`.
- Read: `get`, `list`, `counts`, `history`, `links`, `claims`, `similar`, `rules`.
- What stands in the notes unwritten: `Signals`, and `Inferences` that a person approved;
  `flashbacks` from elsewhere.
- Whose: `Memory.notes`; of somebody else, who sees nothing of ours, `Memory.of(owner).notes`.
"""

from observer.interpret.claims import Claim
from observer.knowledge.flashbacks import Flashback, Nostalgia
from observer.knowledge.inferences import Hypothesis, Inference, Inferences
from observer.knowledge.notes import Notes
from observer.knowledge.pen import Record
from observer.knowledge.reading import Shelf
from observer.knowledge.signals import Signal, Signals
from observer.knowledge.values import (
    Author,
    Changes,
    Connection,
    Connections,
    Note,
    Remembered,
    Similar,
    Version,
)

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
