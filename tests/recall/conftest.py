"""A store with items in it, as recall sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.model import Item, Project, item_id, item_uuid
from observer.store.interface import Reader
from observer.store.sqlite import SqliteStore

NOW_MS = 1_800_000_000_000
HERE, ELSEWHERE = 2, 3

Filled = Callable[..., Reader]
"""Stores items, or items of nothing but a title, and lends a reader of them."""


def _item(seq: int = 1, **fields: Any) -> Item:
    """An observation of an hour ago per `seq`, newest first; unlike any other."""
    at_ms = NOW_MS - seq * 3_600_000
    item = Item(
        id=item_id(seq),
        uuid=item_uuid(f"event-{seq}", at_ms),
        kind="observation",
        type="command",
        title=f"Happening {chr(96 + seq % 26) * 3}",
        project_id=HERE,
        created_ms=at_ms,
        updated_ms=at_ms,
    )
    return msgspec.structs.replace(item, **fields)


@pytest.fixture
def an_item() -> Callable[..., Item]:
    return _item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store" / "observer.db")
    with opened.write() as writer:
        for number in (HERE, ELSEWHERE):
            writer.put_project(Project(id=number, uuid=f"uuid-{number}", name=f"project-{number}"))
    yield opened
    opened.close()


@pytest.fixture
def filled(store: SqliteStore) -> Iterator[Filled]:
    lent = []

    def fill(*items: Item | str) -> Reader:
        made = [
            _item(seq, title=item) if isinstance(item, str) else item
            for seq, item in enumerate(items, start=1)
        ]
        with store.write() as writer:
            writer.put_items(made)
        lent.append(store.read())
        return lent[-1].__enter__()

    yield fill
    for each in lent:
        each.__exit__(None, None, None)
