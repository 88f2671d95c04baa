"""What happened since a time, or in a session, as its owner sees it.

What became of items that were shown to sessions, and what that makes of their weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from observer.core.errors import DaemonUnavailable
from observer.search.handles import named
from observer.search.timeline import Account, Course, account, course
from observer.search.usage import Usefulness, usefulness
from observer.store.interface import Store


class Accounts:
    """Reads of what happened; items stand as the store tells it."""

    def __init__(self, store: Store, *, owner: str) -> None:
        self._store = store
        self._owner = owner

    def since(self, since_ms: int, *, project: str | None = None) -> Account:
        """Return what happened since a time, in all projects unless one is named.

        Raises:
            NotFound, Ambiguous: the project.
        """
        with self._store.read() as reader:
            asked = named(reader.projects(), project).id if project else None
            return account(reader, since_ms, project_id=asked, owner=self._owner)

    def of_session(self, handle: str, *, limit: int) -> Course:
        """Return what a session left in the memory, the newest items of it.

        Args:
            handle: the client's own id of it, or ours.
            limit: most items.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read() as reader:
            return course(reader, handle, owner=self._owner, limit=limit)


class Feedback(Protocol):
    """The way to write about uses; its daemon's."""

    def fetched(self, ids: Sequence[int]) -> None:
        """Note that items were fetched in full; returns at once, written later."""

    def reset(self, ids: Sequence[int] | None) -> int:
        """Forget what is known of items, or of all; returns how many uses that were."""


class Usage:
    """Reads and writes of uses; `feedback` is None in a process that only reads."""

    def __init__(
        self, store: Store, *, now_ms: Callable[[], int], feedback: Feedback | None
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._feedback = feedback

    def of(self, ids: Sequence[int] | None = None) -> Mapping[int, Usefulness]:
        """Return what is known of items, or of all: by id, those without any use left out."""
        with self._store.read() as reader:
            return usefulness(reader.uses(items=ids), now_ms=self._now_ms())

    def fetched(self, ids: Sequence[int]) -> None:
        """Note that items were fetched in full; a process that only reads cannot."""
        if self._feedback:
            self._feedback.fetched(ids)

    def reset(self, ids: Sequence[int] | None = None) -> int:
        """Forget what is known of items, or of all; returns how many uses that were.

        Raises:
            DaemonUnavailable: this process only reads.
        """
        if self._feedback is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        return self._feedback.reset(ids)
