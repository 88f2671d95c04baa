"""Changes of notes that arrive in the log: what points at no note does no harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.events import AnyBody, Approve, Event, Forget, Remember, Revise, Undo
from observer.ingest.pipeline import Pipeline
from observer.store.interface import Store

NOW_MS = 1_789_999_000_000

Tell = Callable[..., int | None]


@pytest.fixture
def tell(pipeline: Pipeline, folder: Path) -> Tell:
    """Store what a person recorded; returns the item that it made or changed."""
    shown: list[AnyBody] = []

    def store(body: AnyBody) -> int | None:
        shown.append(body)
        event = Event(
            id=f"e{len(shown)}",
            at_ms=NOW_MS + len(shown) * 1000,
            client="c",
            body=body,
            cwd=str(folder),
            author="person",
        )
        return pipeline.ingest([event])[0].item

    return store


@pytest.mark.parametrize(
    "body", [Approve(item=400), Undo(item=400), Revise(item=400, title="x"), Forget(item=400)]
)
def test_what_points_at_nothing_changes_nothing(tell: Tell, store: Store, body: AnyBody) -> None:
    note = tell(Remember(content="Use tokens"))
    assert tell(body) is None
    with store.read() as reader:
        assert [item.id for item in reader.all_items()] == [note]
