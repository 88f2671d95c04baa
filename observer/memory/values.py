"""What is asked of a memory, and what it answers with, beside what recall itself returns."""

from __future__ import annotations

from observer.events import Scope, Value
from observer.model import Item, ItemKind


class Narrow(Value):
    """What a search is restricted to; empty fields do not restrict. All as in `Filters`.

    `session` is the client's own id of a session, or ours.
    """

    kinds: tuple[ItemKind, ...] = ()
    types: tuple[str, ...] = ()
    category: str = ""
    files: tuple[str, ...] = ()
    session: str = ""
    branch: str = ""
    since_ms: int | None = None
    until_ms: int | None = None


class Note(Value):
    """What to remember. `confidence` is 0 to 1; `key` makes it replace the note under that key."""

    content: str
    title: str = ""
    type: str = "fact"
    key: str = ""
    category: str = ""
    confidence: float | None = 0.5
    scope: Scope = "project"


class Fetched(Value):
    """Items in the order asked for, and the ids that do not exist."""

    items: tuple[Item, ...]
    missing: tuple[int, ...] = ()


class Remembered(Value):
    """The note as stored; `updated` if it existed before, under its key or word for word.

    `project` is the name of the project it belongs to, empty for personal and team notes.
    """

    item: Item
    updated: bool
    project: str = ""
