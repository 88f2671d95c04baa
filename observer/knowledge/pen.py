"""The way from knowledge into the log: everything that is written becomes an event first."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence

from observer.errors import DaemonUnavailable
from observer.events import AnyBody, Event
from observer.knowledge.values import Author
from observer.model import Receipt

Record = Callable[[Sequence[Event], int | None], Sequence[Receipt]]
"""Stores events, in the given project if one is named, and returns after the commit."""


class Pen:
    """Writes events of one owner's front.

    Args:
        record: the way into the log; None for a process that only reads.
        now_ms: the clock.
    """

    def __init__(self, record: Record | None, now_ms: Callable[[], int]) -> None:
        self._record = record
        self._now_ms = now_ms

    def write(
        self, *bodies: AnyBody, author: Author, folder: str = "", project_id: int | None
    ) -> Receipt:
        """Store what happened, all of it or nothing, and return what became of the first.

        Raises:
            DaemonUnavailable: this process only reads.
        """
        if self._record is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        events = [
            Event(
                id=f"note-{uuid.uuid4().hex}",
                at_ms=self._now_ms(),
                client="observer",
                cwd=folder,
                body=body,
                author=author,
            )
            for body in bodies
        ]
        return self._record(events, project_id)[0]
