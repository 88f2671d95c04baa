"""The contract of a store: one log of events, one table of items, everything else derived.

A store has one writer at a time (`Store.write`, one transaction) and any number of readers.
`StoreReader` sees committed data only; `Writer` sees its own changes too.
Any failure of the engine is raised as `StoreUnavailable`; an empty result: nothing matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import (
    Enrichment,
    Item,
    ItemChange,
    Link,
    LlmUsage,
    NoteHeader,
    Project,
    Recorded,
    Session,
)
from observer.core.value import Value
from observer.store.anchors import StalenessReader, StalenessWriter, ValidityById
from observer.store.log import LogReader
from observer.store.note_files import NoteFileReader, NoteFileWriter

COLUMNS = ("title", "subtitle", "narrative", "facts", "concepts", "files")
"""Columns that a query can name (`title:auth*`); `files` holds read and modified paths."""

Grouping = Literal["tags", "category", "type", "layer"]
"""What items are counted by."""

Vectors = Callable[[], Mapping[int, bytes]]
"""Returns vectors by their items; items without one are left out."""


def no_vectors() -> Mapping[int, bytes]:
    """Return none."""
    return {}


class Totals(Value):
    """Counts and sizes of the whole store; what belongs to no project counts as none."""

    events: int = 0
    items: int = 0
    sessions: int = 0
    active_sessions: int = 0
    projects: int = 0
    last_stored_ms: int | None = None
    """When the newest event was stored (its commit), not when it happened."""
    size_bytes: int = 0
    is_behind: bool = False
    """Whether items are what an older observer made of the log, until it is derived anew."""


class StoreReader(LogReader, StalenessReader, NoteFileReader, Protocol):
    """Reads. Deleted items are never returned, except by `item(..., deleted=True)`."""

    def match(self, expression: str, filters: Filters, *, limit: int) -> list[int]:
        """Return the ids of items for which an FTS5 expression holds, highest first.

        Here and in every other method, `filters.files` are compared with the paths that items
        have, not with later ones: see `moved_to` for those.

        Raises:
            BadInput: the expression is not legal FTS5.
        """

    def terms_with_prefix(self, prefix: str, *, limit: int) -> list[str]:
        """Return indexed terms (folded, stemmed) that begin so, the most frequent first."""

    def epoch(self) -> str:
        """Return the name of the numbering of changes; a rebuild begins another one."""

    def newest_change(self) -> int:
        """Return the number of the last change; 0 without any."""

    def changes(self, *, after: int, model: str, limit: int) -> list[ItemChange]:
        """Return the next changes after a number, with vectors of a model: each item once.

        An item that changed again stands where it changed last.
        """

    def without_vector(
        self, model: str, *, dimensions: int, after: int, limit: int
    ) -> list[ItemChange]:
        """Return the next changes after a number whose items a model has not embedded wholly.

        A vector of fewer than `dimensions` is but the beginning of one.
        """

    def vectors(self) -> Mapping[str, int]:
        """Return how many items have a vector, by model."""

    def items(self, ids: Sequence[int], *, validity: ValidityById | None = None) -> list[Item]:
        """Return the items that exist, in the order of `ids`; unknown ids are left out.

        `validity` is that of all of them, if the caller has read it already.
        """

    def recent(self, filters: Filters, *, limit: int) -> list[Item]:
        """Return items, newest first by (`created_ms`, `id`)."""

    def around(self, anchor: Item, *, owner: str, before: int, after: int) -> list[Item]:
        """Return observations, summaries and notes of the anchor's project around it in time.

        Oldest first by (`created_ms`, `id`), the anchor included; personal ones of the owner only.
        """

    def linked_to(self, ids: Sequence[int]) -> list[tuple[int, Link]]:
        """Return the links of living items that lead to one of the ids.

        Each with the id of the item that holds it, in the order of those.
        """

    def commits(self, project_id: int, hashes: Sequence[str], *, before: int) -> Mapping[str, int]:
        """Return the ids of the items of commits, by whole hash; unknown ones are left out.

        Only commits in the log before the event of that `seq`.
        """

    def project_state(self, project_id: int) -> bytes:
        """Return what interpretation remembers of a project across sessions; empty for nothing."""

    def with_signature(self, signature: str, filters: Filters, *, limit: int) -> list[Item]:
        """Return the items about an error, newest first by (`created_ms`, `id`).

        No signature is no error: it has no items.
        """

    def item(self, item_id: int, *, deleted: bool = False) -> Item | None:
        """Return one item; with `deleted` also one that was deleted."""

    def history(self, item_id: int) -> list[Recorded]:
        """Return the events that made and changed a note, by `seq`; also of a deleted one."""

    def titled(self, title: str, filters: Filters) -> list[Item]:
        """Return the notes that are called so, oldest first; those of no project come last.

        Those with an alias follow those with the title. Both compare by `model.title_key`.
        """

    def naming(self, title: str, filters: Filters, *, limit: int) -> list[Item]:
        """Return the items that link to a title, compared as in `titled`, newest first."""

    def ids(self, filters: Filters, *, limit: int) -> list[int]:
        """Return the ids of items, newest first."""

    def distrusted(self, now_ms: int) -> list[int]:
        """Return the ids of all items that `core.filters.is_trusted` refuses."""

    def counts(self, grouping: Grouping, filters: Filters) -> Mapping[str, int]:
        """Count items by a column, the commonest first; those that have nothing there are none."""

    def newest_note_change(self) -> int:
        """Return the number of the last change of any note, deletions included; 0 without any."""

    def sketches(self, filters: Filters) -> Iterator[NoteHeader]:
        """Yield all notes that fit, by id; of filters those of places do not restrict."""

    def gone_titles(self) -> frozenset[str]:
        """Return what the titles of deleted notes compare by: `title_key`."""

    def triages(self, owner: str) -> Mapping[int, Triage]:
        """Return what somebody made of signals, by their ids, the newest first."""

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

    def session_names(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the clients' own ids of sessions, by ours; unknown ones are left out."""

    def runs(self, client: str, external: str) -> dict[int, int]:
        """Return the newest session under a client's own id in each project, by that project."""

    def session_called(self, external: str) -> Session | None:
        """Return the newest session under a client's own id, in whatever client and project."""

    def sessions(
        self,
        *,
        project_id: int | None = None,
        active: bool = False,
        since_ms: int | None = None,
        limit: int = 20,
    ) -> list[Session]:
        """Return sessions, last active first: `active` ones, and those active since a time."""

    def sessions_between(self, from_ms: int, to_ms: int, clients: Sequence[str] = ()) -> list[int]:
        """Return the ids of sessions, of these or all clients, with events around that time."""

    def children(self, session: Session, *, limit: int) -> list[Session]:
        """Return the newest sessions that a session of their client and project started, by id."""

    def idle_sessions(self, *, before_ms: int) -> list[Session]:
        """Return active sessions whose last event is older than `before_ms`, oldest first."""

    def all_items(self) -> Iterator[Item]:
        """Yield every living item by id."""

    def unenriched(self, *, limit: int, without: Sequence[int] = ()) -> list[Item]:
        """Return what waits for a language model, the newest first; of some projects nothing.

        First the summaries of sessions that are over about which none has written since they
        changed; then the observations, but of sessions that go on, whose original cost 2,000
        tokens or more, and about which none has written.
        """

    def enrichments(self, ids: Sequence[int]) -> Mapping[int, Enrichment]:
        """Return what language models wrote about items, by id; most have nothing."""

    def spending(self, day: str) -> LlmUsage:
        """Return what language models cost on a day (UTC, e.g. ``2026-11-22``)."""

    def totals(self) -> Totals:
        """Return counts and sizes; cheap enough to ask every second."""


