"""The one Python API: what every front (MCP, HTTP, CLI) asks and tells.

Reads see one consistent snapshot each. Writes become events, go through the same pipeline as
everything captured, and return after the commit.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec

from observer.capture.project import look, recognise
from observer.capture.redact import secret_class
from observer.errors import Ambiguous, BadInput, DaemonUnavailable, NotFound, SecretRefused
from observer.events import Event, Forget, Remember
from observer.filters import Filters
from observer.index import Index
from observer.memory.handles import LARGEST_ID, around, named, session_id
from observer.memory.values import Fetched, Narrow, Note, Remembered
from observer.model import (
    UNASSIGNED,
    Item,
    Project,
    Receipt,
    Recorded,
    Session,
    item_id,
)
from observer.recall.candidates import Encode, Sources
from observer.recall.context import Costs, Pack, PackRequest, pack
from observer.recall.search import Found, search
from observer.recall.timeline import Timeline, timeline
from observer.store.interface import Reader, Store, Totals

__all__ = ["MOST_IDS", "Fetched", "Memory", "Narrow", "Note", "Record", "Remembered"]

MOST_IDS = 50
"""Most items fetched by one call."""

Record = Callable[[Sequence[Event], int | None], Sequence[Receipt]]
"""Stores events, in the given project if one is named, and returns after the commit."""


class Memory:
    """Reads and writes of one user's memory; safe to share between threads.

    Args:
        store: where it is kept.
        owner: whose personal notes are visible and written.
        now_ms: the clock.
        index: the index of that store.
        encode: turns a query into its meaning.
        record: the way into the log; None for a process that only reads.
    """

    def __init__(
        self,
        store: Store,
        *,
        owner: str,
        now_ms: Callable[[], int],
        index: Index,
        encode: Encode,
        record: Record | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._encode = encode
        self._owner = owner
        self._now_ms = now_ms
        self._record = record

    def search(
        self,
        query: str,
        *,
        project: str | None = None,
        limit: int = 10,
        narrow: Narrow = Narrow(),  # noqa: B008 - frozen
    ) -> Found:
        """Find items by words and meaning; across all projects unless one is named.

        Raises:
            NotFound, Ambiguous: the project, or the session.
        """
        with self._sources() as sources:
            filters = self._filters(sources.reader, project, narrow)
            return search(sources, query, filters, limit=limit, now_ms=self._now_ms())

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        project: str | None = None,
        narrow: Narrow = Narrow(),  # noqa: B008 - frozen
    ) -> Found:
        """Find notes: those of the project, and those that belong to none.

        Raises:
            NotFound, Ambiguous: the project, or the session.
        """
        with self._sources() as sources:
            filters = msgspec.structs.replace(
                self._filters(sources.reader, project, narrow), kinds=("note",), with_global=True
            )
            return search(sources, query, filters, limit=limit, now_ms=self._now_ms())

    def _filters(self, reader: Reader, project: str | None, narrow: Narrow) -> Filters:
        return Filters(
            project_id=named(reader.projects(), project).id if project else None,
            kinds=narrow.kinds,
            types=narrow.types,
            category=narrow.category,
            files=narrow.files,
            session_id=session_id(reader, narrow.session),
            branch=narrow.branch,
            since_ms=narrow.since_ms,
            until_ms=narrow.until_ms,
            owner=self._owner,
        )

    def timeline(self, anchor: int, *, before: int = 5, after: int = 5) -> Timeline:
        """Return what happened around an item in its project.

        Raises:
            NotFound: no such item.
            BadInput: a depth outside 0 to 50.
        """
        with self._store.read() as reader:
            if not self._visible(reader, [anchor]):
                raise NotFound(f"no item {anchor}", hint="search for it first")
            found = timeline(reader, anchor, before=before, after=after)
        seen = tuple(entry for entry in found.entries if self._may_see(entry.item))
        return msgspec.structs.replace(found, entries=seen)

    def observations(self, ids: Sequence[int]) -> Fetched:
        """Return items in the order of `ids`, and name those that do not exist.

        Raises:
            BadInput: more than `MOST_IDS` ids.
        """
        if len(ids) > MOST_IDS:
            raise BadInput(
                f"{len(ids)} ids asked for, {MOST_IDS} at most", hint="ask in several calls"
            )
        with self._store.read() as reader:
            items = self._visible(reader, ids)
        found = {item.id for item in items}
        return Fetched(items=tuple(items), missing=tuple(i for i in ids if i not in found))

    def context(
        self, project: str, *, budget_tokens: int = 2000, query: str = "", costs: Costs
    ) -> Pack:
        """Return the most useful items of a project that fit into a token budget.

        Raises:
            NotFound, Ambiguous: the project.
        """
        with self._sources() as sources:
            request = PackRequest(
                project_id=named(sources.reader.projects(), project).id,
                owner=self._owner,
                query=query,
                budget_tokens=budget_tokens,
                now_ms=self._now_ms(),
            )
            return pack(sources, request, costs)

    def remember(
        self,
        note: Note,
        *,
        project: str | None = None,
        folder: str = "",
        author: Literal["person", "agent"] = "agent",
    ) -> Remembered:
        """Store a note, in the project named, else in the one around a folder, new or known.

        Raises:
            BadInput: empty content, or a confidence outside 0 to 1.
            NotFound, Ambiguous: the project.
            SecretRefused: it holds a secret; the message names the class.
        """
        if not note.content.strip():
            raise BadInput("content is empty", hint="say what to remember")
        if note.confidence is not None and not 0.0 <= note.confidence <= 1.0:
            raise BadInput("confidence must be 0.0 to 1.0", hint="leave it out for 0.5")
        for text in (note.content, note.title, note.key, note.category):
            if found := secret_class(text):
                raise SecretRefused(
                    f"content looks like it holds a secret ({found})",
                    hint="remember where the secret is kept, not the secret",
                )
        body = Remember(
            content=note.content,
            title=note.title,
            type=note.type,
            key=note.key,
            category=note.category,
            confidence=note.confidence,
            scope=note.scope,
            owner=self._owner if note.scope == "personal" else "",
        )
        event = self._event(body, author=author, folder=folder)
        stored = self._write(event, self.project(project).id if project else None)
        return self._remembered(stored)

    def _remembered(self, stored: Receipt) -> Remembered:
        with self._store.read() as reader:
            items = reader.items([stored.item or 0])
            names = {project.id: project.name for project in reader.projects()}
        if not items:
            raise NotFound("the note was forgotten while it was stored", hint="remember it again")
        (item,) = items
        return Remembered(
            item=item,
            updated=item.id != item_id(stored.seq or 0),
            project=names.get(item.project_id or 0, ""),
        )

    def forget(self, item: int, *, author: Literal["person", "agent"] = "agent") -> bool:
        """Delete an item by its exact id; False if there is none."""
        with self._store.read() as reader:
            known = self._visible(reader, [item])
        if not known:
            return False
        event = self._event(Forget(item=item), author=author)
        self._write(event, known[0].project_id or UNASSIGNED)
        return True

    def project(self, handle: str) -> Project:
        """Return a project by uuid, name, folder or remote.

        Raises:
            NotFound: none fits.
            Ambiguous: several fit; the hint lists their exact handles.
        """
        with self._store.read() as reader:
            return named(reader.projects(), handle)

    def project_at(self, folder: str) -> Project | None:
        """Return the known project around a folder, or None."""
        projects = self.projects()
        if inside := around(projects, folder):
            return inside
        return recognise(look(folder), projects)

    def projects(self) -> list[Project]:
        """Return all projects, by id."""
        with self._store.read() as reader:
            return reader.projects()

    def sessions(
        self, *, project: str | None = None, active: bool = False, limit: int = 20
    ) -> list[Session]:
        """Return sessions, last active first."""
        with self._store.read() as reader:
            project_id = named(reader.projects(), project).id if project else None
            return reader.sessions(project_id=project_id, active=active, limit=limit)

    def session(self, session_id: int) -> Session | None:
        """Return one session."""
        with self._store.read() as reader:
            return reader.session(session_id)

    def session_names(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the clients' own ids of sessions, by ours."""
        with self._store.read() as reader:
            return reader.session_names(list(set(ids)))

    def summary(self, session_id: int) -> Item | None:
        """Return a session's summary, if it has one yet."""
        with self._store.read() as reader:
            return next(iter(reader.items([item_id(session_id, "summary")])), None)

    def resolve(self, handle: str) -> int:
        """Return the id that a handle (id, uuid, first 8 or more characters of one) stands for.

        Raises:
            NotFound: none fits.
            Ambiguous: several fit.
        """
        with self._store.read() as reader:
            ids = reader.resolve(handle)
        if not ids:
            raise NotFound(f"no item {handle!r}", hint="search for it first")
        if len(ids) > 1:
            raise Ambiguous(
                f"{handle!r} fits several items", hint="one of: " + ", ".join(map(str, ids))
            )
        return ids[0]

    def totals(self) -> Totals:
        """Return counts and sizes."""
        with self._store.read() as reader:
            return reader.totals()

    def export(self) -> Iterator[Recorded | Item]:
        """Yield every stored event in log order, then every living item by id."""
        with self._store.read() as reader:
            last = 0
            while batch := reader.log(after_seq=last):
                yield from batch
                last = batch[-1].seq
            yield from reader.all_items()

    @contextmanager
    def _sources(self) -> Iterator[Sources]:
        with self._store.read() as reader, self._index.view(reader) as view:
            yield Sources(reader, view, self._encode)

    def _visible(self, reader: Reader, ids: Sequence[int]) -> list[Item]:
        possible = [item for item in ids if abs(item) <= LARGEST_ID]
        return [item for item in reader.items(possible) if self._may_see(item)]

    def _may_see(self, item: Item) -> bool:
        return item.scope != "personal" or item.owner == self._owner

    def _event(
        self, body: Remember | Forget, *, author: Literal["person", "agent"], folder: str = ""
    ) -> Event:
        return Event(
            id=f"note-{uuid.uuid4().hex}",
            at_ms=self._now_ms(),
            client="observer",
            cwd=folder,
            body=body,
            author=author,
        )

    def _write(self, event: Event, project_id: int | None) -> Receipt:
        if self._record is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        return self._record([event], project_id)[0]
