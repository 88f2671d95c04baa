"""The Python API that every front (MCP, HTTP, CLI) reads and writes through.

Reads see one consistent snapshot each. Writes become events, and return after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from observer.core.errors import BadInput, NotFound
from observer.core.events import Event
from observer.core.filters import HIDE, PIN, Filters, is_visible
from observer.core.model import Item, Project, Session, item_id
from observer.core.text import one_line
from observer.index import Index
from observer.memory.accounts import Accounts, WorktreeStore, scoped
from observer.memory.code_questions import CodeAnswer, why
from observer.memory.graph import Related, related
from observer.memory.values import Exported, Extract, Fetched, no_model
from observer.notes.folders import NoteFiles
from observer.notes.note_reader import UUID_CHARS, Flashback, FlashbackSettings, flashbacks
from observer.notes.notes import GRACE_MS, Notes
from observer.notes.pairs import Pairs
from observer.notes.signals import Inferences, Signals
from observer.notes.values import NoteAccess, Record
from observer.projects import event_folder, known_project_at
from observer.projects.fs_probe import from_windows
from observer.redaction.redact import redact_text
from observer.search.candidates import Encode, Sources
from observer.search.context import CARD_TOKENS, Pack, PackRequest, TokenCosts, pack
from observer.search.find import SearchHits, search
from observer.search.handles import (
    LARGEST_ID,
    SearchOptions,
    around,
    check_owner,
    is_id,
    meant,
    named,
    session_id,
)
from observer.search.recent_sessions import Uncommitted
from observer.search.reminder import Reminder, reminders
from observer.search.start import CardFact, Exists, Start, StartRequest, start
from observer.search.timeline import Timeline, stand_ins, timeline
from observer.store.interface import Store
from observer.store.log import LogEnd
from observer.store.reader import StoreReader, Totals

if TYPE_CHECKING:
    from observer.core.paths import Home
    from observer.memory.purging import PurgePreview
    from observer.sync.team_search import TeamSearch
    from observer.upkeep.carry_out import PurgeOrder
    from observer.upkeep.choose import Criteria
    from observer.upkeep.take_out import Deleted

TITLE_CHARS = 120


class Choices:
    """Reads and writes of choices; `chose` is called after each that bears on what is given."""

    def __init__(self, store: Store, *, owner: str, chose: Callable[[], object]) -> None:
        self._store = store
        self.owner = owner
        self._chose = chose

    def give(self, handle: str, how: str) -> Item:
        """Set how an item is given: hidden, pinned, or with an empty `how` as before; return it.

        Raises: BadInput (another `how`), NotFound, Ambiguous, StoreUnavailable (for reading only).
        """
        if how not in {HIDE, PIN, ""}:
            raise BadInput(f"no choice {how[:80]!r}", hint=f"{HIDE} it, {PIN} it, or neither")
        with self._store.write() as writer:
            number = meant(writer, handle)
            item = writer.item(number)
            if item is None or not is_visible(item, self.owner):
                raise NotFound(f"no item {handle[:80]!r}", hint="search for it first")
            writer.choose("given", number, how)
        self._chose()
        return item

    def given(self) -> dict[int, str]:
        """Return the choices of items, "hide" or "pin", by their ids."""
        with self._store.read() as reader:
            return reader.chosen("given")

    def hidden(self, project_id: int) -> list[Item]:
        """Return the hidden items of a project and of none, newest first."""
        with self._store.read() as reader:
            ids = [one for one, how in reader.chosen("given").items() if how == HIDE]
            found = [one for one in reader.items(ids) if is_visible(one, self.owner)]
        here = [one for one in found if one.project_id in {project_id, None}]
        return sorted(here, key=lambda one: -one.created_ms)

    def rename(self, handle: str, title: str) -> int:
        """Set the title of a session, redacted and cut, or with "" the old one; return its id.

        Raises: NotFound (no such session), StoreUnavailable (for reading only).
        """
        with self._store.write() as writer:
            number = session_id(writer, handle)
            if number is None:
                raise NotFound("no session is named", hint="see: observer sessions")
            writer.choose("title", number, one_line(redact_text(title), TITLE_CHARS).strip())
        return number


MOST_IDS = 50
"""Most items fetched by one call."""


class Memory:
    """Reads and writes of one user's memory; safe to share between threads.

    `owner` is whose personal notes are visible and written. Without `record` it reads only. For
    `grace_ms` what is deleted for good can be brought back. The memories of the mem0 tools are
    "personal", or of the "team" (`mem0_scope`). `chose` is called after a choice of what is given.
    """

    def __init__(  # noqa: PLR0913 - its parts, each named
        self,
        store: Store,
        *,
        owner: str,
        now_ms: Callable[[], int],
        index: Index,
        encode: Encode,
        record: Record | None = None,
        flashback_settings: FlashbackSettings = FlashbackSettings(),  # noqa: B008 - frozen
        extract: Extract = no_model,
        files: NoteFiles | None = None,
        grace_ms: int = GRACE_MS,
        team: Callable[[], TeamSearch] | None = None,
        mem0_scope: str = "personal",
        chose: Callable[[], object] = lambda: None,
    ) -> None:
        self._chose = chose
        self._team = team
        self.mem0_scope = mem0_scope
        self.extract = extract
        self.files = files or NoteFiles(store)
        self._store: Store = store
        self._index = index
        self._encode = encode
        self._now_ms = now_ms
        self._record = record
        self.flashback_settings = flashback_settings
        self._grace_ms = grace_ms
        self._see_as(owner)

    def _see_as(self, owner: str) -> None:
        """Set whose personal notes are visible and written."""
        self.owner = owner
        access = NoteAccess(self._store, owner, self._now_ms, self._sources, self._record)
        self.notes = Notes(access, self._grace_ms)
        self.signals = Signals(access)
        self.pairs = Pairs(self.notes, access)
        self.inferences = Inferences(self.signals, access)

    def at(self, folder: str) -> Memory:
        """Return the same memory as it looks from a folder: how items stand in that worktree."""
        seen = copy(self)
        seen._store = WorktreeStore(self._store, folder)  # noqa: SLF001 - ourselves, once more
        return seen

    def of(self, owner: str) -> Memory:
        """Return the same memory as somebody else, "" for nobody. Raises: BadInput (the name)."""
        if owner:
            check_owner(owner)
        seen = copy(self)
        seen._see_as(owner)  # noqa: SLF001 - as above
        return seen

    def owner_of(self, handle: int | str) -> Memory:
        """Return the same memory as the owner of a personal note sees it, deleted or not.

        Its exact handle is an id or whole uuid. Raises: NotFound (no personal note has it).
        """
        text = str(handle).strip().lstrip("#")
        with self._store.read() as reader:
            ids = reader.resolve(text) if len(text) == UUID_CHARS else []
            ids += [int(text)] if is_id(text) else []
            found = [reader.item(number, deleted=True) for number in ids]
        owners = [item.owner for item in found if item and item.kind == "note" and item.owner]
        if not owners:
            raise NotFound(f"no personal note {text[:80]!r}", hint="search for it first")
        return self.of(owners[0])

    def deleted(self) -> list[Deleted]:
        """Return the notes that were deleted for good and can still be brought back, whoever's."""
        from observer.upkeep.take_out import deleted  # noqa: PLC0415 - 40 ms, which searches do without

        with self._store.read() as reader:
            return list(deleted(reader))

    def purge_plan(self, here: Home, asked: Criteria) -> tuple[PurgePreview, PurgeOrder]:
        """Return what a purge takes, and its order. Raises: NotFound, BadInput, ConfigInvalid."""
        from observer.memory.purging import planned  # noqa: PLC0415 - as `deleted`

        with self._store.read() as reader:
            return planned(reader, here, asked)

    def search(
        self,
        query: str,
        *,
        project: str | None = None,
        limit: int = 10,
        narrow: SearchOptions = SearchOptions(),  # noqa: B008 - frozen
    ) -> SearchHits:
        """Find items by words and meaning. Raises: NotFound, Ambiguous (project or session)."""
        with self._sources() as sources:
            asked = self._scoped(sources.reader, narrow, project)
            return search(sources, query, asked, limit=limit, now_ms=self._now_ms())

    def search_team(
        self,
        query: str,
        *,
        project: str | None = None,
        limit: int = 10,
        narrow: SearchOptions = SearchOptions(),  # noqa: B008 - frozen
    ) -> SearchHits:
        """Find items as `search` does, and with the id 0 those that only a share's server has.

        A project may be one that only others have. Raises: NotFound, Ambiguous.
        """
        find: Callable[[], SearchHits] = SearchHits
        with self._sources() as sources:
            try:
                asked = self._scoped(sources.reader, narrow, project)
            except NotFound:
                if not project or narrow.session:
                    raise
                asked, name = self._scoped(sources.reader, narrow, None), project
            else:
                find = partial(search, sources, query, asked, limit=limit, now_ms=self._now_ms())
                name = sources.reader.project_names().get(asked.project_id, "")
            if self._team is None:
                return find()
            from observer.sync.team_search import TeamQuestion  # noqa: PLC0415 - seldom wanted

            question = TeamQuestion(sources, query, asked, name, limit, self._now_ms())
            urls = [share.url for share in sources.reader.shares()]
            return self._team().search(urls, question, find)

    def elsewhere(self, handle: str) -> Item | None:
        """Return the item that only the server of a share has, by its uuid or its beginning.

        Raises: Ambiguous (several begin so), ShareUnavailable.
        """
        with self._store.read() as reader:
            urls = [share.url for share in reader.shares()]
        return self._team().fetch(urls, handle) if self._team and urls else None

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        project: str | None = None,
        narrow: SearchOptions = SearchOptions(),  # noqa: B008 - frozen
    ) -> SearchHits:
        """Find notes of a project and of none. Raises: NotFound, Ambiguous (project or session)."""
        with self._sources() as sources:
            asked = self._scoped(sources.reader, narrow, project)
            filters = msgspec.structs.replace(asked, kinds=("note",), with_global=True)
            return search(sources, query, filters, limit=limit, now_ms=self._now_ms())

    def flashbacks(self, note: Item, wanted: FlashbackSettings) -> tuple[Flashback, ...]:
        """Return older notes from elsewhere that say something near to a note, nearest first."""
        with self._sources() as sources:
            return flashbacks(sources, note, wanted, owner=self.owner, now_ms=self._now_ms())

    def timeline(self, anchor: int, *, before: int = 5, after: int = 5) -> Timeline:
        """Return what happened around an item. Raises: NotFound, BadInput (not 0 to 50 deep)."""
        with self._store.read() as reader:
            if not self._visible(reader, [anchor]):
                raise NotFound(f"no item {anchor}", hint="search for it first")
            return timeline(reader, anchor, owner=self.owner, before=before, after=after)

    def why(self, target: str, folder: str) -> CodeAnswer:
        """Return what is behind a piece of code. Raises: BadInput, NotFound, Ambiguous (`why`)."""
        with self._store.read() as reader:
            return why(reader, target, folder, owner=self.owner, now_ms=self._now_ms())

    def related(self, name: str, *, project: str | None = None, limit: int = 3) -> Related:
        """Return what hangs on a name. Raises: NotFound, Ambiguous, BadInput (it has no word)."""
        with self._store.read() as reader:
            asked = self._scoped(reader, SearchOptions(), project)
            with_global = msgspec.structs.replace(asked, with_global=True)
            return related(reader, name, with_global, limit=limit)

    def reminders(self, event: Event, *, is_coming: bool = False) -> Iterator[Reminder]:
        """Yield reminders for an event that is about to happen, or has; see `reminders`."""
        project = self.project_at(event_folder(event))
        if project is None:
            return
        here = Filters(project_id=project.id, owner=self.owner)
        with self._store.read() as reader:
            for one in reminders(reader, event, here, is_coming=is_coming):
                if reader.chosen("given").get(one.item) != HIDE:  # seldom asked: most have none
                    yield one

    def observations(self, ids: Sequence[int]) -> Fetched:
        """Return items or their `stand_ins` in the order of `ids`, and the ids that have neither.

        Raises: BadInput (more than `MOST_IDS` ids).
        """
        if len(ids) > MOST_IDS:
            raise BadInput(
                f"{len(ids)} ids asked for, {MOST_IDS} at most", hint="ask in several calls"
            )
        with self._store.read() as reader:
            found = {item.id: item for item in self._visible(reader, ids)}
            parts = stand_ins(reader, [i for i in ids if i not in found and 0 < i <= LARGEST_ID])
        found |= {i: item for i, item in parts.items() if is_visible(item, self.owner)}
        items = {found[i].id: found[i] for i in ids if i in found}
        return Fetched(items=tuple(items.values()), missing=tuple(i for i in ids if i not in found))

    def context(
        self,
        project: str,
        *,
        budget_tokens: int = 2000,
        query: str = "",
        costs: TokenCosts,
        uncommitted: Uncommitted | None = None,
        has_card: bool = True,
    ) -> Pack:
        """Return what of a project is most useful and fits, see `pack`; without a query its card.

        Raises: NotFound, Ambiguous (the project), BadInput (the budget).
        """
        with self._sources() as sources:
            request = PackRequest(
                project_id=named(sources.reader.projects(), from_windows(project)).id,
                owner=self.owner,
                query=query,
                card_tokens=0 if query or not has_card else CARD_TOKENS,
                budget_tokens=budget_tokens,
                now_ms=self._now_ms(),
            )
            return pack(sources, request, costs, uncommitted=uncommitted)

    def start(
        self,
        request: StartRequest,
        cost: Callable[[CardFact], int],
        *,
        uncommitted: Uncommitted | None = None,
        exists: Exists | None = None,
    ) -> Start:
        """Return what a session is given, as this owner sees it now; BadInput as `search.start`."""
        asked = msgspec.structs.replace(request, owner=self.owner, now_ms=self._now_ms())
        with self._store.read() as reader:
            return start(reader, asked, cost, uncommitted=uncommitted, exists=exists)

    @property
    def accounts(self) -> Accounts:
        """Return the reads of what happened, as it looks from here."""
        return Accounts(self._store, owner=self.owner, now_ms=self._now_ms)

    @property
    def choices(self) -> Choices:
        """Return what a person chose by hand."""
        return Choices(self._store, owner=self.owner, chose=self._chose)

    def project(self, handle: str) -> Project:
        """Return a project by uuid, name, folder or remote. Raises: NotFound, Ambiguous."""
        with self._store.read() as reader:
            return named(reader.projects(), from_windows(handle))

    def project_at(self, folder: str) -> Project | None:
        """Return the known project around a folder, or None."""
        projects, folder = self.projects(), from_windows(folder)
        return around(projects, folder) or known_project_at(folder, projects)

    def place_of(self, folder: str) -> str:
        """Return the uuid of the project around a folder, else of the one of what is in none."""
        found = self.project_at(folder) if folder else None
        return found.uuid if found else self.projects()[0].uuid

    def projects(self) -> list[Project]:
        """Return all projects, by id."""
        with self._store.read() as reader:
            return reader.projects()

    def project_names(self) -> Callable[[int | None], str]:
        """Return a function from a project's id to its name; the name of no project is empty."""
        with self._store.read() as reader:
            names = reader.project_names()
        return lambda project_id: names.get(project_id, "")

    def sessions(
        self, *, project: str | None = None, active: bool = False, limit: int = 20
    ) -> list[Session]:
        """Return sessions, last active first; NotFound and Ambiguous as `project`."""
        with self._store.read() as reader:
            project_id = named(reader.projects(), from_windows(project)).id if project else None
            return reader.sessions(project_id=project_id, active=active, limit=limit)

    def session_names(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the clients' own ids of sessions, by ours."""
        with self._store.read() as reader:
            return reader.session_names(list(set(ids)))

    def session_id(self, handle: str) -> int | None:
        """Return the session that a client's own id, or ours, means; NotFound if there is none."""
        with self._store.read() as reader:
            return session_id(reader, handle)

    def summary(self, session_id: int) -> Item | None:
        """Return a session's summary, if it has one yet."""
        with self._store.read() as reader:
            return next(iter(reader.items([item_id(session_id, "summary")])), None)

    def resolve(self, handle: str) -> int:
        """Return the item of an id (``#28``), uuid, or 8 or more characters where one begins.

        Raises: NotFound (none fits), Ambiguous (several fit).
        """
        with self._store.read() as reader:
            return meant(reader, handle)

    def snapshot(self) -> Hashable:
        """See `StoreReader.snapshot`: another one as soon as anything is written."""
        with self._store.read() as reader:
            return reader.snapshot()

    def written(self) -> tuple[int, int, str]:
        """Return the last change of an item, the newest event, and the epoch of changes.

        They stay while nothing happens; the epoch is another one after a purge and a rebuild.
        """
        with self._store.read() as reader:
            return reader.newest_change(), reader.newest_seq(), reader.epoch()

    def totals(self) -> Totals:
        """Return counts and sizes."""
        with self._store.read() as reader:
            return reader.totals()

    def export(self) -> Iterator[Exported]:
        """Yield the projects, every stored event in log order, its end, and living items by id."""
        with self._store.read() as reader:
            yield from reader.projects()
            last = 0
            while batch := reader.log(after_seq=last):
                yield from batch
                last = batch[-1].seq
            yield LogEnd(last_seq=reader.next_seq() - 1)
            yield from reader.all_items()

    @contextmanager
    def _sources(self) -> Iterator[Sources]:
        with self._store.read() as reader, self._index.view(reader) as view:
            yield Sources(reader, view, self._encode)

    def _scoped(self, reader: StoreReader, narrow: SearchOptions, project: str | None) -> Filters:
        local = from_windows(project) if project else None
        return scoped(self._store, reader, narrow, project=local, owner=self.owner)

    def _visible(self, reader: StoreReader, ids: Sequence[int]) -> list[Item]:
        possible = [item for item in ids if abs(item) <= LARGEST_ID]
        return [item for item in reader.items(possible) if is_visible(item, self.owner)]
