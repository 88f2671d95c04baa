"""The contract of a store, continued: reads of the log of events."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from observer.core.errors import StoreUnavailable
from observer.core.model import Recorded
from observer.core.value import Value


class LogEnd(Value):
    """Where a log ends: the `seq` of its newest event, which may have been purged since."""

    last_seq: int


class LogReader(Protocol):
    """Reads of events; where nothing else is said, in the order of the log."""

    def recorded_near(
        self, session_id: int, *, from_ms: int, to_ms: int, kind: str = "", newest: int = -1
    ) -> list[Recorded]:
        """Return a session's `newest` (all) events of a `kind` (any) of that time, by `seq`.

        The newest are those that happened last.
        """

    def copies(self, seq: int) -> list[int]:
        """Return the `seq` of an event, of what it is a copy of, and of all other copies of that.

        None where there is no such event.
        """

    def has_imported(self, session_id: int, *, from_ms: int, to_ms: int) -> bool:
        """Return True if an import brought an event of a session of that time."""

    def written_near(self, *, from_ms: int, to_ms: int) -> list[Recorded]:
        """Return writes of files, and intents, of that time among the newest events, by `seq`."""

    def log(self, *, after_seq: int = 0, limit: int = 1000) -> list[Recorded]:
        """Return events after `after_seq` in log order, without damaged ones."""

    def by_time(self, projects: Collection[int] | None = None) -> Iterator[list[Recorded]]:
        """Yield all events, or those of projects, as items are derived from them, in batches.

        That is the order of `core.order`. Each carries its `order`; damaged ones are left out.
        """

    def damaged(self) -> list[StoreUnavailable]:
        """Return what is wrong with each event that cannot be read; reads the whole log."""

    def newest_seq(self) -> int:
        """Return the `seq` of the newest event; 0 without any."""

    def next_seq(self) -> int:
        """Return the `seq` that the next appended event must carry; used ones never come again."""

    def logged(self, seqs: Collection[int]) -> list[Recorded]:
        """Return the events of some `seq`, in log order, without unknown ones."""

    def log_of_kind(self, kind: str, *, after_seq: int, until_seq: int) -> list[Recorded]:
        """Return the events of a kind with `after_seq < seq <= until_seq`, in log order."""

    def log_naming(self, kind: str, words: Sequence[str], *, newest: int) -> list[Recorded]:
        """Return events of a kind whose text has one of some lower-case words, newest first.

        Only the `newest` events of the log are looked at.
        """
