"""What tests of the memory share: a store that is thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.store.database import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "observer.db")
    yield store
    store.close()
