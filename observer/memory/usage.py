"""What became of items that were shown to sessions, and what that makes of their weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from observer.errors import DaemonUnavailable
from observer.recall.usefulness import Usefulness, usefulness
from observer.store.interface import Store


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
