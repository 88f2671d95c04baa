"""All that a memory holds, in the order in which another one can take it in."""

from __future__ import annotations

from collections.abc import Iterator

from observer.core.model import Item, Project, Recorded
from observer.store.interface import StoreReader


def exported(reader: StoreReader) -> Iterator[Project | Recorded | Item]:
    """Yield the projects, every stored event in log order, then every living item by id."""
    yield from reader.projects()
    last = 0
    while batch := reader.log(after_seq=last):
        yield from batch
        last = batch[-1].seq
    yield from reader.all_items()
