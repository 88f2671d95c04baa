"""Reads of notes: lists, histories, links, claims, approved rules, notes near each other.

A note knows those of its own project and those that belong to none, and nobody else's personal
ones. Nearness combines vectors and words: vectors alone take related notes for duplicates, words
alone miss paraphrases. Flashbacks are near notes from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec
import numpy as np
from numpy.typing import NDArray

from observer.core.errors import Ambiguous, BadInput, NotFound, ObserverError
from observer.core.events import Undo, kind_of
from observer.core.filters import HIDE, RECORDED_KINDS, Filters, is_visible
from observer.core.model import FORMERLY, Item, Link, Recorded, item_id
from observer.core.note_file import Claim
from observer.core.value import Value
from observer.index import ListRequest
from observer.notes.values import Connections, NoteAccess, NoteLink, Similar, Version, signal_id
from observer.observations import note_reducer
from observer.search.candidates import Sources
from observer.search.find import search
from observer.search.handles import LARGEST_ID, SearchOptions, filters_of
from observer.search.rank import has_expired
from observer.store.items import Grouping
from observer.store.reader import StoreReader

LOOKED_AT = 12
"""Notes nearest by each leg that are compared in full."""
TEXT_CHARS = 2_000
"""How much of a note is compared."""
RAREST = 8
"""Words by which a copy is looked for: those that fewest items hold."""
LEAST_NEAR = 0.3
"""Nearness from which a note may be about the same.

