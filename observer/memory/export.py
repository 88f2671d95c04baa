"""All that a memory holds, in the order in which another one can take it in."""

from __future__ import annotations

from collections.abc import Iterator

from observer.core.model import Item, Project, Recorded
from observer.store.interface import StoreReader
from observer.store.log import LogEnd

Exported = Project | Recorded | LogEnd | Item


def exported(reader: StoreReader) -> Iterator[Exported]:
    """Yield the projects, every stored event in log order, its end, and living items by id."""
    yield from reader.projects()
    last = 0
    while batch := reader.log(after_seq=last):
        yield from batch
        last = batch[-1].seq
    yield LogEnd(last_seq=reader.next_seq() - 1)
    yield from reader.all_items()
