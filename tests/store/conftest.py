"""An empty store, as its owner sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.model import Item
from observer.store.database import SqliteStore
from observer.store.interface import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "store" / "observer.db")) as opened:
        yield opened


def put(store: Store, *items: Item) -> None:
    with store.write() as writer:
        writer.put_items(items)
