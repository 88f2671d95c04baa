"""Deleting notes and captured items, and undoing that: a base class of `Notes`.

An agent deletes notes and inferences; captured items (commits, edits, summaries) only a person
does. Every deletion can be undone as long as its note is in the log: one for good leaves that once
its grace is over, see `purge.take_out`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.events import AnyBody, Forget, Revise, Undo
from observer.core.filters import CAPTURED, RECORDED_KINDS, Filters
from observer.core.model import UNASSIGNED, Item, item_id, seq_of
from observer.notes.note_reader import NoteReader
from observer.notes.validation import check_change, check_forget, check_kept_here, check_rule
from observer.notes.values import Author, EventWriter, Record
from observer.observations.note_reducer import references_of
from observer.search.candidates import Sources
from observer.search.handles import LARGEST_ID, SearchOptions
from observer.store.interface import Store

AT_ONCE = 1_000
"""Notes that one transaction deletes."""
GRACE_MS = 24 * 3_600_000


class Reversible(NoteReader):
    """Deletion and undo of one owner's notes.

    Args:
        store, owner, now_ms, sources: see `NoteReader`.
        record: the way into the log; None for a process that only reads.
        grace_ms: how long what is deleted for good can still be brought back.
    """

    def __init__(
        self,
        store: Store,
        *,
        owner: str,
        now_ms: Callable[[], int],
        sources: Callable[[], AbstractContextManager[Sources]],
        record: Record | None,
        grace_ms: int = GRACE_MS,
    ) -> None:
        super().__init__(store, owner=owner, now_ms=now_ms, sources=sources)
        self.grace_ms = grace_ms
        self._writer = EventWriter(record, now_ms)

    def forget(self, handle: int | str, *, author: Author = "agent") -> bool:
        """Delete a note, or any other item by its id; False if there is none.

        What was deleted is kept in the log, and comes back with `undo`.

        Raises:
            Ambiguous: the handle is vague.
            BadInput: it is kept as a file.
            CapturedUserOnly: an agent would delete neither a note nor an inference.
            RuleUserOnly: an agent would delete a rule that a person approved.
        """
        return self._forget(handle, author, None)

    def erase(self, handle: int | str, *, author: Author = "agent") -> int | None:
        """Delete a note as `forget` does, but for good; return from when on nothing undoes that.

        Returns None if there is none.
        """
        final_ms = self._now_ms() + self.grace_ms
        return final_ms if self._forget(handle, author, final_ms) else None

    def _forget(self, handle: int | str, author: Author, final_ms: int | None) -> bool:
        with self._store.read() as reader:
            item = reader.item(self._exact(reader, handle))
        if item is None or not self._may_see(item):
            return False
        check_kept_here(item)
        check_forget(item, author)
        self._write_of_all(item, partial(Forget, final_ms=final_ms), author)
        return True

    def erase_all(self, narrow: SearchOptions, *, author: Author = "agent") -> tuple[int, int]:
        """Delete the notes that are not narrowed out for good; return how many, and until when.

        What an agent may not delete stays: rules that a person approved.
        """
        with self._store.read() as reader:
            own = self._filters(reader, None, narrow)
            rules = reader.recent(replace(own, layer="rule"), limit=LARGEST_ID)
            kept = {rule.id for rule in rules if (author, rule.approval) == ("agent", "approved")}
            going = [each for each in reader.ids(own, limit=LARGEST_ID) if each not in kept]
        final_ms = self._now_ms() + self.grace_ms
        for start in range(0, len(going), AT_ONCE):
            batch = [Forget(item=each, final_ms=final_ms) for each in going[start:][:AT_ONCE]]
            self._writer.write(*batch, author=author, project_id=UNASSIGNED)
        return len(going), final_ms

    def undo(self, handle: int | str, *, author: Author = "agent") -> Item:
        """Take back the last change of a note that still stands, and return it as it was before.

        Of one to which nothing happened but that another replaced, that is taken back. Of what was
        captured only a deletion can be taken back.

        Raises:
            NotFound, Ambiguous: as `get`; a deleted note is found too.
            BadInput: nothing happened to it since it was remembered, or another note has its key.
            PastImmutable: an agent would take back what a person changed of what happened.
            CapturedUserOnly: an agent would bring back what was captured.
            RuleUserOnly: an agent would change a rule that a person approved, or bring one back.
        """
        if captured := self._captured(handle):
            return self._restored(captured, author)
        item = self.get(handle, deleted=True)
        check_kept_here(item)
        check_rule(item, author)
        changes = [version for version in self.history(item.id) if version.stands]
        if len(changes) < 2:
            return self._not_superseded(item, author)
        before, last = changes[-2:]
        check_rule(before.item, author)
        if last.author == "person" and last.action != "forget":
            check_change(item, author)
        if item.key and item.deleted_ms is not None:
            self._refuse_taken(item)
        return self._changed(item, Undo(item=item.id), author)

    def _not_superseded(self, item: Item, author: Author) -> Item:
        """Take back that another note replaced one to which nothing else happened."""
        newer = next((one.target for one in item.validity if one.reason == "superseded"), 0)
        if not newer:
            raise BadInput(
                f"nothing happened to note {item.id} since it was remembered",
                hint=f"delete it with: observer forget {item.id}",
            )
        by = self.get(newer)
        check_rule(by, author)
        gone = ("supersedes", item.id)
        kept = tuple(one for one in references_of(by) if (one.kind, one.item) != gone)
        self._changed(by, Revise(item=by.id, links=kept), author)
        after = self.get(item.id)
        if any(one.target == newer for one in after.validity):
            raise BadInput(
                f"the text of note {newer} says that it replaces note {item.id}",
                hint=f"change it with: observer note edit {newer}",
            )
        return after

    def _captured(self, handle: int | str) -> Item | None:
        with self._store.read() as reader:
            item = reader.item(self._exact(reader, handle), deleted=True)
        is_captured = item is not None and item.kind not in RECORDED_KINDS and self._may_see(item)
        return item if is_captured else None

    def _restored(self, item: Item, author: Author) -> Item:
        check_forget(item, author)
        if item.deleted_ms is None:
            raise BadInput(f"{item.id} is not deleted", hint="nothing else of it can be undone")
        self._write_of_all(item, Undo, author)
        return replace(item, deleted_ms=None)

    def _write_of_all(self, item: Item, act: Callable[..., AnyBody], author: Author) -> None:
        """Write an act on an item, and on the copies of its event in other projects."""
        with self._store.read() as reader:
            seqs = reader.copies(seq_of(item.id)) if item.kind in CAPTURED else []
            slot = item.id - item_id(seq_of(item.id))
            copied = (reader.item(item_id(seq) + slot, deleted=True) for seq in seqs)
            found = {one.id: one for one in (item, *filter(None, copied))}
        for one in found.values():
            home = one.project_id or UNASSIGNED
            self._writer.write(act(item=one.id), author=author, project_id=home)

    def _changed(self, item: Item, body: AnyBody, author: Author) -> Item:
        check_kept_here(item)
        self._writer.write(body, author=author, project_id=item.project_id or UNASSIGNED)
        return self.get(item.id, deleted=True)

    def _refuse_taken(self, item: Item) -> None:
        with self._store.read() as reader:
            there = reader.keyed(item.key, Filters(project_id=item.project_id, owner=item.owner))
        if there is not None:
            raise BadInput(
                f"note {there.id} has the key {item.key!r} now",
                hint=f"forget {there.id} first, or remember the old words anew",
            )
