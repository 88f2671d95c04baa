"""From events about notes to the notes: step 6, each event added to the history of its note.

What a live event makes of a note is what a fold of the note's whole history makes of it, so that a
rebuild, an undo and a look into the past agree.
"""

from __future__ import annotations

from observer.events import Approve, Forget, Remember, Revise, Undo
from observer.filters import RECORDED_KINDS, Filters
from observer.interpret.notes import changed, folded, note
from observer.model import Item, Recorded
from observer.store.interface import Writer

OnNote = Approve | Forget | Revise | Undo


class Noting:
    """The notes of one write transaction; each is put before the next event may ask for it.

    The last one is not: it is put with all else that the transaction made.

    Args:
        writer: the transaction.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: list[Item] = []

    def put(self) -> None:
        """Put what waits for it."""
        if self._waiting:
            self._writer.put_items(self._waiting)
            self._waiting = []

    def remembered(self, recorded: Recorded, body: Remember) -> Item:
        """Return the note, in the place of the one with the same key or the same words."""
        made = note(recorded, None, owner=body.owner)
        where = Filters(project_id=made.project_id, owner=made.owner)
        existing = self._same(made, where)
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

    def _same(self, made: Item, where: Filters) -> Item | None:
        """Return the note whose place a new one takes; an inference takes nobody's."""
        if made.kind == "inference":
            return None
        if made.key:
            return self._writer.keyed(made.key, where)
        return self._writer.same_content(made.content_hash, where)

    def _put(self, item: Item, recorded: Recorded) -> Item:
        self._writer.put_history(item.id, recorded.seq)
        self._waiting.append(item)
        return item
