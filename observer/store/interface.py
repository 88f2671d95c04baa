"""The contract of a store: one log of events, one table of items, everything else derived.

A store has one writer at a time (`Store.write`, one transaction) and any number of readers. Every
method of `Reader` sees committed data only; `Writer` sees its own changes too.

Errors: any failure of the engine is raised as `StoreUnavailable`; an empty result means that
nothing matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from observer.events import Value
from observer.model import Item, ItemKind, Project, Recorded, Session

COLUMNS = ("title", "subtitle", "narrative", "facts", "concepts", "files")
"""Columns that a query can name (`title:auth*`); `files` holds read and modified paths."""


class Filters(Value):
    """What an item must be to count; an empty field does not restrict.

    `since_ms` is inclusive, `until_ms` exclusive, both of `created_ms`. `owner` hides personal
    items of everybody else; an empty owner sees no personal item.
    """

    project_id: int | None = None
    kinds: tuple[ItemKind, ...] = ()
    types: tuple[str, ...] = ()
    category: str = ""
    session_id: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    owner: str = ""
    with_global: bool = False
    """With `project_id`: personal and team items that belong to no project count too."""


class Match(Value):
    """An item that matched words; `bm25` is positive, higher is better, comparable in one query."""

    id: int
    bm25: float
    kind: ItemKind


class Totals(Value):
    """Counts and sizes of the whole store."""

    events: int = 0
    items: int = 0
    sessions: int = 0
    active_sessions: int = 0
    projects: int = 0
    last_stored_ms: int | None = None
    """When the newest event was stored (its commit), not when it happened."""
    size_bytes: int = 0


class Reader(Protocol):
    """Reads. Deleted items are never returned, except by `item(..., deleted=True)`."""

    def match(
        self,
        expression: str,
        filters: Filters,
        *,
        limit: int,
        within: str = "",
        newest: int | None = None,
    ) -> list[Match]:
        """Return the best matches of a legal FTS5 expression, best first.

        Args:
            expression: what must hold, and what matches are scored by.
            filters: what items must be.
            limit: most matches returned.
            within: quoted strings joined by AND and OR that must hold too and score nothing.
            newest: only so many of the matches, those with the highest ids, are scored;
                None: all.

        Raises:
            BadInput: the expression is not legal FTS5.
        """

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return how many items hold each term, as indexed (lower case, stemmed); absent is 0.

        Counts above 1,000 may lag behind by 2 % of the items.
        """

    def stem(self, word: str) -> tuple[str, ...]:
        """Return the terms under which the index keeps a word: split, folded, stemmed."""

    def items(self, ids: Sequence[int]) -> list[Item]:
        """Return the items that exist, in the order of `ids`; unknown ids are left out."""

    def recent(self, filters: Filters, *, limit: int) -> list[Item]:
        """Return items, newest first by (`created_ms`, `id`)."""

    def around(self, anchor: Item, *, before: int, after: int) -> list[Item]:
        """Return observations, summaries and notes of the anchor's project around it in time.

        Oldest first by (`created_ms`, `id`), the anchor included.
        """

    def resolve(self, handle: str) -> list[int]:
        """Return the ids of items whose decimal id, uuid or uuid prefix (8+ characters) fits."""

    def keyed(self, key: str, filters: Filters) -> Item | None:
        """Return the note stored under a key in exactly this project (or none) and owner."""

    def same_content(self, content_hash: str, filters: Filters) -> Item | None:
        """Return a living note with this hash in exactly this project (or none) and owner."""

    def projects(self) -> list[Project]:
        """Return all projects, by id."""

    def session(self, session_id: int) -> Session | None:
        """Return one session."""

    def latest_session(self, client: str, external: str, project_id: int) -> Session | None:
        """Return the newest session under a client's own id in a project."""

    def sessions(
        self, *, project_id: int | None = None, active: bool = False, limit: int = 20
    ) -> list[Session]:
        """Return sessions, last active first; `active` leaves ended ones out."""

    def idle_sessions(self, *, before_ms: int) -> list[Session]:
        """Return active sessions whose last event is older than `before_ms`, oldest first."""

    def recorded_near(self, session_id: int, *, from_ms: int, to_ms: int) -> list[Recorded]:
        """Return the events of a session with `from_ms <= at_ms <= to_ms`, by `seq`."""

    def log(self, *, after_seq: int = 0, limit: int = 1000) -> list[Recorded]:
        """Return events in log order, those after `after_seq`."""

    def all_items(self) -> Iterator[Item]:
        """Yield every living item by id."""

    def totals(self) -> Totals:
        """Return counts and sizes; cheap enough to ask every second."""


class Writer(Reader, Protocol):
    """Changes inside one transaction; nothing is visible outside before it commits."""

    def known(self, event_ids: Sequence[str]) -> set[str]:
        """Return those of the ids that are in the log already."""

    def append(self, recorded: Recorded, *, stored_ms: int, data: str = "") -> bool:
        """Add an event under its `seq`; `data` is the event as JSON, if the caller has it.

        Returns False, and changes nothing, when its id, or its `dedup` in its project, is known.
        """

    def next_seq(self) -> int:
        """Return the `seq` that the next appended event must carry; used ones never come again."""

    def put_items(self, items: Iterable[Item]) -> None:
        """Insert or replace items by id, and their index entries."""

    def put_project(self, project: Project) -> None:
        """Insert or replace a project by id."""

    def put_session(self, session: Session) -> None:
        """Insert or replace a session by id."""

    def forget(self, item_id: int, *, at_ms: int) -> None:
        """Remember that an item is deleted, for whatever is derived under its id from now on."""

    def forgotten(self) -> Mapping[int, int]:
        """Return when each forgotten item was deleted, by its id."""

    def clear_projection(self) -> None:
        """Delete all that is derived (items, sessions, index, deletions); log and projects stay."""


class Store(Protocol):
    """A database. Safe to share between threads; `close` waits for nobody."""

    def read(self) -> AbstractContextManager[Reader]:
        """Lend a reader; its results belong to one consistent snapshot until it is given back."""

    def write(self) -> AbstractContextManager[Writer]:
        """Begin the one write transaction; commits durably on exit, rolls back on an exception."""

    def check(self) -> str:
        """Return ``"ok"`` or what the engine's own integrity check complains about."""

    def close(self) -> None:
        """Close every connection."""
