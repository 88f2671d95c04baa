from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from observer.core.model import Place
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache

Post = Callable[..., str]


class Counted(PlaceCache):
    """Places that remember what they were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def at(self, folder: str) -> Place:
        self.asked.append(folder)
        return super().at(folder)


def test_a_folder_is_looked_at_once_a_batch(
    make_pipeline: Callable[..., Pipeline],
    post: Post,
    run: Callable[..., dict[str, Any]],
    folder: Path,
) -> None:
    places = Counted()
    pipeline = make_pipeline(places=places)
    for _ in range(2):
        for number in range(3):
            post("PostToolUse", run(f"make {number}"))
        assert pipeline.drain().entries == 3
    assert places.asked == [str(folder)] * 2
