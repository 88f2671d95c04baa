"""Writes of notes. Every change is an event, returns after the commit, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import orjson
from msgspec.structs import asdict, replace

from observer.core.errors import BadInput, CapturedUserOnly, NotFound, RuleUserOnly
from observer.core.events import AnyBody, Approve, Forget, Reference, Remember, Revise, Undo
from observer.core.filters import CAPTURED, RECORDED_KINDS, Filters
from observer.core.model import FORMERLY, UNASSIGNED, Item, item_id, seq_of
from observer.notes.note_reader import NoteReader
from observer.notes.values import (
    MOST_NEAR,
    Author,
    Changes,
    Note,
    NoteAccess,
    Remembered,
    check,
    check_change,
    check_forget,
    check_kept_here,
    check_rule,
    metadata_text,
    project_of,
)
from observer.observations.drafts import content_hash
from observer.observations.note_reducer import (
    EXPLICIT,
    label_of,
    layer_of,
    note_type,
    own_title,
    references_of,
    title_of,
)
from observer.redaction.redact import redact_text
from observer.search.handles import LARGEST_ID, SearchOptions, around, named
from observer.store.reader import StoreReader

AT_ONCE = 1_000
"""Notes that one transaction deletes."""
GRACE_MS = 24 * 3_600_000


class Notes(NoteReader):
    """The notes of one owner, for reading and writing; safe to share between threads.

    `grace_ms` is how long what is deleted for good can still be brought back.
    """

    def __init__(self, access: NoteAccess, grace_ms: int = GRACE_MS) -> None:
        super().__init__(access)
        self.grace_ms = grace_ms

    def forget(self, handle: int | str, *, author: Author = "agent") -> bool:
        """Delete a note, or any other item by its id, until `undo`; False if there is none.

        Raises: Ambiguous, BadInput (it is kept as a file), CapturedUserOnly, RuleUserOnly.
        """
        return self._forget(handle, author, None)

    def erase(self, handle: int | str, *, author: Author = "agent") -> int | None:
        """Delete a note for good; return from when on nothing undoes that, None for no note."""
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
        """Delete notes for good, but approved rules for an agent; return how many, until when."""
        with self._store.read() as reader:
            own = self._filters(reader, None, narrow)
            rules = reader.recent(replace(own, layer="rule"), limit=LARGEST_ID)
            kept = {rule.id for rule in rules if (author, rule.approval) == ("agent", "approved")}
            going = [each for each in reader.ids(own, limit=LARGEST_ID) if each not in kept]
        final_ms = self._now_ms() + self.grace_ms
        for start in range(0, len(going), AT_ONCE):
            batch = [Forget(item=each, final_ms=final_ms) for each in going[start:][:AT_ONCE]]
            self._access.write(*batch, author=author, project_id=UNASSIGNED)
        return len(going), final_ms

    def undo(self, handle: int | str, *, author: Author = "agent") -> Item:
        """Take back the last change of a note that still stands, and return it as it was before.

        Of what was captured only a deletion is. Raises: as `edit`; BadInput (nothing happened, or
        its key is another's).
        """
        with self._store.read() as reader:
            found = reader.item(self._exact(reader, handle), deleted=True)
        if found and found.kind not in RECORDED_KINDS and self._may_see(found):
            check_forget(found, author)
            if found.deleted_ms is None:
                raise BadInput(
                    f"{found.id} is not deleted", hint="nothing else of it can be undone"
                )
            self._write_of_all(found, Undo, author)
            return replace(found, deleted_ms=None)
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
            place = Filters(project_id=item.project_id, owner=item.owner)
            with self._store.read() as reader:
                there = reader.keyed(item.key, place)
            if there is not None:
                raise BadInput(
                    f"note {there.id} has the key {item.key!r} now",
                    hint=f"forget {there.id} first, or remember the old words anew",
                )
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

    def _write_of_all(self, item: Item, act: Callable[..., AnyBody], author: Author) -> None:
        """Write an act on an item, and on the copies of its event in other projects."""
        with self._store.read() as reader:
            seqs = reader.copies(seq_of(item.id)) if item.kind in CAPTURED else []
            slot = item.id - item_id(seq_of(item.id))
            copied = (reader.item(item_id(seq) + slot, deleted=True) for seq in seqs)
            found = {one.id: one for one in (item, *filter(None, copied))}
        for one in found.values():
            home = one.project_id or UNASSIGNED
            self._access.write(act(item=one.id), author=author, project_id=home)

    def _changed(self, item: Item, body: AnyBody, author: Author) -> Item:
        check_kept_here(item)
        self._access.write(body, author=author, project_id=item.project_id or UNASSIGNED)
        return self.get(item.id, deleted=True)

    def remember(
        self,
        note: Note,
        *,
        project: str | None = None,
        folder: str = "",
        author: Author = "agent",
        most_near: int = MOST_NEAR,
    ) -> Remembered:
        """Store a note, in the project named, else in the one around a folder, new or known.

        Raises: BadInput, SecretRefused, NotFound, Ambiguous (the project, or a link), RuleUserOnly.
        """
        check(note)
        body = self._body(note)
        with self._store.read() as reader:
            projects = reader.projects()
            # A folder that is there, where a note is the first that is heard of it.
            is_there = project and Path(project).is_absolute() and Path(project).is_dir()
            if project and is_there and not around(projects, project):
                folder, project = project, None
            chosen = named(projects, project).id if project else None
            place = project_of(note, chosen, projects, folder)
            self._check_links(reader, body.links, (place, body.owner), author)
            there = _replaced(reader, body, place)
            if there and body.key:
                check_rule(there, author)
            elif there:
                kind = note_type(body.type)
                layer = body.layer or (there.layer if kind == note_type("") else layer_of(kind))
                if layer != there.layer or body.title not in {"", there.title}:
                    check_change(there, author)  # the same words, made something else
        stored = self._access.write(body, author=author, folder=folder, project_id=chosen)
        if stored.seq is None:
            raise BadInput(
                f"nothing is recorded of {folder}: the setting exclude names it",
                hint="remember it from another folder",
            )
        with self._store.read() as reader:
            item = reader.item(stored.item or 0)
            if item is None:
                raise NotFound("the note was forgotten meanwhile", hint="remember it again")
            unknown = (link for link in item.links if not link.target and link.kind != FORMERLY)
            dangling = [one.title for one in unknown if not self._called(reader, one.title, item)]
            names = {project.id: project.name for project in reader.projects()}
        return Remembered(
            item=item,
            updated=item.id != item_id(stored.seq),
            project=names.get(item.project_id or 0, ""),
            near=self.near(item)[:most_near],
            dangling=tuple(dangling),
        )

    def standing(self, note: Note, *, folder: str = "") -> Item | None:
        """Return the note whose place a note would take: under its key, else of the same words."""
        body = self._body(note)
        with self._store.read() as reader:
            return _replaced(reader, body, project_of(note, None, reader.projects(), folder))

    def replacing(self, note: Note, there: Item, *, is_typed: bool) -> Note:
        """Return a note in the place of another one, with what it does not say as that was.

        Links to what is gone and a past end do not stay; `is_typed`: it has a type of its own.
        """
        links = references_of(there)
        with self._store.read() as reader:
            living = {item.id for item in reader.items([each.item for each in links])}
        is_to_come = there.expires_ms is not None and there.expires_ms > self._now_ms()
        return replace(
            note,
            title=own_title(there),
            type=note.type if is_typed else there.type,
            layer=None if is_typed else there.layer,
            category=note.category or there.category,
            tags=note.tags or there.tags,
            links=tuple(each for each in links if each.item in living),
            expires_ms=there.expires_ms if is_to_come else None,
            metadata=orjson.loads(there.metadata) if there.metadata else None,
        )

    def edit(self, handle: int | str, changes: Changes, *, author: Author = "agent") -> Item:
        """Change some fields of a note.

        Raises: NotFound, Ambiguous, BadInput, SecretRefused, PastImmutable, RuleUserOnly.
        """
        if changes == Changes():
            raise BadInput("nothing to change", hint="name a text, a title, tags or the like")
        check(changes)
        item = self.get(handle)
        check_change(item, author)
        fields = asdict(changes)
        if changes.metadata is not None:
            fields["metadata"] = metadata_text(changes.metadata)
        return self._changed(item, Revise(item=item.id, **fields), author)

    def promote(
        self, handle: int | str, scope: Literal["project", "team"], *, project: str, author: Author
    ) -> Item:
        """Make a personal note one of a project, or of the team that works on it.

        Raises: NotFound, Ambiguous, BadInput (it is not personal), CapturedUserOnly.
        """
        if author != "person":
            raise CapturedUserOnly(
                "only a person gives personal notes away", hint="ask them to: observer promote ID"
            )
        item = self.get(handle)
        check_kept_here(item)
        if item.scope != "personal":
            raise BadInput(f"note {item.id} is not personal", hint="nothing has to be done")
        with self._store.read() as reader:
            chosen = named(reader.projects(), project).id
        self._access.write(Revise(item=item.id, scope=scope), author=author, project_id=chosen)
        return self.get(item.id)

    def approve(self, handle: int | str, *, author: Author) -> Item:
        """Let a person stand for a note: a rule holds from now on, a suspicion is laid aside."""
        if author != "person":
            raise RuleUserOnly(
                "only a person approves notes", hint="ask them to run: observer note approve ID"
            )
        item = self.get(handle)
        return self._changed(item, Approve(item=item.id), author)

    def link(
        self,
        handle: int | str,
        target: int | str,
        *,
        kind: str = EXPLICIT,
        author: Author = "agent",
    ) -> Item:
        """Link a note to another item; the kinds `supersedes` and `amends` say what it does to it.

        Raises: NotFound, Ambiguous, BadInput (it is itself, or belongs elsewhere), RuleUserOnly.
        """
        item = self.get(handle)
        check_rule(item, author)
        with self._store.read() as reader:
            added = Reference(kind=note_type(kind), item=self._exact(reader, target))
            if added.item == item.id:
                raise BadInput(f"note {item.id} would lead to itself", hint="name another item")
            self._check_links(reader, [added], (item.project_id, item.owner), author)
        links = (*references_of(item), added)
        return self._changed(item, Revise(item=item.id, links=links), author)

    def unlink(
        self, handle: int | str, target: int | str, *, kind: str = "", author: Author = "agent"
    ) -> Item:
        """Take out the links to an item, those of one kind if it is named; raises as `link`."""
        item = self.get(handle)
        check_rule(item, author)
        with self._store.read() as reader:
            gone = self._exact(reader, target)
        kept = [
            each for each in references_of(item) if each.item != gone or kind not in {"", each.kind}
        ]
        return self._changed(item, Revise(item=item.id, links=tuple(kept)), author)

    def _body(self, note: Note) -> Remember:
        """Return the event; names and words as they are stored, since they are compared first."""
        return Remember(
            content=redact_text(note.content),
            title=title_of(note.title),
            type=note.type,
            key=label_of(note.key),
            category=note.category,
            confidence=note.confidence,
            scope=note.scope,
            owner=self._owner if note.scope == "personal" else "",
            layer=note.layer,
            tags=note.tags,
            links=(
                *(Reference(kind="supersedes", item=target) for target in note.supersedes),
                *(Reference(kind="amends", item=target) for target in note.amends),
                *note.links,
            ),
            expires_ms=note.expires_ms,
            metadata=metadata_text(note.metadata),
        )

    def _check_links(
        self,
        reader: StoreReader,
        links: Sequence[Reference],
        place: tuple[int | None, str],
        author: Author,
    ) -> None:
        """Refuse links to what this owner or this project, a note's `place`, knows nothing of."""
        for each in links:
            target = reader.item(each.item)
            if (
                target is None
                or not self._may_see(target)
                or (place[0] is not None and target.project_id not in {None, place[0]})
            ):
                raise NotFound(f"no item {each.item} to link to", hint="search for it first")
            if each.kind != "supersedes":
                continue
            check_rule(target, author)
            if place != (target.project_id, target.owner):
                raise BadInput(
                    f"item {each.item} belongs elsewhere, so this note cannot supersede it",
                    hint="remember it in the same scope, or link it by another kind",
                )


def _replaced(reader: StoreReader, body: Remember, project_id: int | None) -> Item | None:
    where = Filters(project_id=project_id, owner=body.owner)
    if body.key:
        return reader.keyed(body.key, where)
    return reader.same_content(content_hash(body.content), where)
