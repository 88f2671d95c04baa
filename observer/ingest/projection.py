"""From recorded events to items and sessions: step 6, the same fold live and in a rebuild.

A session that is over learns of a commit of its changes, and that its plan was begun. Nothing
depends on how the log is cut into transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from observer.core.events import (
    Command,
    Commit,
    Enriched,
    Event,
    Forget,
    Prompt,
    Remember,
    Shared,
    Triage,
    Undo,
)
from observer.core.filters import Filters
from observer.core.model import Enrichment, Item, Recorded, Session
from observer.core.paths import is_inside
from observer.core.text import is_within
from observer.ingest.note_projection import NoteProjection
from observer.observations import (
    event_text,
    project_state,
    quoting,
    session_commits,
    session_state,
    turns,
)
from observer.observations.analysis import analysis_of
from observer.observations.drafts import enrichment
from observer.observations.note_reducer import OnNote, forgotten
from observer.observations.project_reducer import ProjectReducer, rewritten, taken_back
from observer.observations.prompt_injection import suspicion, with_suspicion
from observer.observations.session_commits import GitOperation
from observer.observations.session_reducer import Items, SessionReducer
from observer.observations.session_state import SessionState, begin
from observer.observations.summary import summarize
from observer.store.reader import StoreReader
from observer.store.writer import Writer

TURNS = 100
"""Newest turns of a session that are looked at for what was taken back."""
SESSIONS = 100
"""Sessions of a project that are looked at for open work, the last active ones."""
OLD_MS = 14 * 86_400_000
"""What a session left that ended so long before is not looked for."""
_OF_COMMITS = frozenset({"reverts", "replaces", "makes", "brings"})


class OpenWork(NamedTuple):
    """A session with files that no commit has, a plan not begun, and beginnings of its commits."""

    session: Session
    dirty: frozenset[str]
    plan: str
    commits: frozenset[str]


class Embedder(Protocol):
    """Makes vectors of items: see `observer.index.embed.lazy_model.LazyModel`."""

    @property
    def id(self) -> str:
        """The model that makes them."""

    @property
    def dimensions(self) -> int:
        """Dimensions of a whole vector; shorter ones are the beginning of one."""

    def begin(self, items: Sequence[Item]) -> Callable[[], Mapping[int, bytes]]:
        """Begin to embed items beside what goes on; returns what waits for their vectors, by id.

        None, or shorter ones, from a model that is too slow to wait for.
        """

    def made(self, items: Sequence[Item]) -> Mapping[int, bytes]:
        """Return the vector of each item, by id, however long it takes; none without a model."""


def put_embedded(writer: Writer, items: Sequence[Item], embedder: Embedder | None) -> None:
    """Put items with their vectors; records, which are looked for by their words, have none."""
    if embedder is None:
        writer.put_items(items)
        return
    found = [one for one in items if one.deleted_ms is None and one.kind != "record"]
    writer.put_items(items, model=embedder.id, vectors=embedder.begin(found))


class Projection:
    """Everything that one write transaction derives from the events it is given, in log order.

    Items, with their vectors, and sessions are put at `finish`, each once.
    """

    def __init__(self, writer: Writer, embedder: Embedder | None = None) -> None:
        self._writer = writer
        self._notes = NoteProjection(writer)
        self._arcs: dict[int, ProjectReducer] = {}
        self._before = project_state.ProjectState()
        self._embedder = embedder
        self._folds: dict[int | None, SessionReducer] = {None: SessionReducer(None)}
        self._stored: dict[int, list[OpenWork]] = {}
        self._items: dict[int, Item] = {}
        self._forgotten = dict(writer.forgotten())
        self._enriched: dict[int, Enrichment] = {}
        self._gone: dict[str, int] = {}
        self._captured: dict[str, int] = {}

    def expect(self, events: Iterable[Event]) -> None:
        """Look at once for what the next events ask for: nothing else may come between."""
        shared = [one.body.uuid for one in events if isinstance(one.body, Shared)]
        if shared:
            self._notes.expect(shared)

    def add(self, recorded: Recorded) -> int | None:
        """Interpret one event, of a late one only itself; return the item it made or changed."""
        if not isinstance(recorded.event.body, Shared):
            self._notes.put()
        is_late = self._arc(recorded.project_id).is_late(recorded)
        key = recorded.session_id
        if key not in self._folds:
            stored = None if key is None or key == recorded.seq else self._writer.session(key)
            self._folds[key] = SessionReducer(stored or begin(recorded))
        fold = self._folds[key]
        whole, drafted = fold.add_paired(recorded)
        history, arcs = self._arc(whole.project_id), tuple[Item, ...]()
        if not is_late:
            self._before = history.state
            fixes = history.add(whole, tuple(drafted))
            arcs = tuple(self._resolved(item, whole) for item in fixes)
        fold.learn(arcs, history.state.failures)
        if not is_late:
            self._take_up(recorded, whole, drafted)
            self._take_back(whole, (*drafted, *arcs))
        self._captured |= {item.uuid: item.id for item in (*drafted, *arcs)}
        made = [*drafted, *arcs, *self._purpose(recorded)]
        self._items |= {item.id: item for item in made}
        return made[0].id if made else None

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

    def state(self, session_id: int) -> SessionState:
        """Return what is remembered of a session that is known, after the events added so far."""
        return self._fold_of(session_id).state()

    def finish(self) -> None:
        """Put what was derived."""
        for fold in self._folds.values():
            if session := fold.session():
                self._writer.put_session(session)
                made = [*fold.turn(), *filter(None, [summarize(session)])]
                self._items |= {item.id: item for item in made}
        for project_id, arcs in self._arcs.items():
            if (state := arcs.changed_state()) is not None:
                self._writer.put_project_state(project_id, state)
        absent = [item_id for item_id in self._enriched if item_id not in self._items]
        self._items |= {item.id: item for item in self._writer.items(absent)}
        known = {**self._writer.enrichments(list(self._items)), **self._enriched}
        written = {  # a model may have repeated instructions that it had read
            item_id: one
            for item_id, one in known.items()
            if not suspicion(f"{one.narrative}\n{one.learned}\n{one.next_steps}")
        }
        for item_id in written.keys() & self._items.keys():
            self._items[item_id] = replace(self._items[item_id], enrichment=written[item_id])
        for item in self._items.values():
            if (at_ms := self._gone.get(item.uuid)) is not None:
                self._forget(item.id, at_ms)
        items = [
            forgotten(item, self._forgotten[item.id]) if item.id in self._forgotten else item
            for item in self._items.values()
        ]
        put_embedded(self._writer, list(map(with_suspicion, items)), self._embedder)

    def _take_up(self, recorded: Recorded, whole: Recorded, drafted: Items) -> None:
        """Mark in other sessions that an event takes up what they left open."""
        body, gone = recorded.event.body, discarding(whole)
        if isinstance(body, Commit) and not event_text.is_pulled(body):
            paths = frozenset(path for item in drafted for path in item.files_modified)
            saying = session_commits.commit_text(body.subject, body.hash)
            for left in self._left_before(recorded):
                if not left.dirty.isdisjoint(paths):
                    self._fold_of(left.session.id).commit(saying, paths)
        for left in self._left_before(whole) if gone else ():
            if is_inside(left.session.cwd, whole.root) and any(
                is_within(path, one.paths) for one in gone for path in left.dirty
            ):
                self._fold_of(left.session.id).discard(gone)
        heading = quoting.heading_of(body.text) if isinstance(body, Prompt) else ""
        for left in self._left_before(recorded) if heading else ():
            if left.plan == heading:
                self._fold_of(left.session.id).begin_plan()

    def _take_back(self, whole: Recorded, made: Items) -> None:
        """Mark in the sessions that had a part in it what an event takes back or replaces."""
        became = rewritten(whole, made)
        gone = {commit[: session_commits.HASH_CHARS] for commit in became}
        named = self._left_before(whole) if gone else ()
        own = [whole.session_id] if became and whole.session_id else []
        others = [left.session.id for left in named if not left.commits.isdisjoint(gone)]
        for session_id in [*own, *others]:
            self._amend_turns(session_id, (), self._fold_of(session_id).rewrite(became))
        back = taken_back(self._before, self._arc(whole.project_id).state)
        for session_id, paths in back.items():
            self._fold_of(session_id).take_back(paths)
            self._amend_turns(session_id, paths, ())

    def _left_before(self, recorded: Recorded) -> list[OpenWork]:
        """Return the other sessions of the project that were there, and not long over."""
        at_ms, project_id = recorded.event.at_ms, recorded.project_id
        if project_id not in self._stored:
            sessions = self._writer.sessions(project_id=project_id, limit=SESSIONS)
            self._stored[project_id] = [
                _left(session, session_state.decode(session.state)) for session in sessions
            ]
        known = ((fold.current(), fold.state()) for fold in self._folds.values())
        found = [_left(one, state) for one, state in known if one and one.project_id == project_id]
        found += [one for one in self._stored[project_id] if one.session.id not in self._folds]
        return [
            left
            for left in found
            if left.session.started_ms <= at_ms <= left.session.last_ms + OLD_MS
            and left.session.id != recorded.session_id
        ]

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

    def _arc(self, project_id: int) -> ProjectReducer:
        """Return what carries the state of a project."""
        if project_id not in self._arcs:
            self._arcs[project_id] = ProjectReducer(self._writer.project_state(project_id))
        return self._arcs[project_id]

    def _resolved(self, item: Item, recorded: Recorded) -> Item:
        """Return an item whose links to commits have targets."""
        hashes = [link.title for link in item.links if link.kind in _OF_COMMITS and link.title]
        if not hashes:
            return item
        # What came later into the log is unknown, so that a rebuild derives the same.
        known = self._writer.commits(recorded.project_id, hashes, before=recorded.seq)
        to = (link.target or known.get(link.title, 0) for link in item.links)
        links = (replace(link, target=id_) for link, id_ in zip(item.links, to, strict=True))
        return replace(item, links=tuple(links))

    def _purpose(self, recorded: Recorded) -> list[Item]:
        """Carry out what was asked on purpose."""
        body = recorded.event.body
        if isinstance(body, Remember):
            return [self._notes.remembered(recorded, body)]
        if isinstance(body, Enriched):
            self._enriched[body.item] = enrichment(body, recorded.event.at_ms)
        if isinstance(body, Triage):
            self._writer.put_triage(body, at_ms=recorded.event.at_ms)
        if isinstance(body, Shared):
            return self._shared(recorded, body)
        return self._on_item(recorded, body) if isinstance(body, OnNote) else []

    def _on_item(self, recorded: Recorded, body: OnNote) -> list[Item]:
        if changed := self._notes.changed(recorded, body):
            return [changed]
        if isinstance(body, Forget):
            return self._forget(body.item, recorded.event.at_ms)
        return self._restore(body.item, recorded.seq) if isinstance(body, Undo) else []

    def _shared(self, recorded: Recorded, body: Shared) -> list[Item]:
        made = self._notes.shared(recorded, body, self._items.get(self._captured.get(body.uuid, 0)))
        if body.item is None and made:
            # What is captured here is derived again.
            self._writer.forget(made.id, at_ms=recorded.event.at_ms)
            self._forgotten.setdefault(made.id, recorded.event.at_ms)
        elif body.item is None:
            self._gone[body.uuid] = recorded.event.at_ms
        return [made] if made else []

    def _forget(self, item_id: int, at_ms: int) -> list[Item]:
        # An open burst or session derives its item again: deleting what is there is not enough.
        self._writer.forget(item_id, at_ms=at_ms)
        self._forgotten.setdefault(item_id, at_ms)
        found = self._items.get(item_id) or self._writer.item(item_id)
        if found is None:
            return []
        gone = forgotten(found, self._forgotten[item_id])
        self._writer.put_items([gone])
        return [gone]

    def _restore(self, item_id: int, before: int) -> list[Item]:
        """Bring back an item that was captured and forgotten, but not gone everywhere `before`."""
        found = self._items.get(item_id) or self._writer.item(item_id, deleted=True)
        if found and self._writer.gone([found.uuid], before=before):
            return []
        self._writer.restore(item_id)
        self._forgotten.pop(item_id, None)
        if found is None or found.deleted_ms is None:
            return []
        restored = replace(found, deleted_ms=None)
        self._writer.put_items([restored])
        return [restored]


def rebuild(
    writer: Writer,
    embedder: Embedder | None = None,
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> int:
    """Derive all items and sessions from the log; returns the count of events that could be read.

    In the order of `StoreReader.by_time`. `advance` is called with the number of further events.
    """
    writer.clear_projection()
    return _derive(writer, writer.by_time(None), embedder, advance)


def derive_after(writer: Writer, seen: int) -> None:
    """Derive the items of the events after `seen`, a `seq`, in the order of the log."""
    while batch := writer.log(after_seq=seen):
        seen = batch[-1].seq
        _derive(writer, [batch], None, lambda _: None)


def derive_projects(
    writer: Writer, projects: Collection[int], *, advance: Callable[[int], object]
) -> int:
    """Derive the items of some projects, which were cleared and stand alone, as `rebuild` does."""
    count = _derive(writer, writer.by_time(projects), None, advance)
    put_triages(writer)
    return count


def put_triages(writer: Writer) -> None:
    """Put what the log says was decided on signals, which belongs to no project."""
    log = writer.log_of_kind("triage")
    decided = [(body, one.event.at_ms) for one in log if isinstance(body := one.event.body, Triage)]
    for body, at_ms in decided:
        writer.put_triage(body, at_ms=at_ms)


def _derive(
    writer: Writer,
    batches: Iterable[Iterable[Recorded]],
    embedder: Embedder | None,
    advance: Callable[[int], object],
) -> int:
    count = 0
    for batch in batches:
        projection = Projection(writer, embedder)
        for recorded in batch:
            projection.add(recorded)
            advance(1)
            count += 1
        projection.finish()
    return count


def out_of_order(reader: StoreReader) -> list[int]:
    """Return the projects in which something came after what happened later: derive them anew."""
    states = ((one.id, reader.project_state(one.id)) for one in reader.projects())
    return [one for one, state in states if project_state.decode(state).is_out_of_order]


def discarding(whole: Recorded) -> list[GitOperation]:
    """Return what an event, a tool's result completed, discards of the work tree."""
    body = whole.event.body
    if not isinstance(body, Command) or not whole.root:
        return []
    is_ok = analysis_of(whole).result.ok is not False
    done = session_commits.operations_of(whole, body, is_ok=is_ok)
    return [one for one, _ in done if one.kind in session_commits.DISCARDING]


def _left(session: Session, known: SessionState) -> OpenWork:
    dirty = frozenset(session_commits.open_files(known))
    named = map(session_commits.hash_of, (*known.commits, *known.later_commits))
    return OpenWork(session, dirty, known.plan, frozenset(named))
