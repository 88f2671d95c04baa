"""Takes out notes that were deleted for good, once their grace is over, while the daemon goes on.

Whatever followed from such a note ended with its deletion, so that nothing is derived anew; only
what was recorded in a session has that derived without it: see `Going.is_apart`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from observer.core.events import Forget
from observer.core.model import Item
from observer.ingest.projection import put_triages
from observer.purge.choose import origins
from observer.purge.databases import APPLIED, marks_of
from observer.purge.expire import UNFINISHED, all_about
from observer.store.interface import OwnedStore
from observer.store.purging import ALL_MS
from observer.store.reader import StoreReader
from observer.store.tombstones import Marked, Tombstones


class Deleted(NamedTuple):
    """A note that was deleted for good, and from when on nothing brings it back."""

    item: Item
    final_ms: int


class Going(NamedTuple):
    """What is due: notes by id, the `seq` of each event that goes, and what they are known by.

    `is_apart` says that none of it belongs to a session.
    """

    items: frozenset[int]
    seqs: frozenset[int]
    marks: tuple[Marked, ...]
    is_apart: bool


def deleted(reader: StoreReader) -> Iterator[Deleted]:
    """Yield the notes that were deleted for good and are still there, the first deletion first."""
    final: dict[int, int | None] = {}
    for one in reader.log_of_kind("forget", after_seq=0, until_seq=reader.newest_seq()):
        if isinstance(body := one.event.body, Forget):
            final[body.item] = body.final_ms
    for number, final_ms in final.items():
        item = None if final_ms is None else reader.item(number, deleted=True)
        if item is not None and item.deleted_ms is not None and final_ms is not None:
            yield Deleted(item, final_ms)


def going(reader: StoreReader, *, now_ms: int) -> Going | None:
    """Return what is due at a time; None for nothing."""
    items = _due(reader, now_ms)
    if not items:
        return None
    seqs = all_about(reader, origins(reader, items))
    own = (one for one in reader.aged_events(before_ms=ALL_MS) if one.seq in seqs)
    is_apart = all(one.session_id is None for one in own)
    return Going(items, seqs, tuple(marks_of(reader, seqs)), is_apart)


def take_out(store: OwnedStore, gone: Going, tombstones: Tombstones, *, now_ms: int) -> int:
    """Take out what is due and apart; return how many events went, 0 if it was changed meanwhile.

    A daemon that is killed over it, and leaves nothing but tombstones, does it at its next start.
    """
    with store.write() as writer:
        if _due(writer, now_ms) != gone.items:
            return 0
        tombstones.add(gone.marks)
        writer.delete_items([item.id for item in writer.items_from(gone.seqs)])
        removed = writer.delete_events(gone.seqs)
        writer.drop_unused_projects()
        put_triages(writer)
        writer.put_meta(APPLIED, str(len(tombstones)))
        writer.put_meta(UNFINISHED, "1")
    return removed


def _due(reader: StoreReader, now_ms: int) -> frozenset[int]:
    return frozenset(one.item.id for one in deleted(reader) if one.final_ms <= now_ms)
