"""Writes of the store, inside the one write transaction; a `Writer` sees its own changes too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from observer.core.events import Triage
from observer.core.model import (
    Item,
    Project,
    Recorded,
    Session,
    columns_of,
    relations_of,
    spelling_key,
    title_key,
)
from observer.store.anchors import AnchorWrites
from observer.store.note_files import NoteFileWrites
from observer.store.purging import APPEND, NEW_EPOCH, PUT_PROJECT, PurgeWrites
from observer.store.reader import StoreReader
from observer.store.rows import (
    ITEM_COLUMNS,
    KIND_TERM,
    PROJECT_TERM,
    SAME,
    SESSION_FIELDS,
    as_stored,
    checksum,
    code_aware,
    item_row,
    json_text,
    project_row,
    put,
    recorded_row,
)
from observer.store.shares import ShareWrites

_DERIVED = (
    "validity",
    "anchor_path",
    "anchor_set",
    "worktree",
    "item_vector",
    "link",
    "relation",
    "project_state",
    "item",
    "session",
    "forgotten",
    "note_event",
    "triage",
    "note_claim",
    "note_relation",
    "note_alias",
)
Vectors = Callable[[], Mapping[int, bytes]]
"""Returns vectors by their items; items without one are left out."""


_PLACE = f"{PROJECT_TERM} {KIND_TERM}"
_PUT_ITEM = put("item", f"{ITEM_COLUMNS}, change, title_key")
_PUT_VECTOR = put("item_vector", "item_id, model, vector")
_PUT_SESSION = put("session", ", ".join(SESSION_FIELDS))
_PUT_TRIAGE = put("triage", ", ".join((*Triage.__struct_fields__, "at_ms")))
_PUT_LINK = put("link", "source, place, kind, target, title, title_key")
_PUT_RELATION = put("relation", "item, place, source, kind, target, source_key, target_key")
_PUT_WORDS = put("item_words", "rowid, title, subtitle, narrative, facts, concepts, files, place")


class Writer(StoreReader, AnchorWrites, PurgeWrites, NoteFileWrites, ShareWrites):
    """Changes inside one transaction; the store commits or rolls back around it."""

    def append(self, recorded: Recorded, *, stored_ms: int, data: str = "") -> bool:
        """Add an event under its `seq`; `data` is the event as JSON, if the caller has it.

        Returns False, and changes nothing, if its id, or its `dedup` in its project, is known.
        """
        row = as_stored((*recorded_row(recorded, data), stored_ms))
        self._connection.execute(APPEND, (*row, checksum(*row)))
        is_new = self._connection.changes() == 1
        self.grown += is_new
        return is_new

    def reserve_seqs(self, count: int) -> int:
        """Return the first of so many `seq` that no event will have: ids for notes from files."""
        first = self.next_seq()
        self.continue_after(first + count - 1)
        return first

    def known(self, recorded: Recorded) -> str:
        """Return the id of this event, or of another report of it, in the log; "" if neither is."""
        event = recorded.event
        known = (
            "SELECT id FROM event WHERE id = ?1"
            " UNION ALL SELECT id FROM event WHERE project_id = ?2 AND " + SAME.format("?3")
        )
        return str(self._value(known, (event.id, recorded.project_id, event.dedup), ""))

    def put_items(self, items: Iterable[Item], *, model: str = "", vectors: Vectors = dict) -> None:
        """Insert or replace items by id, with their words and vectors, which are asked last."""
        items = list(items)
        many = self._connection.executemany
        newest = self._value("SELECT max(id) FROM item", default=0)
        changed = enumerate(items, start=self._last_change() + 1)
        living = [item for item in items if item.deleted_ms is None]
        dead = [(item.id,) for item in items if item.deleted_ms is not None]
        keys = {item.id: title_key(item.title) for item in items if item.kind == "note"}
        rows = ((*item_row(item), change, keys.get(item.id, "")) for change, item in changed)
        many(_PUT_ITEM, rows)
        # After all rows: a row that may replace another makes FTS5 write out what it gathered.
        places = (_PLACE.format(one.project_id or 0, one.kind) for one in living)
        words = zip(living, places, strict=True)
        many(_PUT_WORDS, ((one.id, *map(code_aware, columns_of(one)), at) for one, at in words))
        many("DELETE FROM item_words WHERE rowid = ?", dead)
        known = [(item.id,) for item in items if item.id <= newest]
        many("DELETE FROM item_vector WHERE item_id = ?", known)
        many("DELETE FROM link WHERE source = ?", known)
        many(
            _PUT_LINK,
            (
                (item.id, place, link.kind, link.target, link.title, title_key(link.title))
                for item in living
                for place, link in enumerate(item.links)
            ),
        )
        many("DELETE FROM relation WHERE item = ?", known)
        many(
            _PUT_RELATION,
            (
                (item.id, place, *one, *map(spelling_key, (one.source, one.target)))
                for item in living
                for place, one in enumerate(relations_of(item))
            ),
        )
        made = vectors()
        many(_PUT_VECTOR, ((one.id, model, made[one.id]) for one in living if one.id in made))

    def put_vectors(
        self, model: str, vectors: Mapping[int, bytes], *, seen: Mapping[int, int] | None = None
    ) -> None:
        """Add or replace vectors of items, unless those have changed since the changes `seen`."""
        change = self._last_change()
        for item_id, vector in vectors.items():
            change += 1
            self._connection.execute(
                "UPDATE item SET change = ?1 WHERE id = ?2 AND deleted_ms IS NULL"
                " AND change = coalesce(?3, change)",
                (change, item_id, (seen or {}).get(item_id)),
            )
            if self._connection.changes():
                self._connection.execute(_PUT_VECTOR, (item_id, model, vector))

    def drop_vectors(self, *, but: str) -> None:
        """Delete the vectors of all models but one."""
        self._connection.execute("DELETE FROM item_vector WHERE model <> ?", (but,))

    def put_project(self, project: Project) -> None:
        """Insert or replace a project by id."""
        self._connection.execute(PUT_PROJECT, project_row(project))

    def put_session(self, session: Session) -> None:
        """Insert or replace a session by id."""
        self._connection.execute(_PUT_SESSION, msgspec.structs.astuple(session))

    def put_project_state(self, project_id: int, state: bytes) -> None:
        """Insert or replace what the interpreter remembers of a project."""
        put_state = "INSERT OR REPLACE INTO project_state VALUES (?, ?)"
        self._connection.execute(put_state, (project_id, state))

    def put_history(self, item_id: int, seq: int) -> None:
        """Add an event to the history of a note."""
        self._connection.execute("INSERT INTO note_event VALUES (?, ?)", (item_id, seq))

    def put_triage(self, triage: Triage, *, at_ms: int) -> None:
        """Insert or replace what its owner made of a signal."""
        values = msgspec.structs.asdict(triage) | {"evidence": json_text(triage.evidence)}
        self._connection.execute(_PUT_TRIAGE, (*values.values(), at_ms))

    def choose(self, kind: str, number: int, value: str) -> None:
        """Keep what a person chose, see `StoreReader.chosen`; an empty value takes it back."""
        self._connection.execute("DELETE FROM chosen WHERE kind = ? AND id = ?", (kind, number))
        if value:
            self._connection.execute("INSERT INTO chosen VALUES (?, ?, ?)", (kind, number, value))

    def forget(self, item_id: int, *, at_ms: int) -> None:
        """Remember that an item is deleted, for whatever is derived under its id from now on."""
        self._connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (item_id, at_ms))

    def restore(self, item_id: int) -> None:
        """Take back that an item was forgotten; no effect on one that was not."""
        self._connection.execute("DELETE FROM forgotten WHERE item_id = ?", (item_id,))

    def forgotten(self) -> Mapping[int, int]:
        """Return when each forgotten item was deleted, by its id."""
        return dict(self._rows("SELECT item_id, at_ms FROM forgotten"))

    def spend(self, day: str, *, tokens: int, requests: int = 0) -> None:
        """Add to what language models cost on a day; a rebuild keeps it. Negative gives back."""
        self._connection.execute(
            "INSERT INTO llm_spending VALUES (?1, max(?2, 0), ?3) ON CONFLICT DO UPDATE"
            " SET tokens = max(tokens + ?2, 0), requests = requests + ?3",
            (day, tokens, requests),
        )

    def _last_change(self) -> int:
        """Return the last number of a change, be the item gone that a work tree saw it of."""
        seen = int(self._value("SELECT max(change) FROM worktree", default=0))
        return max(self.newest_change(), seen)

    def clear_projection(self) -> None:
        """Delete all that is derived (items, sessions, words, vectors, deletions)."""
        for table in _DERIVED:
            self._connection.execute(f"DELETE FROM {table}")
        self._connection.execute(f"DELETE FROM meta WHERE key = 'behind'; {NEW_EPOCH}")
        self._connection.execute("INSERT INTO item_words (item_words) VALUES ('delete-all')")
