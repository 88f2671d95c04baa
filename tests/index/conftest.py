"""Items in the order of their changes, as a store would tell them, and an index that follows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import Item, ItemChange, item_id
from observer.index import Index, ListRequest, View
from observer.index.embed.lazy_model import packed
from observer.index.segment import Codes, Segment
from observer.store.connection import stemmer

MODEL, DIMENSIONS = "0123456789ab", 64

STEM = stemmer()


codes = Codes(STEM)
"""Turns the words of all tests into numbers."""


class Shown:
    """A numbered feed of changes that is all in memory."""

    def __init__(self) -> None:
        self.name = "first"
        self.asked_after: list[int] = []
        self._log: list[ItemChange] = []
        self._newest: dict[int, ItemChange] = {}

    def put(self, *items: Item, vector: bytes | None = None) -> None:
        for item in items:
            self._add(item.id, item, vector)

    def delete(self, item: int) -> None:
        self._add(item, None, None)

    def upto(self, number: int) -> Shown:
        """Return the feed as it was after a change."""
        before = Shown()
        for change in self._log[:number]:
            before._add(change.id, change.item, change.vector)
        return before

    def begin_anew(self, name: str) -> None:
        self.name, self._log, self._newest = name, [], {}

    def epoch(self) -> str:
        return self.name

    def newest_change(self) -> int:
        return max(map(_number, self._newest.values()), default=0)

    def changes(self, *, after: int, model: str, limit: int) -> Sequence[ItemChange]:
        self.asked_after.append(after)
        some = sorted((c for c in self._newest.values() if c.change > after), key=_number)
        kept = (c if model == MODEL else msgspec.structs.replace(c, vector=None) for c in some)
        return list(kept)[:limit]

    def living(self) -> dict[int, Item]:
        return {change.id: change.item for change in self._newest.values() if change.item}

    def newest(self) -> list[ItemChange]:
        return sorted(self._newest.values(), key=_number)

    def _add(self, item_id_: int, item: Item | None, vector: bytes | None) -> None:
        made = ItemChange(change=len(self._log) + 1, id=item_id_, item=item, vector=vector)
        self._log.append(made)
        self._newest[item_id_] = made


def _number(change: ItemChange) -> int:
    return change.change


def an_item(seq: int, title: str = "", **fields: Any) -> Item:
    item = Item(
        id=item_id(seq), uuid=f"u{seq}", kind="observation", type="command", title=title,
        project_id=2, created_ms=seq,
    )  # fmt: skip
    return msgspec.structs.replace(item, **fields)


def a_vector(seed: int) -> bytes:
    """Return a vector that is near to the others, if only a little."""
    chance = np.random.default_rng(seed)
    return packed(chance.normal(1, size=(1, DIMENSIONS)).astype(np.float32))[0].tobytes()


def an_index(folder: Path | None = None, *, is_owner: bool = True, model: str = MODEL) -> Index:
    made = Index(folder or Path("/nowhere"), stem=STEM, is_owner=bool(folder) and is_owner)
    made.use(model, DIMENSIONS)
    return made


def query(view: View, *words: str) -> NDArray[np.uint32]:
    return np.array([code for codes in view.codes(words) for code in codes], np.uint32)


def a_view(codes: Codes, *segments: Segment) -> View:
    return View(segments, codes, is_complete=True)


def found(
    view: View, *words: str, filters: Filters | None = None, limit: int = 10_000
) -> dict[int, float]:
    """Return the score of each item that holds one of the words, best first."""
    mask = view.mask(filters or Filters(owner="ana"))
    (best,) = view.by_words(query(view, *words), [ListRequest(mask, limit)])
    return dict(zip(view.ids(best.places).tolist(), best.scores.tolist(), strict=True))


def near(
    view: View,
    vector: bytes | NDArray[np.float32],
    *,
    filters: Filters | None = None,
    limit: int = 1_000,
) -> dict[int, float]:
    """Return the cosine of each item that has a vector, best first."""
    bare = np.frombuffer(vector, np.int8) if isinstance(vector, bytes) else vector
    meaning = (bare / np.linalg.norm(bare)).astype(np.float32)
    wanted = ListRequest(view.mask(filters or Filters(owner="ana")), limit)
    (best,) = view.by_vector(meaning, [wanted])
    return dict(zip(view.ids(best.places).tolist(), best.scores.tolist(), strict=True))


WORDS = ("aa", "bb", "cc", "dd", "ee")


def answers(index: Index, feed: Any) -> dict[str, Any]:
    """Return all that a view tells which does not hang on how its rows are parted."""
    index.refresh(feed)
    with index.view(feed) as view:
        words = {word: set(found(view, word)) for word in WORDS}
        nearest = {
            seed: {item: round(cosine, 5) for item, cosine in near(view, a_vector(seed)).items()}
            for seed in (1, 2)
        }
        return {"words": words, "near": nearest}


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels so low that a few items fill them."""
    monkeypatch.setattr("observer.index.index.SMALL", 3)
    monkeypatch.setattr("observer.index.index.SETTLED", 9)
    monkeypatch.setattr("observer.index.index.FULL", 27)
    monkeypatch.setattr("observer.index.index.BATCH", 4)
    monkeypatch.setattr("observer.index.view.RELEASED", 9)
    monkeypatch.setattr("observer.index.index.PATIENCE", 2)
