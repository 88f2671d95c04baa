"""Near pairs of notes that nobody has judged yet, and how each is settled.

Whether an older note still holds is not read out of words: whoever writes says so by an act.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter, neg
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.errors import BadInput
from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import UNASSIGNED, Item, Project
from observer.core.text import counted
from observer.core.value import Value
from observer.index import View
from observer.notes.note_reader import PAIR, is_superseded, pair_id
from observer.notes.notes import Notes
from observer.notes.values import Author, Note, NoteAccess
from observer.store.reader import StoreReader

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]

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


How = Literal["replaces", "amends", "both stand", "merge"]
"""What one note of a pair does to the other."""

COMPARED = 5_000
"""Notes of a project, the newest, that are compared with each other."""
NEIGHBOURS = 3
"""Nearest notes of each that are looked at."""
KEPT = 4
"""Projects, those asked last, whose pairs are kept in memory: at most 15,000 each, 3 MB."""
LEAST = 0.5
"""Cosine from which two notes are worth a look.

Source: of 383 statements with a later one that changes them, .93 are as near; of the nearest of
1,705 that are about something else, .7.
"""


class Pair(Value):
    """Two standing notes of one project that may be about the same; `cosine` of their meanings."""

    newer: Item
    older: Item
    cosine: float


class OpenPairs(Value):
    """Pairs, the nearest first; `total` counts all, `degraded` says why some may be missing."""

    pairs: tuple[Pair, ...] = ()
    total: int = 0
    degraded: str = ""


class Settlement(Value, forbid_unknown_fields=True):
    """What holds of a pair: `id` replaces or amends `other`, both stand, `content` merges them."""

    id: int | str
    how: How
    other: int | str
    content: str = ""


class _Near(NamedTuple):
    """What is kept of a project: newer, older, cosine by `pair_id`; `bare` notes lack meaning."""

    pairs: Mapping[int, tuple[int, int, float]]
    bare: int


class Pairs:
    """The near pairs of what one owner may see; safe to share between threads."""

    def __init__(self, notes: Notes, access: NoteAccess) -> None:
        self._notes = notes
        self._access = access
        self._owner = access.owner
        self._known: dict[int, tuple[Hashable, _Near]] = {}

    def open(self, project: Project, *, limit: int) -> OpenPairs:
        """Return the pairs of a project that nobody has settled."""
        with self._access.sources() as (reader, view, _):
            # An act between notes is a change of one; what only judges a pair is looked up below.
            state = reader.epoch(), reader.newest_note_change(), view.is_complete
            known, near = self._known.pop(project.id, (None, None))
            if near is None or known != state or not view.is_complete:
                near = self._compared(reader, view, project)
            self._known = dict([*self._known.items(), (project.id, (state, near))][-KEPT:])
            judged = reader.triages(self._owner)
            found = [pair for number, pair in near.pairs.items() if number not in judged]
            ids = [one for pair in found[:limit] for one in pair[:2]]
            notes = {item.id: item for item in reader.items(ids)}
        bare = counted(near.bare, "note")
        return OpenPairs(
            pairs=tuple(
                Pair(newer=notes[newer], older=notes[older], cosine=cosine)
                for newer, older, cosine in found[:limit]
            ),
            total=len(found),
            degraded=f"{bare} not compared: no meaning yet" if near.bare else "",
        )

    def _compared(self, reader: StoreReader, view: View, project: Project) -> _Near:
        """Return the pairs of a project that are near, judged or not; it takes longest."""
        mask = view.mask(Filters(project_id=project.id, kinds=("note",), owner=self._owner))
        ids, vectors = view.meanings(mask)
        newest = ids.argsort()[-COMPARED:]
        (near,) = nearest(vectors[newest], [NeighbourQuery(NEIGHBOURS)], least=LEAST)
        sources, targets = ids[newest][near.sources], ids[newest][near.targets]
        notes = {item.id: item for item in reader.items(np.unique(sources).tolist())}
        cosines = {
            (one, other): cosine
            for one, other, cosine in zip(
                sources.tolist(), targets.tolist(), near.cosines.tolist(), strict=True
            )
            if one < other and one in notes and other in notes
        }
        standing = {number: note for number, note in notes.items() if not is_superseded(note)}
        leads = {number: {link.leads_to for link in note.links} for number, note in notes.items()}
        age, found = attrgetter("updated_ms", "id"), []
        for (one, other), cosine in cosines.items():
            is_open = one not in leads[other] and other not in leads[one]  # neither speaks of it
            if is_open and one in standing and other in standing:
                older, newer = sorted((notes[one], notes[other]), key=age)
                found.append((newer, older, cosine))
        found.sort(key=lambda pair: (-round(pair[2], 2), *map(neg, age(pair[0]))))
        return _Near(
            {pair_id(new.id, old.id): (new.id, old.id, cosine) for new, old, cosine in found},
            bare=int(np.count_nonzero(mask)) - len(ids),
        )

    def settle(self, wanted: Settlement, *, author: Author = "agent") -> Item:
        """Say what holds of a pair, and return the note that holds.

        Raises: as `Notes.remember`; BadInput (one note alone; content and `merge` go together).
        """
        item, other = self._notes.get(wanted.id), self._notes.get(wanted.other)
        if item.id == other.id:
            raise BadInput(f"note {item.id} cannot be settled with itself", hint="name two notes")
        if (wanted.how == "merge") != bool(wanted.content.strip()):
            raise BadInput(
                "merge needs content, and nothing else takes any",
                hint="give as content what is said from now on in the place of both notes",
            )
        match wanted.how:
            case "both stand":
                judged = Triage(
                    signal=pair_id(item.id, other.id),
                    status="dismissed",
                    type=PAIR,
                    evidence=(item.id, other.id),
                    owner=self._owner,
                )
                self._access.write(judged, author=author, project_id=item.project_id or UNASSIGNED)
                return item
            case "merge":
                merged = Note(
                    content=wanted.content,
                    type=item.type,
                    category=item.category,
                    confidence=item.confidence,
                    scope=item.scope,
                    layer=item.layer,
                    tags=tuple(dict.fromkeys((*item.tags, *other.tags))),
                    supersedes=(item.id, other.id),
                )
                project = self._notes.project_of(item)
                return self._notes.remember(merged, project=project, author=author).item
            case "replaces" | "amends":
                kind = "supersedes" if wanted.how == "replaces" else "amends"
                if item.file:
                    raise BadInput(
                        f"note {item.id} is kept as a file, which decides what it says",
                        hint=f"add the line `- {kind} [[{other.title}]]` to {item.file}",
                    )
                return self._notes.link(item.id, other.id, kind=kind, author=author)
