"""A store with items in it, as recall sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from observer.core.model import Item, Project, Validity, item_id, item_uuid
from observer.index import Index
from observer.index.embed.lazy_model import packed
from observer.search.candidates import Sources
from observer.store.anchors import WorktreeView
from observer.store.connection import stemmer
from observer.store.database import SqliteStore

NOW_MS = 1_800_000_000_000
HERE, ELSEWHERE = 2, 3

MODEL, DIMENSIONS = "0123456789ab", 64

Vector = NDArray[np.float32]
Filled = Callable[..., Sources]
"""Stores items, or items of nothing but a title, and lends what recall looks at."""
Meanings = Callable[..., "Vector | None"]


def wordless(_: str, _doubt: float = 0.5, /) -> Vector | None:
    """Where no model of meanings is there."""
    return None


def by_first_letter(text: str, _doubt: float = 0.5, /) -> Vector:
    """A model that means by a text what its first letter is: easy to foresee."""
    vector = np.full(DIMENSIONS, -1, np.float32)
    vector[ord(text[:1].casefold() or " ") % DIMENSIONS] = 12
    return vector / np.linalg.norm(vector)


@contextmanager
def lent(store: SqliteStore, encode: Meanings = wordless) -> Iterator[Sources]:
    """Lend what recall looks at, from an index that is nowhere kept."""
    index = Index(Path("/nowhere"), stem=stemmer(), is_owner=False)
    index.use(MODEL, DIMENSIONS)
    with store.read() as reader, index.view(reader) as view:
        yield Sources(reader, view, encode)


def an_item(seq: int = 1, **fields: Any) -> Item:
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


def stand(store: SqliteStore, validity: Mapping[int, tuple[Validity, ...]]) -> None:
    """Say how items stand, as seen from the one worktree of the first project."""
    with store.write() as writer:
        if not writer.worktrees():
            writer.put_worktree(WorktreeView(root="/app", project_id=HERE, head="a", branch=""))
        writer.put_validity(writer.worktrees()[0].id, validity)


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
    with ExitStack() as stack:

        def fill(*items: Item | str, meanings: bool = False) -> Sources:
            made = [
                an_item(seq, title=item) if isinstance(item, str) else item
                for seq, item in enumerate(items, start=1)
            ]
            vectors = {item.id: packed_meaning(item.title) for item in made} if meanings else {}
            with store.write() as writer:
                writer.put_items(made, model=MODEL, vectors=lambda: vectors)
            return stack.enter_context(lent(store, by_first_letter if meanings else wordless))

        yield fill


def packed_meaning(text: str) -> bytes:
    return packed(by_first_letter(text)[np.newaxis])[0].tobytes()
