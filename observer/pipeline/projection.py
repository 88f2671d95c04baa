"""From recorded events to items and sessions: step 6, the same fold live and in a rebuild."""

from __future__ import annotations

from observer.events import Forget, Remember
from observer.interpret.fold import Fold
from observer.interpret.notes import forgotten, note
from observer.interpret.sessions import begin
from observer.interpret.summary import summarise
from observer.model import Item, Recorded, Session
from observer.store.interface import Filters, Writer


class Projection:
    """Everything that one write transaction derives from the events it is given, in log order.

    Items and sessions are put at `finish`, each once, however many events touched them.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._folds: dict[int | None, Fold] = {None: Fold(None)}
        self._items: dict[int, Item] = {}
        self._forgotten = dict(writer.forgotten())

    def add(self, recorded: Recorded) -> int | None:
        """Interpret one event; returns the id of the item it made or changed."""
        made = [*self._fold(recorded).add(recorded), *self._purpose(recorded)]
        self._items |= {item.id: item for item in made}
        return made[0].id if made else None

    def session(self, session_id: int) -> Session | None:
        """Return a session as it stands after the events added so far."""
        fold = self._folds.get(session_id)
        return fold.standing() if fold else self._writer.session(session_id)

    def finish(self) -> None:
        """Put what was derived."""
        for fold in self._folds.values():
            if session := fold.session():
                self._writer.put_session(session)
                if summary := summarise(session):
                    self._items[summary.id] = summary
        self._writer.put_items(map(self._unless_forgotten, self._items.values()))

    def _fold(self, recorded: Recorded) -> Fold:
        key = recorded.session_id
        if key not in self._folds:
            stored = None if key is None or key == recorded.seq else self._writer.session(key)
            self._folds[key] = Fold(stored or begin(recorded))
        return self._folds[key]

    def _purpose(self, recorded: Recorded) -> list[Item]:
        """Carry out what was asked on purpose; a later event of the same batch may ask for it."""
        body = recorded.event.body
        if isinstance(body, Remember):
            made = [self._note(recorded, body)]
        elif isinstance(body, Forget):
            made = self._forget(body.item, recorded.event.at_ms)
        else:
            return []
        self._writer.put_items(made)
        return made

    def _forget(self, item_id: int, at_ms: int) -> list[Item]:
        # An open burst or session derives its item again: deleting what is there is not enough.
        self._writer.forget(item_id, at_ms=at_ms)
        self._forgotten.setdefault(item_id, at_ms)
        found = self._items.get(item_id) or next(iter(self._writer.items([item_id])), None)
        return [self._unless_forgotten(found)] if found else []

    def _unless_forgotten(self, item: Item) -> Item:
        at_ms = self._forgotten.get(item.id)
        return item if at_ms is None else forgotten(item, at_ms)

    def _note(self, recorded: Recorded, body: Remember) -> Item:
        """Return the note, in the place of the one with the same key or the same words."""
        made = note(recorded, None, owner=body.owner)
        where = Filters(project_id=made.project_id, owner=made.owner)
        existing = (
            self._writer.keyed(made.key, where)
            if made.key
            else self._writer.same_content(made.content_hash, where)
        )
        return note(recorded, existing, owner=body.owner) if existing else made
