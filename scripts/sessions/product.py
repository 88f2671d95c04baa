"""The product under replay: the real pipeline and memory over a home of its own.

The only module here that knows how the product is put together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from observer.core.config import Settings
from observer.core.events import Event
from observer.core.model import UNASSIGNED, Item, Recorded, item_id
from observer.core.paths import Home
from observer.git.process import uncommitted_paths
from observer.importers.source import Problems, commits, groups, sources
from observer.importers.source import events_of as events_of_group
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import chosen, load
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.projects import PlaceCache
from observer.search.rank import Hit
from observer.serve.requests import RemindedSessions, remind
from observer.staleness.worktree_sync import sync_worktree
from observer.store.database import SqliteStore
from observer.store.writer import Writer
from observer.tools import hook_output
from observer.tools.render import excerpts, heading
from observer.upkeep import redact

_CLIENT = "claude-code"
_BATCH = 500
_EMBEDDED = 100


Fields = Sequence[tuple[str, str]]
"""The fields of an envelope in their order; `arg` may repeat."""


class Clock:
    """The time of the replay."""

    def __init__(self) -> None:
        self.at_ms = 0

    def __call__(self) -> int:
        """Return it in milliseconds."""
        return self.at_ms


class Product:
    """Takes what hooks would spool, and answers what agents would be given.

    Args:
        folder: the home to use.
        clock: says what time it is.
        with_vectors: whether to embed what is stored, as the daemon does.
    """

    def __init__(self, folder: Path, clock: Clock, *, with_vectors: bool) -> None:
        self._home = Home(folder)
        self._settings = Settings()
        self._clock = clock
        self._spool = Spool(self._home.spool)
        self._spool.prepare()
        self._store = SqliteStore(self._home.database)
        self._model = LazyModel(chosen(self._settings.model, self._home.models))
        self._with_vectors = with_vectors
        self._pipeline = Pipeline(
            self._store,
            self._spool,
            settings=self._settings,
            places=PlaceCache(),
            now_ms=clock,
            embedder=self._model if with_vectors else None,
        )
        self._index = index_for(self._home.index, self._model, is_owner=True)
        self._memory = Memory(
            self._store,
            owner="",
            now_ms=clock,
            index=self._index,
            encode=self._model.encode_patiently if with_vectors else lambda *_: None,
            record=self._pipeline.ingest,
        )
        self._shown = RemindedSessions(self._home.reminders)
        self._count = 0
        self._embedded = 0
        self.bad = 0

    def spool(self, fields: Fields, payload: bytes) -> None:
        """Put in what a hook would, under the time of the replay; see hooks/README.md."""
        self._count += 1
        file = self._home.spool / "new" / f"{self._count:032x}"
        file.write_bytes(self._envelope(fields, payload))
        stamp = self._clock.at_ms * 1_000_000
        os.utime(file, ns=(stamp, stamp))

    def drain(self) -> None:
        """Store all that was spooled."""
        while (drained := self._pipeline.drain()).entries:
            self.bad += drained.bad

    def ingest(self, events: Sequence[Event]) -> None:
        """Store what a front reports, such as notes."""
        self._pipeline.ingest(events)

    def settle(self) -> None:
        """Do what the daemon does meanwhile: end idle sessions, follow HEAD, embed, index."""
        self.drain()
        self._pipeline.close_idle()
        self._redact_known()
        for project in self._memory.projects():
            if project.id != UNASSIGNED:
                sync_worktree(self._store, self._write, project)
        if self._with_vectors:
            self._embed()
        with self._store.read() as reader:
            self._index.refresh(reader)

    def _redact_known(self) -> None:
        if redact.catch_up(self._store, lambda work, *given: work(*given)):
            self._pipeline.rebuild()
            self._store.compact()

    def import_git(self, folder: Path) -> None:
        """Do what `observer import git` does."""
        found = list(commits(str(folder)))
        for start in range(0, len(found), _BATCH):
            self._pipeline.ingest(found[start : start + _BATCH])

    def import_sessions(self, paths: Sequence[Path]) -> None:
        """Do what `observer import` does with transcripts."""
        source, problems = sources()[_CLIENT], Problems()
        for group in groups(source.find(paths, problems)):
            self._pipeline.ingest(events_of_group(source, group, self._settings, problems))

    def context(self, folder: Path) -> str:
        """Return what the session-start hook of Claude Code prints in a folder."""
        for project in self._memory.projects():
            if str(folder) in project.roots:
                hook_output.write(
                    self._memory, project, self._home, self._settings, uncommitted=uncommitted_paths
                )
        place = hook_output.mirror(self._home, str(folder))
        for name in (f"CONTEXT.{_CLIENT}.md", hook_output.ANYONES):
            if (place / name).exists():
                return (place / name).read_text(encoding="utf-8")
        return ""

    def search(self, query: str, folder: Path, *, limit: int) -> list[Item]:
        """Return what an agent in a folder finds."""
        return [hit.item for hit in _hits(self._memory, query, folder, limit)]

    def remind(self, fields: Fields, payload: bytes) -> str:
        """Return what `hooks/recall` prints."""
        asked = self._envelope(fields, payload)
        return remind(self._memory, self._shown, asked, at_ms=self._clock.at_ms).decode()

    def next_item(self) -> int:
        """Return an id that no item has reached yet."""
        with self._store.read() as reader:
            return item_id(reader.newest_seq() + 1)

    def close(self) -> None:
        """Let go of the store."""
        self._index.close()
        self._store.close()

    def _envelope(self, fields: Fields, payload: bytes) -> bytes:
        known = (("ppid", "1"), ("host", "replay"), ("at", str(self._clock.at_ms)))
        lines = ("OBS1", *(f"{name}={value}" for name, value in (*fields, *known)), "", "")
        return "\0".join(lines).encode() + payload

    def _embed(self) -> None:
        before = -1
        while before != self._embedded:
            made = self._pipeline.embedded(self._embedded, limit=_EMBEDDED)
            self._pipeline.keep_embedded(made)
            before, self._embedded = self._embedded, made.last_change

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self._store.write() as writer:
            work(writer)


class Reading:
    """A kept memory, to be asked; used as a context.

    Args:
        folder: its home.
        at_ms: what time it is.
    """

    def __init__(self, folder: Path, at_ms: int = 0) -> None:
        clock = Clock()
        clock.at_ms = at_ms
        self._store = SqliteStore(Home(folder).database, read_only=True)
        self._info = chosen(Settings().model, Home(folder).models)
        model = LazyModel(self._info)
        self._memory = Memory(
            self._store,
            owner="",
            now_ms=clock,
            index=index_for(Home(folder).index, model, is_owner=False),
            encode=model.encode_patiently,
        )

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the store."""
        self._store.close()

    def search(self, query: str, folder: Path, *, limit: int) -> list[Item]:
        """Return what an agent in a folder finds."""
        return [hit.item for hit in _hits(self._memory, query, folder, limit)]

    def read(self, query: str, folder: Path, *, limit: int) -> list[str]:
        """Return for each hit what is printed of it in the list that an agent is given."""
        hits = _hits(self._memory, query, folder, limit)
        shown = zip(hits, excerpts(hits), strict=True)
        return [f"{heading(hit.item)}\n{text}" for hit, text in shown]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what texts mean to the model in use, float32 (texts, dimensions)."""
        return load(self._info).embed(texts)

    def why(self, target: str, folder: Path) -> list[str]:
        """Return the clients' ids of the sessions behind the newest change of a line.

        Those that wrote it come first, then those that committed it.
        """
        shown = self._memory.why(target, str(folder))
        return [
            session.external
            for change in shown.changes[:1]
            for session in (*change.sessions, *change.committers)
        ]


def _hits(memory: Memory, query: str, folder: Path, limit: int) -> list[Hit]:
    found = memory.at(str(folder)).search(query, project=str(folder), limit=limit)
    return list(found.hits[:limit])


def events_of(database: Path) -> list[Recorded]:
    """Return all stored events in the order of the log."""
    found: list[Recorded] = []
    with closing(SqliteStore(database, read_only=True)) as store, store.read() as reader:
        while batch := reader.log(after_seq=found[-1].seq if found else 0):
            found += batch
    return found


def items_of(database: Path) -> list[Item]:
    """Return all living items by id, each with its validity."""
    with closing(SqliteStore(database, read_only=True)) as store, store.read() as reader:
        return reader.items([item.id for item in reader.all_items()])
