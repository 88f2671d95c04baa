"""What detectors look at: the notes that somebody may see, without their words, and who is near.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from observer.core.events import Value
from observer.core.model import Link, Sketch, title_key
from observer.notes.nearest import Near, Rows, Vectors, Wanted, nearest

Status = Literal["new", "snoozed", "dismissed", "minted"]
"""What somebody made of a signal."""

DISTANCE = 0.95
"""Distance (of unit vectors) below which two notes are about the same.

Source: 220 texts of like length, all about one program, read by a person. Half of all pairs are
further apart than 1.27; groups found at 0.95 are each about one thing, and from 1.0 on nearly all
hang together. The seed's 0.45, of another model, is reached by none.
"""
NEIGHBOURS = 8
"""Nearest notes among which a note looks for those of its arc. Source: the seed's program."""
SHOWN = 8
"""Notes named in the words of one signal."""


class Signal(Value):
    """Something about the notes that nobody has written down yet.

    `id` is a digest of type and identity, so that what somebody made of it sticks to it. `evidence`
    are notes, most telling first.
    """

    id: int
    type: str
    told: str
    evidence: tuple[int, ...]
    status: Status = "new"


class Corpus:
    """Notes as detectors see them.

    Args:
        notes: by id.
        ids, vectors: the notes that have a meaning, by id, and their unit vectors.
        now_ms: the time from which ages count.
    """

    def __init__(
        self, notes: Sequence[Sketch], ids: Rows, vectors: Vectors, *, now_ms: int
    ) -> None:
        self.notes = {note.id: note for note in notes}
        self.now_ms = now_ms
        known = np.isin(ids, np.fromiter(self.notes, np.int64, len(self.notes)))
        self._meant = [self.notes[number] for number in ids[known].tolist()]
        self._vectors = vectors[known]

    @property
    def bare(self) -> float:
        """Which share of the notes has no meaning; 0 if there are no notes."""
        return 1 - len(self._meant) / len(self.notes) if self.notes else 0.0

    @cached_property
    def near(self) -> list[tuple[int, int]]:
        """Pairs of notes, the second among the nearest of the first."""
        return self._pairs(self._neighbours[0])

    @cached_property
    def newer(self) -> list[tuple[int, int]]:
        """Pairs of a note of how things are and a newer one, nearby, of what happened since."""
        return self._pairs(self._neighbours[1])

    def target(self, note: Sketch, link: Link) -> int | None:
        """Return the note that a link of another one means; None if there is no such note."""
        if link.target:
            return link.target
        places = self._titles.get(title_key(link.title), {})
        return places.get(note.project_id) or places.get(None)

    def heading(self, number: int) -> str:
        """Return how a note is named in a sentence."""
        return f'#{number} "{self.notes[number].title}"'

    def headings(self, numbers: Iterable[int]) -> str:
        """Return the names of some notes, as many as are shown."""
        return ", ".join(map(self.heading, list(numbers)[:SHOWN]))

    @cached_property
    def _titles(self) -> dict[str, dict[int | None, int]]:
        titles: dict[str, dict[int | None, int]] = {}
        for note in self.notes.values():
            titles.setdefault(title_key(note.title), {}).setdefault(note.project_id, note.id)
        return titles

    @cached_property
    def _neighbours(self) -> list[Near]:
        wanted = [Wanted(NEIGHBOURS), Wanted(SHOWN, self._is_newer)]
        return nearest(self._vectors, wanted, least=1 - DISTANCE**2 / 2)

    def _is_newer(self, sources: Rows, targets: Rows) -> NDArray[np.bool_]:
        of = self._columns
        one, other = of["project"][sources], of["project"][targets]
        same = (one == other) | (one == 0) | (other == 0)
        newer = of["created"][targets] > of["updated"][sources]
        layers = of["state"][sources] & of["past"][targets]
        admitted: NDArray[np.bool_] = same & newer & (layers > 0)
        return admitted

    @cached_property
    def _columns(self) -> dict[str, NDArray[np.int64]]:
        return {
            "project": np.array([note.project_id or 0 for note in self._meant], np.int64),
            "created": np.array([note.created_ms for note in self._meant], np.int64),
            "updated": np.array([note.updated_ms for note in self._meant], np.int64),
            "state": np.array([note.layer == "state" for note in self._meant], np.int64),
            "past": np.array([note.layer == "past" for note in self._meant], np.int64),
        }

    def _pairs(self, near: Near) -> list[tuple[int, int]]:
        ids = [note.id for note in self._meant]
        rows = zip(near.sources.tolist(), near.targets.tolist(), strict=True)
        return [(ids[source], ids[target]) for source, target in rows]
