"""Asking: a memory that is thrown away, the real recall over it, and what recall is held against.

Each system answers alone, over the same store: what one finds the others could have found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from observer.capture.project import Places
from observer.config import Settings
from observer.evaluation.measures import DEPTH, Numbers, measure
from observer.events import Event, Value
from observer.model import UNASSIGNED, Item
from observer.pipeline import BATCH, Pipeline
from observer.recall.query import any_of, plan
from observer.recall.search import search
from observer.spool import Spool
from observer.store.interface import Filters, Reader
from observer.store.sqlite import SqliteStore

System = Callable[[Reader, str, int], Sequence[int]]
"""Answers a query at a time (ms) with the ids of items, best first, `DEPTH` at most."""

Advance = Callable[[int], object]
"""Told how many more queries or documents are done."""

Answers = Mapping[str, Sequence[Sequence[int]]]
"""What each system answered to each query."""

_NOTHING = 0


class Asked(Value):
    """A query, and the ids of the items that it is about."""

    text: str
    relevant: frozenset[int]


class Trial:
    """A memory of its own, in a folder that is thrown away."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "observer.db")
        self._pipeline = Pipeline(
            self.store,
            Spool(folder / "spool"),
            settings=Settings(),
            places=Places(),
            now_ms=_now_ms,
        )

    def keep(self, items: Iterable[Item]) -> None:
        """Store items as they are."""
        with self.store.write() as writer:
            writer.put_items(items)

    def tell(self, events: Sequence[Event], *, advance: Advance = int) -> list[int]:
        """Store events as the daemon would; returns the id of the item that each became.

        An event that became none has an id that nothing has.
        """
        ids = []
        for start in range(0, len(events), BATCH):
            part = events[start : start + BATCH]
            receipts = self._pipeline.ingest(part, UNASSIGNED)
            ids += [receipt.item or _NOTHING for receipt in receipts]
            advance(len(part))
        return ids


@contextmanager
def trial() -> Iterator[Trial]:
    """Lend an empty memory; nothing of it stays behind."""
    with TemporaryDirectory(prefix="observer-eval-", ignore_cleanup_errors=True) as folder:
        made = Trial(Path(folder))
        try:
            yield made
        finally:
            made.store.close()


def recall(reader: Reader, text: str, now_ms: int, *, limit: int = DEPTH) -> list[int]:
    """Answer as the product does."""
    found = search(reader, text, Filters(), limit=limit, now_ms=now_ms)
    return [hit.item.id for hit in found.hits]


def words_only(reader: Reader, text: str, now_ms: int) -> list[int]:
    """Answer with BM25 over any of the words."""
    del now_ms
    expression = any_of(plan(text).words)
    found = reader.match(expression, Filters(), limit=DEPTH) if expression else []
    return [match.id for match in found]


SYSTEMS: dict[str, System] = {"recall": recall, "words only": words_only}
"""The product first; every other one is what it is held against."""


def ask(
    reader: Reader,
    asked: Sequence[Asked],
    systems: Mapping[str, System],
    *,
    now_ms: int,
    advance: Advance = int,
) -> dict[str, list[Sequence[int]]]:
    """Return the answers of all systems to all queries, in the order given."""
    answers: dict[str, list[Sequence[int]]] = {name: [] for name in systems}
    for question in asked:
        for name, system in systems.items():
            answers[name].append(system(reader, question.text, now_ms))
        advance(1)
    return answers


def figures(answers: Answers, asked: Sequence[Asked]) -> Numbers:
    """Return the figures of each query, system and measure, in that order of axes."""
    found = [
        [measure(answer, question.relevant) for answer, question in zip(given, asked, strict=True)]
        for given in answers.values()
    ]
    return np.array(found, dtype=np.float64).transpose(1, 0, 2)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
