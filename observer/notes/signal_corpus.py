"""What signal detectors read: visible notes without their texts, and nearest neighbours; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.model import FORMERLY, Link, NoteHeader, title_key
from observer.core.value import Value

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]

COMPARED = 8_192
"""Notes, the newest, that are compared with each other: .7 s of one core."""
AT_ONCE = 1 << 20
"""Pairs that are compared at once: what fits into a processor's memory."""
CROWD = 250
"""Most neighbours of one vector that are ranked."""
_FINE = 100_000
"""Steps to which a cosine is rounded: finer ones depend on the order of additions."""
_FAR_BITS, _APART_BITS = 18, 23
_TIE = 1e-4
"""What the pair furthest apart loses in a crowd: of equals those closest by are kept."""


class NeighbourPairs(NamedTuple):
    """Pairs of neighbours, by source, the nearest target first."""

    sources: Rows
    targets: Rows
    cosines: NDArray[np.float32]

    def chosen(self, pairs: Rows | NDArray[np.bool_]) -> NeighbourPairs:
        """Return some of the pairs, by their places or by a mask."""
        return NeighbourPairs(self.sources[pairs], self.targets[pairs], self.cosines[pairs])


class NeighbourQuery(NamedTuple):
    """A kind of neighbours: how many of each vector, and which pairs count (None: any)."""

    most: int
    admits: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None


def nearest(
    vectors: Vectors, wanted: Sequence[NeighbourQuery], *, least: float
) -> list[NeighbourPairs]:
    """Return each kind of neighbours of unit vectors, by cosines of at least `least`."""
    none = NeighbourPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    found: list[list[NeighbourPairs]] = [[none] for _ in wanted]
    every = np.arange(len(vectors))
    step = max(1, AT_ONCE // max(1, len(vectors)))
    for start in range(0, len(vectors), step):
        near = _near(vectors, every[start : start + step], least)
        for kind, parts in zip(wanted, found, strict=True):
            parts.append(_first(near, kind))
    return [NeighbourPairs(*map(np.concatenate, zip(*parts, strict=True))) for parts in found]


def _near(vectors: Vectors, sources: Rows, least: float) -> NeighbourPairs:
    """Return the pairs of these sources that are near enough."""
    cosines = vectors[sources] @ vectors.T
    hits = cosines >= least
    if np.count_nonzero(hits) > CROWD * len(sources):
        # The largest of each row stay, so that a crowd costs no more than others do.
        apart = np.abs(sources[:, np.newaxis] - np.arange(len(vectors))) * (_TIE / len(vectors))
        left_out = np.argpartition(apart - cosines, CROWD - 1, axis=1)[:, CROWD:]
        np.put_along_axis(cosines, left_out, -1, axis=1)
        hits = cosines >= least
    rows, targets = np.nonzero(hits)
    near = NeighbourPairs(sources[rows], targets, cosines[rows, targets])
    return near.chosen(near.sources != near.targets)


def _first(near: NeighbourPairs, kind: NeighbourQuery) -> NeighbourPairs:
    """Return the best of each source, by nearness, closeness of the rows, then direction."""
    if kind.admits:
        near = near.chosen(kind.admits(near.sources, near.targets))
    far = np.rint((1 - near.cosines) * _FINE).astype(np.int64)
    apart = np.minimum(np.abs(near.targets - near.sources), (1 << _APART_BITS) - 1)
    is_later = near.targets > near.sources
    # One number sorts three times as fast as four columns.
    ranks = (((near.sources << _FAR_BITS) + far << _APART_BITS) + apart << 1) + is_later
    order = np.argsort(ranks)
    ordered = near.sources[order]
    places = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return near.chosen(order[places < kind.most])


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
    """Something about notes that nobody has written down yet; `id` is a digest of what it is."""

    id: int
    type: str
    text: str
    evidence: tuple[int, ...]
    status: Status = "new"


class Corpus:
    """Notes as detectors see them; `ids` have `vectors`, `gone` are titles of deleted ones.

    `bare` is the share of the notes that has no meaning. `near` are pairs of notes, the second
    among the nearest of the first; `newer` of a note of how things are and a newer one, nearby, of
    what happened since.
    """

    def __init__(
        self,
        notes: Sequence[NoteHeader],
        ids: Rows,
        vectors: Vectors,
        *,
        now_ms: int,
        gone: Collection[str] = (),
    ) -> None:
        self.notes = {note.id: note for note in notes}
        self.now_ms = now_ms
        self.gone = gone
        known = np.isin(ids, np.fromiter(self.notes, np.int64, len(self.notes)))
        self.bare = 1 - np.count_nonzero(known) / len(self.notes) if self.notes else 0.0
        newest = np.flatnonzero(known)[np.sort(ids[known].argsort()[-COMPARED:])]
        meant = [self.notes[number] for number in ids[newest].tolist()]
        wanted = [NeighbourQuery(NEIGHBOURS), NeighbourQuery(SHOWN, _is_newer(meant))]
        self.near, self.newer = (
            [(meant[source].id, meant[target].id) for source, target in zip(*rows, strict=True)]
            for near in nearest(vectors[newest], wanted, least=1 - DISTANCE**2 / 2)
            for rows in [(near.sources.tolist(), near.targets.tolist())]
        )
        self._titles: dict[str, dict[int | None, int]] = {}
        names = [(note.title, note) for note in notes]
        names += (
            (link.title, note) for note in notes for link in note.links if link.kind == FORMERLY
        )
        for name, note in names:
            self._titles.setdefault(title_key(name), {}).setdefault(note.project_id, note.id)

    def target(self, note: NoteHeader, link: Link) -> int | None:
        """Return the note that a link of another one means; None if there is no such note."""
        if link.leads_to:
            return link.leads_to
        places = self._titles.get(title_key(link.title), {})
        return places.get(note.project_id) or places.get(None)

    def headings(self, *numbers: int) -> str:
        """Return how notes are named in a sentence, as many as are shown."""
        return ", ".join(f'#{number} "{self.notes[number].title}"' for number in numbers[:SHOWN])


def _is_newer(notes: Sequence[NoteHeader]) -> Callable[[Rows, Rows], NDArray[np.bool_]]:
    """Return what says of rows whether the targets are newer records near notes of how it is."""
    rows = [
        (n.project_id or 0, n.created_ms, n.updated_ms, n.layer == "state", n.layer == "past")
        for n in notes
    ]
    columns = np.array(rows, np.int64).reshape(-1, 5)

    def is_newer(sources: Rows, targets: Rows) -> NDArray[np.bool_]:
        one, _, updated_ms, is_state, _ = columns[sources].T
        other, created_ms, _, _, is_past = columns[targets].T
        same = (one == other) | (one == 0) | (other == 0)
        matching: NDArray[np.bool_] = same & (created_ms > updated_ms) & (is_state & is_past > 0)
        return matching

    return is_newer