Source: of 383 statements among 1,705, each with a later one that changes it, .98 are nearer to that
one, and .97 are among its three nearest; of all pairs of these statements .003 are as near. No
threshold parts what is replaced from what is merely related.
"""

_WORD = re.compile(r"\w+")


def near_notes(sources: Sources, item: Item, filters: Filters) -> tuple[Similar, ...]:
    """Return other notes that may be about the same, of those admitted, nearest first."""
    text = _text(item)
    vector = _vector(sources, item, text)
    view, wanted = sources.view, [ListRequest(sources.view.mask(filters), LOOKED_AT)]
    spelled = view.codes(list(dict.fromkeys(_WORD.findall(text))))
    codes = np.array(list(dict.fromkeys(chain.from_iterable(spelled))), np.uint32)
    best = view.by_words(view.rarest(codes, RAREST), wanted)
    if vector is not None:
        best += view.by_vector(vector, wanted)
    places = np.unique(np.concatenate([each.places for each in best]))
    if not len(places):
        return ()
    cosines = np.zeros(len(places)) if vector is None else view.cosines(places, vector)
    ids = view.ids(places).tolist()
    meanings = dict(zip(ids, cosines.clip(0, 1).tolist(), strict=True))
    words, near = _words(text), []
    for other in sources.reader.items(ids):
        if other.id != item.id and filters.admits(other):
            others = _words(_text(other))
            shared = len(words & others) / max(1, len(words | others))
            near.append(Similar(item=other, meaning=meanings[other.id], words=shared))
    near = [one for one in near if one.score >= LEAST_NEAR]
    return tuple(sorted(near, key=lambda one: (-one.nearness, one.item.id)))


def _text(item: Item) -> str:
    return f"{item.title}\n{item.narrative}"[:TEXT_CHARS]


def _vector(sources: Sources, item: Item, text: str) -> NDArray[np.float32] | None:
    """Return what a note means: what the index has of it, else made now; None without a model."""
    view = sources.view
    _, vectors = view.meanings(view.mask(Filters(owner=item.owner), np.array([item.id])))
    return vectors[0] if len(vectors) else sources.encode(text)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


DAY_MS = 86_400_000
FLASHBACK_CANDIDATES = 250
"""Older notes, the nearest, of which most may be of the same folder."""


class FlashbackSettings(Value):
    """When an older note is a flashback: its age, its distance, and how many there are at most."""

    days: int = 90
    distance: float = 0.9
    limit: int = 3


class Flashback(Value):
    """An older note from elsewhere; `match` is the cosine of their meanings."""

    item: Item
    days: int
    match: float


def flashbacks(
    sources: Sources, anchor: Item, wanted: FlashbackSettings, *, owner: str, now_ms: int
) -> tuple[Flashback, ...]:
    """Return older notes from another folder or project that are near a note, nearest first."""
    view = sources.view
    vector = _vector(sources, anchor, _text(anchor))
    if vector is None:
        return ()
    older = Filters(
        kinds=("note",),
        owner=owner,
        until_ms=now_ms - wanted.days * DAY_MS,
        trusted_at_ms=now_ms,  # nobody asked for them
    )
    (best,) = view.by_vector(vector, [ListRequest(view.mask(older), FLASHBACK_CANDIDATES)])
    cosines = zip(view.ids(best.places).tolist(), best.scores.tolist(), strict=True)
    near = {number: cosine for number, cosine in cosines if cosine > 1 - wanted.distance**2 / 2}
    folder = anchor.category.partition("/")[0]
    found = [
        Flashback(item=item, days=(now_ms - item.created_ms) // DAY_MS, match=near[item.id])
        for item in sources.reader.items(list(near))
        if older.admits(item)
        and item.id != anchor.id
        and (
            item.project_id != anchor.project_id
            or not folder
            or item.category.partition("/")[0] != folder
        )
    ]
    return tuple(found[: wanted.limit])


CANDIDATES = 5
"""Notes named to whoever was vague about which one to change."""
BACKLINKS = 200
UUID_CHARS = 36
_EVERYTHING = SearchOptions(kinds=("note",))


class NoteReader:
    """The notes that one owner may see, for reading."""

    def __init__(self, access: NoteAccess) -> None:
        self._access = access
        self._store, self._owner, self._now_ms, self._sources, _ = access

    def get(self, handle: int | str, *, deleted: bool = False) -> Item:
        """Return the note of an id or a whole uuid. Raises: NotFound, Ambiguous (it is vague)."""
        with self._store.read() as reader:
            item = reader.item(self._exact(reader, handle), deleted=deleted)
        if item is None or item.kind not in RECORDED_KINDS or not self._may_see(item):
            raise NotFound(f"no note {handle}", hint="find it with: observer note")
        return item

    def list(
        self, *, project: str | None = None, narrow: SearchOptions = _EVERYTHING, limit: int = 50
    ) -> Sequence[Item]:
        """Return notes, newest first: those of a project and those of none; all without one.

        `narrow.kinds` of ``("inference",)`` lists inferences, which are listed nowhere else.
        Raises: NotFound, Ambiguous (the project, or the session).
        """
        with self._store.read() as reader:
            return reader.recent(self._filters(reader, project, narrow), limit=limit)

    def counts(
        self, grouping: Grouping, *, project: str | None = None, narrow: SearchOptions = _EVERYTHING
    ) -> Mapping[str, int]:
        """Count notes by tag, category, type or layer, the commonest first; raises as `list`."""
        with self._store.read() as reader:
            return reader.counts(grouping, self._filters(reader, project, narrow))

    def history(self, handle: int | str) -> tuple[Version, ...]:
        """Return everything that happened to a note, oldest first; also to a deleted one.

        Raises: as `get`; BadInput (it is a file), ObserverError (its log was not read since an
        upgrade).
        """
        item = self.get(handle, deleted=True)
        if item.file:
            raise BadInput(
                f"note {item.id} is kept as a file, so its versions are not in the log",
                hint="what agents changed: observer note folder history; all else: git log -p "
                + item.file,
            )
        with self._store.read() as reader:
            history = reader.history(item.id)
        if not history or item_id(history[0].seq) != item.id:
            raise ObserverError(
                f"what happened to note {item.id} was not gathered before an upgrade",
                hint="find it in the log with: observer doctor --rebuild",
            )
        return versions(history)

    def claims(self, handle: int | str) -> tuple[Claim, ...]:
        """Return a note's lines like `- [category] text #tag (context)`; raises as `get`."""
        return note_reducer.parse_claims(self.get(handle).narrative)

    def links(self, handle: int | str) -> Connections:
        """Return what a note leads to, and what to it, as of now; raises as `get`."""
        item = self.get(handle)
        with self._store.read() as reader:
            out = []
            for link in item.links:
                if link.kind != FORMERLY:
                    named = self._called(reader, link.title, item) if not link.target else None
                    target = reader.item(link.target) if link.target else named
                    seen = target if target and self._may_see(target) else None
                    title = seen.title if seen else link.title
                    out.append(NoteLink(kind=link.kind, title=title, item=seen))
            return Connections(out=tuple(out), back=self._back(reader, item))

    def called(self, title: str, *, project_id: int | None) -> Item | None:
        """Return the note of a title: of a project or of none, else of any project."""
        kept = note_reducer.title_of(title)
        with self._store.read() as reader:
            return self._titled(reader, kept, project_id or 0) or self._titled(reader, kept)

    def project_of(self, item: Item) -> str | None:
        """Return the uuid of the project that an item belongs to; None for one of no project."""
        with self._store.read() as reader:
            return next((p.uuid for p in reader.projects() if p.id == item.project_id), None)

    def near(self, item: Item) -> tuple[Similar, ...]:
        """Return notes that may be about the same, unless linked or judged; nearest first."""
        place = Filters(
            project_id=item.project_id or 0,
            with_global=item.project_id is None,
            kinds=("note",),
            owner=self._owner,
            scope="personal" if item.scope == "personal" else None,
        )
        with self._sources() as sources:
            found = near_notes(sources, item, place)
            judged = sources.reader.triages(self._owner)
            back = {source for source, _ in sources.reader.linked_to([item.id])}
        linked = back | {link.leads_to for link in item.links}
        return tuple(
            one
            for one in found
            if one.item.id not in linked
            and pair_id(item.id, one.item.id) not in judged
            and not is_superseded(one.item)
            and not has_expired(one.item, self._now_ms())
            and one.item.narrative != item.narrative
        )

    def rules(self, project_id: int | None, *, most_chars: int) -> tuple[Sequence[Item], int]:
        """Return the approved rules that hold in a project, and how many more there are.

        Oldest first, whole ones only, as long as title and content fit, but for what is hidden.
        """
        place = Filters(
            project_id=project_id or 0,
            with_global=True,
            kinds=("note",),
            layer="rule",
            owner=self._owner,
        )
        with self._store.read() as reader:
            given = reader.chosen("given")
            approved = [
                item
                for item in reader.recent(place, limit=LARGEST_ID)
                if item.approval == "approved" and not has_expired(item, self._now_ms())
            ]
        replaced: set[int] = set()
        for item in approved:
            said = {link.target for link in item.links if link.kind == "supersedes"}
            replaced |= said & {one.target for one in item.validity if one.reason == "supersedes"}
        known = [item for item in reversed(approved) if item.id not in replaced]
        standing = [item for item in known if given.get(item.id) != HIDE]
        kept, left = [], most_chars
        for item in standing:
            if (size := len(item.title) + len(item.narrative)) <= left:
                kept.append(item)
                left -= size
        return kept, len(standing) - len(kept)

    def _filters(self, reader: StoreReader, project: str | None, narrow: SearchOptions) -> Filters:
        filters = filters_of(reader, narrow, project=project, owner=self._owner)
        kinds = narrow.kinds or ("note",)
        return msgspec.structs.replace(filters, kinds=kinds, with_global=True)

    def _exact(self, reader: StoreReader, handle: int | str) -> int:
        text = str(handle).strip().lstrip("#")
        if text.isascii() and text.isdecimal() and int(text[:20]) <= LARGEST_ID:
            return int(text)
        if len(text) == UUID_CHARS and (found := reader.resolve(text)):
            return found[0]
        near = self._candidates(reader, text)
        if not near:
            raise NotFound(f"no note {text[:80]!r}", hint="find it with: observer note")
        named = ", ".join(f"#{item.id} {item.title!r}" for item in near)
        raise Ambiguous(f"{text[:80]!r} is not an exact handle", hint=f"perhaps one of: {named}")

    def _candidates(self, reader: StoreReader, text: str) -> Sequence[Item]:
        by_uuid = [item for item in reader.items(reader.resolve(text)) if self._may_see(item)]
        if by_uuid or not text:
            return by_uuid
        everywhere = Filters(kinds=("note",), owner=self._owner)
        with self._sources() as sources:
            try:
                found = search(
                    sources, text, everywhere, limit=CANDIDATES, now_ms=self._now_ms()
                ).hits
            except BadInput:  # no query at all
                return []
        return [hit.item for hit in found]

    def _called(self, reader: StoreReader, title: str, of: Item) -> Item | None:
        """Return the note that a title means in a note; `#12` means the note of that id."""
        if number := Link(kind="", title=title).leads_to:
            named = reader.item(number)
            return named if named and named.kind == "note" and self._may_see(named) else None
        return self._titled(reader, title, of.project_id or 0)

    def _titled(
        self, reader: StoreReader, title: str, project_id: int | None = None
    ) -> Item | None:
        place = Filters(project_id=project_id, with_global=True, owner=self._owner)
        return next(iter(reader.titled(title, place)), None)

    def _back(self, reader: StoreReader, item: Item) -> tuple[NoteLink, ...]:
        by_id = reader.linked_to([item.id])
        named = {source.id: source for source in reader.items([source for source, _ in by_id])}
        found = [
            (link.kind, named[source])
            for source, link in by_id
            if source in named and self._may_see(named[source])
        ]
        place = Filters(project_id=item.project_id, owner=self._owner)
        former = (link.title for link in item.links if link.kind == FORMERLY)
        for name in (item.title, *former, *reader.aliases_of([item.id]).get(item.id, ())):
            for source in reader.naming(name, place, limit=BACKLINKS):
                meant = self._called(reader, name, source)
                if meant and meant.id == item.id != source.id:
                    found.append(("wiki", source))
        found.sort(key=lambda pair: (-pair[1].created_ms, -pair[1].id))
        return tuple(NoteLink(kind=kind, title=one.title, item=one) for kind, one in found)

    def _may_see(self, item: Item) -> bool:
        return is_visible(item, self._owner)


PAIR = "pair"
"""The type of the signal that two notes are near."""


def pair_id(one: int, other: int) -> int:
    """Return the id of the signal that two notes are near, whichever is named first."""
    return signal_id(PAIR, f"{min(one, other)}|{max(one, other)}")


def is_superseded(item: Item) -> bool:
    """Return True if another note took the place of this one by an act."""
    return any(each.reason == "superseded" for each in item.validity)


def versions(history: Sequence[Recorded]) -> tuple[Version, ...]:
    """Return the events of a history, each with the note as it then was and whether it stands."""
    standing = {recorded.seq for recorded, _ in note_reducer.versions_of(history)}
    found = []
    for number, recorded in enumerate(history, start=1):
        after = note_reducer.versions_of(history[:number])
        # What was written apart, and earlier than what stands, is not the last one of these.
        own = (made for one, made in after if one.seq == recorded.seq)
        item = next(own, after[-1][1] if after else None)
        if item is not None:
            found.append(
                Version(
                    number=number,
                    action=kind_of(recorded.event.body),
                    author=recorded.event.author,
                    at_ms=recorded.event.at_ms,
                    item=item,
                    stands=recorded.seq in standing and not isinstance(recorded.event.body, Undo),
                )
            )
    return tuple(found)
