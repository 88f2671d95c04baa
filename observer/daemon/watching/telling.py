"""Tells the store what was saved, unless a hook did; and takes back what a hook told later."""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, TypeAlias

from observer.capture.saves import Save, many, write_of
from observer.capture.twins import WINDOW_MS, path_written
from observer.clock import now_ms
from observer.daemon.watching.pending import is_told, untold
from observer.events import AnyBody, Event, Forget
from observer.memory import Record
from observer.paths import is_inside
from observer.spool import Spool
from observer.store.interface import Reader, Store

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


class Telling:
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
        left = [untold(saves, hooks.get(f"{root}/{saves[0].path}", ())) for saves in files if saves]
        saves = sorted((save for save in left if save), key=lambda save: save.to_ms)
        if len(saves) > MANY:
            self._record([_event(many(saves, root), root, saves[0].to_ms)], None)
        elif saves:
            self._record_each(saves, root, author="person" if is_certain else "system")
        return True

    def _record_each(self, saves: Sequence[Save], root: str, *, author: Author) -> None:
        events = [_event(write_of(save, root), root, save.to_ms, author=author) for save in saves]
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
            if is_told(told.save, hooks.get(f"{told.root}/{told.save.path}", ()))
        ]
        if twice:
            gone = [_event(Forget(item=one.item), one.root, now_ms()) for one in twice]
            self._record(gone, None)
            self._told = [told for told in self._told if told not in twice]

    def _is_paused(self, save: Save, root: str) -> bool:
        pauses = self._spool.pauses
        return pauses.covers(save.from_ms, [root]) or pauses.covers(save.to_ms, [root])

    def _hook_writes(self, reader: Reader, saves: Collection[Save]) -> dict[str, list[int]]:
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


def _is_agent_at_work(reader: Reader, root: str) -> bool:
    """Tell whether an agent without hooks for what it writes may have been the author."""
    here = {project.id for project in reader.projects() if root in project.roots}
    return any(
        session.client not in _NO_AGENTS
        and (session.project_id in here or is_inside(session.cwd, root))
        for session in reader.sessions(active=True, limit=50)
    )
