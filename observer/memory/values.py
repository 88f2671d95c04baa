"""What a memory answers with, beside what recall and knowledge return."""

from __future__ import annotations

from observer.events import Value
from observer.model import Item


class Fetched(Value):
    """Items in the order asked for, and the ids that do not exist."""

    items: tuple[Item, ...]
    missing: tuple[int, ...] = ()
