"""From recorded events to items and sessions: step 6, the same fold live and in a rebuild."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from observer.core.events import Enriched, Forget, Outcome, Remember, Triage, Undo
from observer.core.filters import Filters
from observer.core.model import Enrichment, Item, Recorded, Session
from observer.ingest.derived import LaterWork, NoteProjection, ProjectHistory, discarding
from observer.observations import inverse_edits, session_commits, turns
from observer.observations.drafts import enrichment
from observer.observations.note_reducer import OnNote, forgotten
from observer.observations.prompt_injection import suspicion, with_suspicion
from observer.observations.session_lifecycle import begin
from observer.observations.session_reducer import Items, SessionReducer
from observer.observations.session_state import PendingTool
from observer.observations.summary import summarize
from observer.observations.tool_pairing import result_of
from observer.store.writer import Writer

TURNS = 100
"""Newest turns of a session that are looked at for what was taken back."""


class Embedder(Protocol):
    """Makes vectors of items: see `observer.embed.lazy_model.LazyModel`."""

    @property
    def id(self) -> str:
        """The model that makes them."""

    @property
    def dimensions(self) -> int:
        """Dimensions of a whole vector; shorter ones are the beginning of one."""

    def begin(self, items: Sequence[Item]) -> Callable[[], Mapping[int, bytes]]:
        """Begin to embed items beside what goes on; returns what waits for their vectors, by id.

        There are none from a model that is too slow to wait for, and shorter ones from one that is
        quick in part.
        """

    def made(self, items: Sequence[Item]) -> Mapping[int, bytes]:
        """Return the vector of each item, by id, however long it takes; none without a model."""


def put_embedded(writer: Writer, items: Sequence[Item], embedder: Embedder | None) -> None:
    """Put items with their vectors: what is found by its words is found by its meaning too.

    Records have none: they lead to their turn, and are looked for by the words of a call.
    """
    if embedder is None:
        writer.put_items(items)
        return
    vectors = embedder.begin(
        [one for one in items if one.deleted_ms is None and one.kind != "record"]
    )
    writer.put_items(items, model=embedder.id, vectors=vectors)


class Projection:
    """Everything that one write transaction derives from the events it is given, in log order.

    Items and sessions are put at `finish`, each once, however many events touched them; their
    vectors with them, so that what can be found by its words can be found by its meaning.
    """

    def __init__(self, writer: Writer, embedder: Embedder | None = None) -> None:
        self._writer = writer
        self._notes = NoteProjection(writer)
        self._history = ProjectHistory(writer)
        self._later = LaterWork(writer)
        self._embedder = embedder
        self._folds: dict[int | None, SessionReducer] = {None: SessionReducer(None)}
        self._items: dict[int, Item] = {}
        self._forgotten = dict(writer.forgotten())
        self._enriched: dict[int, Enrichment] = {}

    def add(self, recorded: Recorded) -> int | None:
        """Interpret one event; returns the id of the item it made or changed.

        One that came late says nothing of what is so now, until its project is derived anew.
        """
        self._notes.put()
        is_late = self._history.is_late(recorded)
        fold = self._fold(recorded)
        whole, drafted = fold.add_paired(recorded)
        arcs = () if is_late else self._history.add(whole, drafted)
        fold.learn(arcs, self._history.failures(whole.project_id))
        if not is_late:
            self._take_up(recorded, whole, drafted)
            self._take_back(whole, (*drafted, *arcs))
        made = [*drafted, *arcs, *self._purpose(recorded)]
        self._items |= {item.id: item for item in made}
        for answer in () if is_late else drafted:
            self._demote(answer)
        return made[0].id if made else None

    def _demote(self, answer: Item) -> None:
        """Make records of an answer and the one before, if they belong to a procedure."""
        of = self._history.of_procedure(answer)
        found = (self._items.get(item_id) or self._writer.item(item_id) for item_id in of)
        self._items |= {one.id: replace(one, kind="record") for one in found if one}

    def session(self, session_id: int) -> Session | None:
        """Return a session as it stands after the events added so far."""
        fold = self._folds.get(session_id)
        return fold.current() if fold else self._writer.session(session_id)

    def sessions_since(self, project_id: int, since_ms: int) -> list[Session]:
        """Return the sessions of a project with an event since a time, as they stand now."""
        found = self._writer.sessions(project_id=project_id, since_ms=since_ms)
        known = {session.id: session for session in found}
        folded = (session for fold in self._folds.values() if (session := fold.current()))
        known |= {session.id: session for session in folded}
        return [
            one
            for one in known.values()
            if one.project_id == project_id and one.last_ms >= since_ms
        ]

    def call_of(self, session_id: int, outcome: Outcome) -> PendingTool | None:
        """Return the call in a session that waits for a tool's result, None if there is none."""
        return result_of(self._fold_of(session_id).state(), outcome)

    def written(self, session_id: int) -> tuple[str, ...]:
        """Return the files of the project that a session wrote."""
        return session_commits.written_files(self._fold_of(session_id).state())

    def finish(self) -> None:
        """Put what was derived."""
        for fold in self._folds.values():
            if session := fold.session():
                self._writer.put_session(session)
                made = [*fold.turn(), *filter(None, [summarize(session)])]
                self._items |= {item.id: item for item in made}
        self._history.finish()
        self._enrich()
        items = [with_suspicion(self._unless_forgotten(item)) for item in self._items.values()]
        put_embedded(self._writer, items, self._embedder)

    def _fold(self, recorded: Recorded) -> SessionReducer:
        key = recorded.session_id
        if key not in self._folds:
            stored = None if key is None or key == recorded.seq else self._writer.session(key)
            self._folds[key] = SessionReducer(stored or begin(recorded))
        return self._folds[key]

    def _take_up(self, recorded: Recorded, whole: Recorded, drafted: Items) -> None:
        """Mark in other sessions that an event takes up what they left open."""
        taken = list(self._later.committed(recorded, drafted, self._folds))
        is_sole = len(taken) == 1 and recorded.session_id is None
        for session_id, saying, paths in taken:
            self._fold_of(session_id).commit(saying, paths, is_sole=is_sole)
        back = self._history.wrote_back(whole)
        gone = discarding(whole, back)
        own = [whole.session_id] if back and whole.session_id else []
        for session_id in [*own, *self._later.discarded(whole, gone, self._folds)]:
            self._fold_of(session_id).discard(gone)
        for session_id in list(self._later.begun(recorded, self._folds)):
            self._fold_of(session_id).begin_plan()

    def _take_back(self, whole: Recorded, made: Items) -> None:
        """Mark in the sessions that had a part in it what an event takes back or replaces."""
        became = inverse_edits.rewritten(whole, made)
        own = [whole.session_id] if became and whole.session_id else []
        for session_id in [*own, *self._later.rewritten(whole, became, self._folds)]:
            commits = self._fold_of(session_id).rewrite(became)
            self._amend_turns(session_id, (), commits)
        for session_id, paths in self._history.taken_back(whole).items():
            self._fold_of(session_id).take_back(paths)
            self._amend_turns(session_id, paths, ())

    def _amend_turns(
        self, session_id: int, files: Collection[str], commits: Collection[str]
    ) -> None:
        """Take files and commits out of the newest turns of a session; see `turns.without`."""
        of = Filters(session_id=session_id, types=(turns.TURN,), kinds=("observation", "record"))
        known = {item.id: item for item in self._writer.recent(of, limit=TURNS)}
        known |= {
            item.id: item
            for item in self._items.values()
            if item.session_id == session_id and item.type == turns.TURN
        }
        without = partial(turns.item_without, files=files, commits=commits)
        self._items |= {
            item.id: left for item in known.values() if (left := without(item)) is not item
        }

    def _fold_of(self, session_id: int) -> SessionReducer:
        """Return the fold of a session that is known."""
        if session_id not in self._folds:
            self._folds[session_id] = SessionReducer(self._writer.session(session_id))
        return self._folds[session_id]

    def _purpose(self, recorded: Recorded) -> list[Item]:
        """Carry out what was asked on purpose."""
        body = recorded.event.body
        if isinstance(body, Remember):
            return [self._notes.remembered(recorded, body)]
        if isinstance(body, Enriched):
            self._enriched[body.item] = enrichment(body, recorded.event.at_ms)
        if isinstance(body, Triage):
            self._writer.put_triage(body, at_ms=recorded.event.at_ms)
        if isinstance(body, OnNote):
            if changed := self._notes.changed(recorded, body):
                return [changed]
            if isinstance(body, Forget):
                return self._forget(body.item, recorded.event.at_ms)
            if isinstance(body, Undo):
                return self._restore(body.item)
        return []

    def _enrich(self) -> None:
        """Keep with each item what was written about it: what derives an item knows nothing of it.

        Last, since a summary that was written about is derived after everything else.
        """
        absent = [item_id for item_id in self._enriched if item_id not in self._items]
        self._items |= {item.id: item for item in self._writer.items(absent)}
        known = {**self._writer.enrichments(list(self._items)), **self._enriched}
        written = {item_id: one for item_id, one in known.items() if not _is_suspicious(one)}
        for item_id in written.keys() & self._items.keys():
            self._items[item_id] = replace(self._items[item_id], enrichment=written[item_id])

    def _forget(self, item_id: int, at_ms: int) -> list[Item]:
        # An open burst or session derives its item again: deleting what is there is not enough.
        self._writer.forget(item_id, at_ms=at_ms)
        self._forgotten.setdefault(item_id, at_ms)
        found = self._items.get(item_id) or self._writer.item(item_id)
        if found is None:
            return []
        gone = self._unless_forgotten(found)
        self._writer.put_items([gone])
        return [gone]

    def _restore(self, item_id: int) -> list[Item]:
        """Bring back an item that was captured and forgotten; nothing if there is none."""
        self._writer.restore(item_id)
        self._forgotten.pop(item_id, None)
        found = self._items.get(item_id) or self._writer.item(item_id, deleted=True)
        if found is None or found.deleted_ms is None:
            return []
        restored = replace(found, deleted_ms=None)
        self._writer.put_items([restored])
        return [restored]

    def _unless_forgotten(self, item: Item) -> Item:
        at_ms = self._forgotten.get(item.id)
        return item if at_ms is None else forgotten(item, at_ms)


