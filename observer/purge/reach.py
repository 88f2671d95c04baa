"""Finds how far what is derived from an event reaches: to which projects, at most.

Summaries follow from the events of a session, fixes from all sessions of a project, and a note from
whatever was done to it. Projects that have no note in common know nothing of each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from observer.core.events import Enriched, Remember
from observer.core.model import seq_of
from observer.observations.note_reducer import OnNote
from observer.store.purging import ALL_MS
from observer.store.reader import StoreReader

_ON_ITEMS = ("remember", "enriched", "revise", "approve", "forget", "undo")
_NOWHERE = -1
"""Stands for the notes that belong to no project."""


def reached_projects(reader: StoreReader, going: Collection[int]) -> frozenset[int]:
    """Return the projects in which anything may be derived otherwise without some events.

    Together they have all events of their sessions.
    """
    homes: dict[int, int] = {}
    near: defaultdict[int, set[int]] = defaultdict(set)
    for one in reader.aged_events(before_ms=ALL_MS):
        homes[one.seq] = one.project_id
        # A session has the number of its first event, which may be gone.
        session = one.seq if one.session_id is None else one.session_id
        _join(near, one.project_id, homes.setdefault(session, one.project_id))
    for pair in _joined(reader, homes):
        _join(near, *pair)
    waiting = [homes[seq] for seq in going]
    reached = set(waiting)
    while waiting:
        further = near[waiting.pop()] - reached
        reached |= further
        waiting += further
    return frozenset(reached - {_NOWHERE})


def _join(near: defaultdict[int, set[int]], one: int, other: int) -> None:
    near[one].add(other)
    near[other].add(one)


def _joined(reader: StoreReader, homes: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the projects of events that are about an item, each with the project of that."""
    for kind in _ON_ITEMS:
        for recorded in reader.log_of_kind(kind, after_seq=0, until_seq=reader.newest_seq()):
            body = recorded.event.body
            if isinstance(body, Remember) and body.scope != "project":
                yield recorded.project_id, _NOWHERE
            elif isinstance(body, Enriched | OnNote) and seq_of(body.item) in homes:
                yield recorded.project_id, homes[seq_of(body.item)]
