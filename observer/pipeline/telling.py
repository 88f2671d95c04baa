"""The stories of projects within one write transaction: arcs told, links resolved; step 6."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from observer.interpret.arcs import Arcs
from observer.interpret.failures import OpenFailure
from observer.model import Item, Link, Recorded
from observer.store.interface import Writer

_OF_COMMITS = frozenset({"reverts", "replaces", "makes"})


class Telling:
    """Carries the story of each project from event to event; `finish` stores them."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._arcs: dict[int, Arcs] = {}

    def add(self, recorded: Recorded, made: Sequence[Item]) -> tuple[Item, ...]:
        """Take an event with its observations; see `Arcs.add`. Links to commits have targets."""
        project_id = recorded.project_id
        if project_id not in self._arcs:
            self._arcs[project_id] = Arcs(self._writer.story(project_id))
        told = self._arcs[project_id].add(recorded, tuple(made))
        return tuple(self._resolved(item, recorded) for item in told)

    def failures(self, project_id: int) -> tuple[OpenFailure, ...]:
        """Return the checks of a project, of which an event was added, that are red."""
        return self._arcs[project_id].failures

    def is_known(self, recorded: Recorded) -> bool:
        """Return whether an event that was added is a failure whose remedy is told."""
        return self._arcs[recorded.project_id].is_known(recorded)

    def finish(self) -> None:
        """Store what the stories have become."""
        for project_id, arcs in self._arcs.items():
            state = arcs.story()
            if state is not None:
                self._writer.put_story(project_id, state)

    def _resolved(self, item: Item, recorded: Recorded) -> Item:
        hashes = [link.title for link in item.links if link.kind in _OF_COMMITS and link.title]
        if not hashes:
            return item
        # What came later into the log is unknown, so that a rebuild tells the same.
        known = self._writer.commits(recorded.project_id, hashes, before=recorded.seq)
        return replace(item, links=tuple(_to(link, known.get(link.title)) for link in item.links))


def _to(link: Link, item_id: int | None) -> Link:
    return link if item_id is None or link.target else replace(link, target=item_id)
