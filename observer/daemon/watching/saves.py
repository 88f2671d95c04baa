"""Tells the store what was saved, unless a hook did; and takes back what a hook told later.

Saves that wait until every hook had time to tell of them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Literal, NamedTuple, TypeAlias

from observer.core.clock import now_ms
from observer.core.events import AnyBody, Event, Forget
from observer.core.paths import is_inside
from observer.ingest.duplicates import WINDOW_MS, path_written
from observer.ingest.file_changes import (
    Save,
    bulk_change_event,
    has_effect,
    merge_saves,
    save_event,
)
from observer.notes.values import Record
from observer.spool.spool import Spool
from observer.store.interface import Store, StoreReader

MOST_WAIT_MS = 60_000
"""An editor that saves at every pause of the typist is told of at least this often."""
MOST_SAVES = 8
"""Of one file that wait one by one; each holds the whole text."""

Where = tuple[str, str]
"""A work tree, and a path in it."""


class PendingSaves:
    """The saves of all trees, by file, in their order."""

    def __init__(self) -> None:
        self._saves: dict[Where, list[Save]] = {}
        self._from_ms: dict[Where, int] = {}
        self._to_ms: dict[Where, int] = {}

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._saves)

    def add(self, root: str, saves: Iterable[Save], *, now_ms: int) -> None:
        """Let saves wait."""
        for save in saves:
            where = root, save.path
            waiting = self._saves.setdefault(where, [])
            self._from_ms.setdefault(where, now_ms)
            self._to_ms[where] = now_ms
            waiting.append(save)
            if len(waiting) > MOST_SAVES:
                waiting[:2] = [merge_saves(*waiting[:2])]

    def due_ms(self) -> int | None:
        """Return when the next file is due, None if nothing waits."""
        return min(map(self._due_ms, self._saves), default=None)

    def due(self, now_ms: int) -> dict[str, list[list[Save]]]:
        """Return, by tree, the saves of each file that have waited long enough; they stay."""
        found: dict[str, list[list[Save]]] = {}
        for where, saves in self._saves.items():
            if self._due_ms(where) <= now_ms:
                found.setdefault(where[0], []).append(list(saves))
        return found

    def drop(self, root: str, paths: Iterable[str]) -> None:
        """Forget what was told."""
        for path in paths:
            for kept in (self._saves, self._from_ms, self._to_ms):
                kept.pop((root, path), None)

    def _due_ms(self, where: Where) -> int:
        return min(self._to_ms[where] + WINDOW_MS, self._from_ms[where] + MOST_WAIT_MS)


def unreported(saves: Iterable[Save], told_ms: Iterable[int]) -> Save | None:
    """Return what of one file's saves hooks did not tell at these times, None if nothing."""
    times = list(told_ms)
    left = [save for save in saves if not is_reported(save, times)]
    whole = reduce(merge_saves, left) if left else None
    return whole if whole and has_effect(whole) else None


def is_reported(save: Save, told_ms: Iterable[int]) -> bool:
    """Tell whether one of the times is that of a save."""
    return any(save.from_ms - WINDOW_MS <= at_ms <= save.to_ms + WINDOW_MS for at_ms in told_ms)


CLIENT = "watch"
ROUTE = "watch/write"
MANY = 25
"""So many files at once are one happening: a generator's work, not somebody's."""
LATE_MS = 600_000
"""How late a hook may tell of a write that was told already."""

_NO_AGENTS = frozenset({"git", "bash", "zsh", "fish", CLIENT})


Author: TypeAlias = Literal["person", "system"]


class _Told(NamedTuple):
    save: Save
    root: str
    item: int
    at_ms: int

    @property
    def path(self) -> str:
        return f"{self.root}/{self.save.path}"


