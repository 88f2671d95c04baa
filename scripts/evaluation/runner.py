"""Run search systems over a temporary memory, and measure their answers.

Each system answers alone, over the same store: what one finds the others could have found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluation.measures import Numbers, measure
from evaluation.systems import System
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.events import Event
from observer.core.model import UNASSIGNED, Item
from observer.core.value import Value
from observer.index.embed.lazy_model import LazyModel
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.opening import index_for
from observer.projects import PlaceCache
from observer.search.candidates import Sources
from observer.store.database import SqliteStore

Advance = Callable[[int], object]
"""Called with how many more queries or documents are done."""

Answers = Mapping[str, Sequence[Sequence[int]]]
"""The answers of each system to each query, as item ids, best first."""

_NOTHING = 0
_BATCH = 100


class EvaluatedQuery(Value):
    """A query, and the ids of the relevant items."""

    text: str
    relevant: frozenset[int]


class TemporaryMemory:
    """A memory of its own in a temporary folder.

    Args:
        folder: where it is.
        model: embeds the items.
    """

    def __init__(self, folder: Path, model: LazyModel) -> None:
        self._store = SqliteStore(folder / "observer.db")
        self._index = index_for(folder / "index", model, is_owner=False)
        self._model = model
        self._pipeline = Pipeline(
            self._store,
            Spool(folder / "spool"),
            settings=Settings(),
            places=PlaceCache(),
            now_ms=now_ms,
            embedder=model,
        )

    def keep(self, items: Iterable[Item]) -> None:
        """Store items as they are, and embed them."""
        with self._store.write() as writer:
            writer.put_items(items)
        self._embed()

    def ingest(self, events: Sequence[Event], *, advance: Advance = int) -> list[int]:
        """Store events as the daemon would; return the id of the item that each became.

        The id of an event without an item is 0, which no item has.
        """
        ids = []
        for start in range(0, len(events), _BATCH):
            part = events[start : start + _BATCH]
            receipts = self._pipeline.ingest(part, UNASSIGNED)
            ids += [receipt.item or _NOTHING for receipt in receipts]
            self._embed()
            advance(len(part))
        return ids

    @contextmanager
    def sources(self) -> Iterator[Sources]:
        """Yield the sources of a search, completely indexed."""
        with self._store.read() as reader:
            self._index.refresh(reader)
        with self._store.read() as reader, self._index.view(reader) as view:
            yield Sources(reader, view, self._model.encode_patiently)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _embed(self) -> None:
        """Embed all items without a vector, also with a slow model."""
        after, then = -1, 0
        while then != after:
            made = self._pipeline.embedded(then, limit=_BATCH)
            self._pipeline.keep_embedded(made)
            after, then = then, made.last_change


@contextmanager
def temporary_memory(model: LazyModel) -> Iterator[TemporaryMemory]:
    """Yield an empty memory; it is deleted at the end of the block."""
    with TemporaryDirectory(prefix="observer-eval-", ignore_cleanup_errors=True) as folder:
        made = TemporaryMemory(Path(folder), model)
        try:
            yield made
        finally:
            made.close()


def ask(
    sources: Sources,
    asked: Sequence[EvaluatedQuery],
    systems: Mapping[str, System],
    *,
    now_ms: int,
    advance: Advance = int,
) -> dict[str, list[Sequence[int]]]:
    """Return the answers of each system to all queries, in their order."""
    answers: dict[str, list[Sequence[int]]] = {name: [] for name in systems}
    for question in asked:
        for name, system in systems.items():
            answers[name].append(system(sources, question.text, now_ms))
        advance(1)
    return answers


def figures(answers: Answers, asked: Sequence[EvaluatedQuery]) -> Numbers:
    """Return float64 figures of shape (queries, systems, measures)."""
    found = [
        [measure(answer, question.relevant) for answer, question in zip(given, asked, strict=True)]
        for given in answers.values()
    ]
    return np.array(found, dtype=np.float64).transpose(1, 0, 2)
