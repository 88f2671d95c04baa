"""Opening a memory: for reading without a daemon, and the index of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import StoreUnavailable
from observer.core.paths import Home
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import chosen
from observer.memory.api import Memory
from observer.notes.folders import NoteFiles
from observer.store.connection import stemmer
from observer.store.database import SqliteStore

if TYPE_CHECKING:
    from observer.sync.team_search import TeamSearch


@contextmanager
def open_memory(home: Home, *, folder: str = "") -> Iterator[Memory]:
    """Open the memory of a home for reading, as seen from an absolute folder if one is named.

    Its daemon may run; what waits in the spool is not seen. Raises: StoreUnavailable (there is no
    database yet, it cannot be read, or a purge was interrupted), ConfigInvalid (the settings).
    """
    settings = config.load(home)
    refuse_unsettled(home)
    store = SqliteStore(home.database, read_only=True)
    try:
        memory = reading(store, home, settings)
        yield memory.at(folder) if folder else memory
    finally:
        store.close()


def reading(store: SqliteStore, home: Home, settings: Settings) -> Memory:
    """Return a memory that only reads a store of a home."""
    model = LazyModel(chosen(settings.model, home.models))
    return Memory(
        store,
        owner=config.owner(settings),
        now_ms=now_ms,
        index=index_for(home.index, model, is_owner=False),
        encode=model.encode_patiently,
        files=NoteFiles(store, home),
        team=team_of(model),
    )


def team_of(model: LazyModel) -> Callable[[], TeamSearch]:
    """Return what makes the search of servers when it is first wanted."""

    @cache
    def made() -> TeamSearch:
        from observer.sync.team_search import ItemModel, TeamSearch  # noqa: PLC0415 - seldom wanted

        return TeamSearch(ItemModel(model.id, model.info.dimensions, stemmer()))

    return made


def refuse_unsettled(home: Home) -> None:
    """Return unless a purge is not finished here. Raises: StoreUnavailable (it is not)."""
    if home.purging.exists():
        raise StoreUnavailable("a purge was interrupted", hint="finish it with: observer up")


def index_for(folder: Path, model: LazyModel, *, is_owner: bool) -> Index:
    """Return the index in a folder; see `Index` for who owns it."""
    index = Index(folder, stem=stemmer(), is_owner=is_owner)
    index.use(model.id, model.info.dimensions)
    return index
