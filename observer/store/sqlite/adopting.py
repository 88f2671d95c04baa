"""Takes events out of a living database, and takes over what was derived anew without them.

The derivation is made beside, in a database of its own, while this one goes on. What is equal in
both stays as it is, with its vectors; the rest is replaced in one short transaction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from observer.model import Item
from observer.store.sqlite.connection import Connection
from observer.store.sqlite.restoring import RestoreWrites
from observer.store.sqlite.rows import ITEM_COLUMNS, SESSION_FIELDS, to_item
from observer.store.sqlite.standing import AMONG, among

_SESSIONS = ", ".join(SESSION_FIELDS)
_GONE = "SELECT id FROM item WHERE id NOT IN (SELECT id FROM anew.item)"
_CHANGED = (
    f"SELECT {ITEM_COLUMNS} FROM anew.item WHERE id IN (SELECT id FROM (SELECT {ITEM_COLUMNS}"
    f" FROM anew.item EXCEPT SELECT {ITEM_COLUMNS} FROM main.item))"
)
_OF_ITEMS = (
    ("item_words", "rowid"),
    ("item_vector", "item_id"),
    ("link", "source"),
    ("mooring", "item_id"),
    ("anchored", "item_id"),
    ("standing", "item_id"),
    ("standing", "target"),
    ("usage", "item_id"),
    ("item", "id"),
)
_DERIVED = (
    f"DELETE FROM session WHERE id NOT IN (SELECT id FROM anew.session);"
    f" INSERT OR REPLACE INTO session ({_SESSIONS}) SELECT {_SESSIONS} FROM anew.session"
    f" EXCEPT SELECT {_SESSIONS} FROM main.session;"
    " DELETE FROM story; INSERT INTO story SELECT * FROM anew.story;"
    " DELETE FROM forgotten; INSERT INTO forgotten SELECT * FROM anew.forgotten;"
    " DELETE FROM note_event; INSERT INTO note_event SELECT * FROM anew.note_event;"
    " DELETE FROM triage; INSERT INTO triage SELECT * FROM anew.triage;"
    # The index has them in files of its own, and makes these anew.
    " UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'epoch'"
)


class AdoptWrites(RestoreWrites):
    """What `SqliteStore.adopt` does inside its transaction; the other database is `anew`."""

    def take_out(self, seqs: Collection[int]) -> int:
        """Take events out of the log, and the items that `anew` has not; return how many events."""
        removed = self.delete_events(seqs)
        items = among([row[0] for row in self._rows(_GONE)])
        for table, column in _OF_ITEMS:
            self._connection.execute(f"DELETE FROM {table} WHERE {column} {AMONG}", (items,))
        return removed

    def changed_anew(self) -> list[Item]:
        """Return the items of `anew` that are not what they are here."""
        return [to_item(row) for row in self._rows(_CHANGED)]

    def take_over(self) -> None:
        """Take over what else `anew` derived, and forget what no event tells of any more."""
        self._connection.execute(_DERIVED)
        self.drop_unused_projects()
        # Until then the words of what went stand in the segments of the full-text index.
        self._connection.execute("INSERT INTO item_words (item_words) VALUES ('optimize')")


@contextmanager
def attached(alone: Callable[[], AbstractContextManager[Connection]], anew: Path) -> Iterator[None]:
    """Attach a database to the writer as `anew` for a while; no transaction may be open."""
    with alone() as writer:
        writer.execute("ATTACH ? AS anew", (os.fspath(anew),))
    try:
        yield
    finally:
        with alone() as writer:
            writer.execute("DETACH anew")