def rebuild(
    writer: Writer,
    embedder: Embedder | None = None,
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> int:
    """Derive all items and sessions from the log; returns the count of events that could be read.

    What was imported is taken where it happened, in whatever order it came: see
    `StoreReader.by_time`. `advance` is called with the number of further events.
    """
    writer.clear_projection()
    return _derive_by_time(writer, embedder, None, advance)


def derive_after(writer: Writer, seen: int) -> None:
    """Derive the items of the events after `seen`, a `seq`, in the order of the log."""
    while batch := writer.log(after_seq=seen):
        seen = batch[-1].seq
        _derive(writer, batch, None, lambda _: None)


def derive_projects(
    writer: Writer, projects: Collection[int], *, advance: Callable[[int], object]
) -> int:
    """Derive the items of some projects, which were cleared, from their events; as `rebuild`.

    Nothing that happened in another project may bear on them: see `purge.choose`.
    """
    count = _derive_by_time(writer, None, projects, advance)
    put_triages(writer)
    return count


def put_triages(writer: Writer) -> None:
    """Put what the log says was decided on signals, which belongs to no project."""
    decided = [
        (body, one.event.at_ms)
        for one in writer.log_of_kind("triage")
        if isinstance(body := one.event.body, Triage)
    ]
    for body, at_ms in decided:
        writer.put_triage(body, at_ms=at_ms)


def _derive_by_time(
    writer: Writer,
    embedder: Embedder | None,
    projects: Collection[int] | None,
    advance: Callable[[int], object],
) -> int:
    count = 0
    for batch in writer.by_time(projects):
        count += _derive(writer, batch, embedder, advance)
    return count


def _derive(
    writer: Writer,
    batch: Iterable[Recorded],
    embedder: Embedder | None,
    advance: Callable[[int], object],
) -> int:
    projection = Projection(writer, embedder)
    count = 0
    for count, recorded in enumerate(batch, 1):  # noqa: B007 - of the last one
        projection.add(recorded)
        advance(1)
    projection.finish()
    return count


def _is_suspicious(wrote: Enrichment) -> bool:
    """Return True if a model repeated instructions that it had read."""
    return bool(suspicion(f"{wrote.narrative}\n{wrote.learned}\n{wrote.next_steps}"))