class Writer(StoreReader, StalenessWriter, NoteFileWriter, Protocol):
    """Changes inside one transaction; nothing is visible outside before it commits."""

    def append(self, recorded: Recorded, *, stored_ms: int, data: str = "") -> bool:
        """Add an event under its `seq`; `data` is the event as JSON, if the caller has it.

        Returns False, and changes nothing, if its id, or its `dedup` in its project, is known.
        """

    def known(self, recorded: Recorded) -> str:
        """Return the id of this event, or of another report of it, in the log; "" if neither is."""

    def put_items(
        self, items: Iterable[Item], *, model: str = "", vectors: Vectors = no_vectors
    ) -> None:
        """Insert or replace items by id, with their words and the vectors given, in place of any.

        `vectors` is asked last, so that they can be made meanwhile.
        """

    def put_vectors(
        self, model: str, vectors: Mapping[int, bytes], *, seen: Mapping[int, int] | None = None
    ) -> None:
        """Add or replace vectors of items, unless those have changed since the changes `seen`."""

    def drop_vectors(self, *, but: str) -> None:
        """Delete the vectors of all models but one."""

    def put_project(self, project: Project) -> None:
        """Insert or replace a project by id."""

    def put_session(self, session: Session) -> None:
        """Insert or replace a session by id."""

    def put_project_state(self, project_id: int, state: bytes) -> None:
        """Insert or replace what the interpreter remembers of a project."""

    def put_history(self, item_id: int, seq: int) -> None:
        """Add an event to the history of a note."""

    def put_triage(self, triage: Triage, *, at_ms: int) -> None:
        """Insert or replace what its owner made of a signal."""

    def forget(self, item_id: int, *, at_ms: int) -> None:
        """Remember that an item is deleted, for whatever is derived under its id from now on."""

    def restore(self, item_id: int) -> None:
        """Take back that an item was forgotten; no effect on one that was not."""

    def forgotten(self) -> Mapping[int, int]:
        """Return when each forgotten item was deleted, by its id."""

    def spend(self, day: str, *, tokens: int, requests: int = 0) -> None:
        """Add to what language models cost on a day; a rebuild keeps it. Negative gives back."""

    def clear_projection(self) -> None:
        """Delete all that is derived (items, sessions, words, vectors, deletions).

        Log and projects stay.
        """


class Store(Protocol):
    """A database. Safe to share between threads; `close` waits for nobody."""

    def read(self) -> AbstractContextManager[StoreReader]:
        """Lend a reader; its results belong to one consistent snapshot until it is given back."""

    def write(self) -> AbstractContextManager[Writer]:
        """Begin the one write transaction; commits durably on exit, rolls back on an exception."""

    def check(self) -> str:
        """Return ``"ok"`` or what the engine's own integrity check complains about."""

    def close(self) -> None:
        """Close every connection."""
