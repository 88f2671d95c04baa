"""Knowledge: what people and agents recorded on purpose, how it changed and what it belongs to.

`Notes` is the one door; toolsets are thin adapters over it.

- Write: `remember`, `edit`, `forget`, `undo`, `approve`, `link`, `unlink`.
- Read: `get`, `list`, `counts`, `history`, `links`, `claims`, `similar`, `rules`.
- Whose: `Memory.notes`; of somebody else, who sees nothing of ours, `Memory.of(owner).notes`.
"""

from observer.interpret.claims import Claim
from observer.knowledge.notes import Notes, Record
from observer.knowledge.reading import Shelf
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
    "Note",
    "Notes",
    "Record",
    "Remembered",
    "Shelf",
    "Similar",
    "Version",
]