class SaveReporter:
    """Made once; remembers what it told for as long as a hook may still tell it too."""

    def __init__(self, store: Store, spool: Spool, record: Record) -> None:
        self._store = store
        self._spool = spool
        self._record = record
        self._told: list[_Told] = []

    @property
    def may_be_too_early(self) -> bool:
        """Whether a hook may still tell of something that was told."""
        return bool(self._told)

    def tell(self, root: str, files: Sequence[Sequence[Save]]) -> bool:
        """Tell the saves of each file as one write; False if it is too early to know.

        Raises:
            StoreUnavailable: nothing was told.
        """
        if self._spool.depth():
            return False  # a hook may have told, and nobody has read it yet
        files = [[save for save in saves if not self._is_paused(save, root)] for saves in files]
        if not any(files):
            return True
        with self._store.read() as reader:
            hooks = self._hook_writes(reader, [save for saves in files for save in saves])
            is_certain = not _is_agent_at_work(reader, root)
        left = [
            unreported(saves, hooks.get(f"{root}/{saves[0].path}", ())) for saves in files if saves
        ]
        saves = sorted((save for save in left if save), key=lambda save: save.to_ms)
        if len(saves) > MANY:
            self._record([_event(bulk_change_event(saves, root), root, saves[0].to_ms)], None)
        elif saves:
            self._record_each(saves, root, author="person" if is_certain else "system")
        return True

    def _record_each(self, saves: Sequence[Save], root: str, *, author: Author) -> None:
        events = [_event(save_event(save, root), root, save.to_ms, author=author) for save in saves]
        receipts = self._record(events, None)
        self._told += [
            _Told(save, root, receipt.item, now_ms())
            for save, receipt in zip(saves, receipts, strict=True)
            if receipt.item is not None
        ]

    def take_back(self) -> None:
        """Forget what hooks, which know more of it, told after all.

        Raises:
            StoreUnavailable: try again.
        """
        self._told = [told for told in self._told if told.at_ms > now_ms() - LATE_MS]
        if not self._told:
            return
        with self._store.read() as reader:
            hooks = self._hook_writes(reader, [told.save for told in self._told])
        twice = [
            told
            for told in self._told
            if is_reported(told.save, hooks.get(f"{told.root}/{told.save.path}", ()))
        ]
        if twice:
            gone = [_event(Forget(item=one.item), one.root, now_ms()) for one in twice]
            self._record(gone, None)
            self._told = [told for told in self._told if told not in twice]

    def _is_paused(self, save: Save, root: str) -> bool:
        pauses = self._spool.pauses
        return pauses.covers(save.from_ms, [root]) or pauses.covers(save.to_ms, [root])

    def _hook_writes(self, reader: StoreReader, saves: Collection[Save]) -> dict[str, list[int]]:
        """Return when hooks told of writes around the time of the saves, by the file's real path.

        What hooks told of a private session counts as told, too, and is recorded by nobody.
        """
        from_ms = min(save.from_ms for save in saves) - WINDOW_MS
        to_ms = max(save.to_ms for save in saves) + WINDOW_MS
        found: dict[str, list[int]] = {}
        for recorded in reader.written_near(from_ms=from_ms, to_ms=to_ms):
            event = recorded.event
            if event.route != ROUTE and (path := path_written(event)):
                found.setdefault(_real(path), []).append(event.at_ms)
        for path, at_ms in self._spool.pauses.withheld(from_ms=from_ms, to_ms=to_ms):
            found.setdefault(_real(path), []).append(at_ms)
        return found


def _event(body: AnyBody, folder: str, at_ms: int, *, author: Author = "system") -> Event:
    return Event(
        id=uuid.uuid4().hex,
        at_ms=at_ms,
        client=CLIENT,
        body=body,
        cwd=folder,
        roots=(folder,),
        route=ROUTE,
        author=author,
    )


def _real(path: str) -> str:
    """Return a path by its folder's real name; the file itself may be gone."""
    folder, _, name = path.rpartition("/")
    try:
        return f"{os.path.realpath(folder)}/{name}"
    except ValueError:  # NUL or lone surrogates
        return path


def _is_agent_at_work(reader: StoreReader, root: str) -> bool:
    """Tell whether an agent without hooks for what it writes may have been the author."""
    here = {project.id for project in reader.projects() if root in project.roots}
    return any(
        session.client not in _NO_AGENTS
        and (session.project_id in here or is_inside(session.cwd, root))
        for session in reader.sessions(active=True, limit=50)
    )
