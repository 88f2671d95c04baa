"""Recall through a server: a home that holds nothing asks a share that has all items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import msgspec
from benchmarks.server import own_server

from evaluation.measures import DEPTH
from evaluation.systems import System
from observer.core.filters import Filters
from observer.core.model import Item, ItemChange
from observer.index.embed.lazy_model import LazyModel
from observer.index.segment import Codes
from observer.search.candidates import Sources
from observer.search.find import SearchHits
from observer.store.connection import stemmer
from observer.sync import postgres
from observer.sync.carriers import open_search
from observer.sync.outgoing import BATCH
from observer.sync.postgres import PostgresCarrier, ServerTeam
from observer.sync.postgres_search import SearchEntry
from observer.sync.record import ProjectKey, Record
from observer.sync.team_search import ItemModel, TeamQuestion, TeamSearch, columns_by

THROUGH_THE_SERVER = "through a server"
PATIENCE_S = 60.0
"""Quality is measured, not time."""


@contextmanager
def through_a_server(model: LazyModel) -> Iterator[System]:
    """Yield a system that asks nothing but a share which has the items of its sources."""
    with own_server("-c fsync=off") as owner:
        postgres.create(owner)
        login = ServerTeam(owner).invite("ana")
        team = TeamSearch(
            ItemModel(model.id, model.info.dimensions, stemmer()), patience_s=PATIENCE_S
        )
        filled: list[object] = []

        def answer(sources: Sources, text: str, now_ms: int) -> list[int]:
            if not filled or filled[-1] is not sources.view:
                _fill(login, sources, model, origin=f"home-{len(filled)}")
                filled.append(sources.view)
            project = f"home-{len(filled) - 1}"
            question = TeamQuestion(sources, text, Filters(), project, DEPTH, now_ms)
            found = team.search([login], question, SearchHits).above_floor()
            if found.degraded:
                raise RuntimeError(found.degraded)
            return [hit.item.id for hit in found.hits]

        yield answer


def _fill(login: str, sources: Sources, model: LazyModel, *, origin: str) -> None:
    """Send all items, as a home does, under a project of the same name as the origin."""
    changes = sources.reader.changes(after=0, model=model.id, limit=1_000_000)
    codes = Codes(stemmer())
    records = list(_records([one.item for one in changes if one.item], origin))
    with closing(PostgresCarrier(login)) as carrier, closing(open_search(login)) as server:
        for start in range(0, len(records), BATCH):
            carrier.push(records[start:][:BATCH])
            part = changes[start:][:BATCH]
            server.put(origin, [_entry(one, model, codes, origin) for one in part])


def _records(items: list[Item], origin: str) -> Iterator[Record]:
    before = ""
    for sequence, item in enumerate(items, start=1):
        record = Record(
            origin=origin,
            sequence=sequence,
            previous=before,
            kind="item",
            uuid=item.uuid,
            project=ProjectKey(name=origin),
            author="ana",
            visibility="project",
            at_ms=item.updated_ms,
            body=msgspec.json.encode(item).decode(),
        )
        before = record.hash()
        yield record


def _entry(change: ItemChange, model: LazyModel, codes: Codes, project: str) -> SearchEntry:
    item, vector = change.item, change.vector or b""
    if item is None:
        raise ValueError("a set deletes nothing")
    about = (project, item.kind, item.type, item.created_ms, columns_by(codes, item))
    return SearchEntry(item.uuid, *about, model.id if vector else "", vector)
