"""From recorded events to the items that are recorded on purpose, and those that others share.

A live event makes of a note what a fold of its whole history does, so that a rebuild, an undo and a
look into the past agree.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from observer.core.events import Remember, Shared, Undo
from observer.core.filters import RECORDED_KINDS, Filters
from observer.core.model import Item, Recorded
from observer.observations.note_reducer import OnNote, changed, folded, forgotten, note, shared
from observer.store.writer import Writer

_UUID_CHARS = 36


class NoteProjection:
    """The notes of one write transaction, each put before an event may ask for it otherwise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: dict[str, Item] = {}
        self._read: dict[str, Item | None] = {}
        self._gone: set[str] = set()

    def expect(self, uuids: Collection[str]) -> None:
        """Look at once for what is here of items that others share: events that come next."""
        self._read = dict.fromkeys(uuids) | self._writer.by_uuid(uuids)
        self._gone = set(self._writer.gone(uuids))

    def put(self) -> None:
        """Put what waits for it; what others share asks for nothing that waits."""
        if self._waiting:
            self._writer.put_items(self._waiting.values())
        self._waiting, self._read = {}, {}

    def remembered(self, recorded: Recorded, body: Remember) -> Item:
        """Return the note, in the place of the one with the same key or the same words."""
        made = note(recorded, None, owner=body.owner)
        where = Filters(project_id=made.project_id, owner=made.owner)
        existing = None
        if made.kind != "inference":  # which takes nobody's place
            same, what = self._writer.same_content, made.content_hash
            existing = self._writer.keyed(made.key, where) if made.key else same(what, where)
        item = note(recorded, existing, owner=body.owner) if existing else made
        return self._put(item, recorded)

    def changed(self, recorded: Recorded, body: OnNote) -> Item | None:
        """Return the note as the event leaves it; None if there is no such note."""
        before = self._writer.item(body.item, deleted=True)
        if before is None or before.kind not in RECORDED_KINDS:
            return None
        if not isinstance(body, Undo):
            return self._put(changed(before, recorded), recorded)
        history = [*self._writer.history(before.id), recorded]
        return self._put(folded(history) or before, recorded)

    def shared(self, recorded: Recorded, body: Shared, captured: Item | None) -> Item | None:
        """Return the item of another home as a record of it leaves it here; None if nothing does.

        What was captured here (`captured`, if not put yet) others can only have deleted. Nobody
        reaches a personal item, or one of another project.
        """
        uuid, is_read = body.uuid, body.uuid in self._read
        if body.item is None:
            self._gone.add(uuid)
        elif uuid in self._gone if is_read else self._writer.gone([uuid], before=recorded.seq):
            return None
        is_read = is_read and uuid not in self._waiting
        existing = captured or (self._read[uuid] if is_read else self._by_uuid([uuid]).get(uuid))
        if existing and (
            existing.scope == "personal"
            or existing.project_id not in {None, recorded.project_id}
            or bool(existing.file)
        ):
            return None
        made = self._as_shared(recorded, body, existing)
        return self._put(made, recorded) if made else None

    def _as_shared(self, recorded: Recorded, body: Shared, existing: Item | None) -> Item | None:
        if existing and existing.kind in RECORDED_KINDS:
            return folded([*self._writer.history(existing.id), recorded])
        if body.item is None:
            return forgotten(existing, recorded.event.at_ms) if existing else None
        if existing and not existing.person:
            return None
        return shared(recorded, body, existing)

    def _put(self, item: Item, recorded: Recorded) -> Item:
        self._writer.put_history(item.id, recorded.seq)
        item = self._linked(item)
        self._waiting[item.uuid] = item
        return item

    def _by_uuid(self, uuids: Collection[str]) -> dict[str, Item]:
        there = {one: self._waiting[one] for one in uuids if one in self._waiting}
        others = [one for one in uuids if one not in there]
        return there | (self._writer.by_uuid(others) if others else {})

    def _linked(self, item: Item) -> Item:
        """Return an item whose links by uuid, of another home, lead to the items here."""
        named = [
            link
            for link in item.links
            if len(link.title) == _UUID_CHARS and link.title.count("-") == 4
            if not link.target and link.kind != "wiki"
        ]
        known = self._by_uuid([link.title for link in named])
        if not known:
            return item
        links = (
            replace(link, target=known[link.title].id, title="")
            if link in named and link.title in known
            else link
            for link in item.links
        )
        return replace(item, links=tuple(links))
