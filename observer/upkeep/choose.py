"""Chooses the events that a purge takes: those asked for, what depends on them, how far they reach.

An item knows the first event that it was made of; the others are found by folding the events of its
session once more. Projects with no note in common know nothing of each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import chain

import msgspec

from observer.core import events
from observer.core.errors import BadInput, NotFound
from observer.core.filters import CAPTURED, RECORDED_KINDS, Filters, touches
from observer.core.model import Item, Recorded, item_id, seq_of
from observer.core.text import listed
from observer.core.value import Value
from observer.observations.note_reducer import OnNote, versions_of
from observer.observations.session_reducer import SessionReducer
from observer.observations.session_state import begin
from observer.search.query import plan
from observer.store.purging import ALL_MS, StoredEvent
from observer.store.reader import StoreReader
from observer.upkeep.shred import finder, places

_OTHER_WORK = frozenset({"reverts", "replaces", "makes"})
"""Links to items of their own; by the others an observation quotes what it was made of."""

_QUOTED = (events.Prompt, events.Reply, events.Delegation)
"""Events whose words stand in the item of their turn."""


def origins(reader: StoreReader, item_ids: Collection[int]) -> set[int]:
    """Return the events of which items were made; of unknown ids there are none.

    Of a summary these are all events of its session, of a fix those of the failure and changes too.
    """
    events_of = partial(reader.recorded_near, from_ms=-ALL_MS, to_ms=ALL_MS)
    items = dict(_with_sources(reader, item_ids))
    seqs = {seq_of(item_id) for item_id in items}
    sessions: defaultdict[int, set[int]] = defaultdict(set)
    seqs.update(reader.history_seqs(items))
    for item in items.values():
        if item.kind in RECORDED_KINDS:
            continue
        if item.session_id is not None and item.kind == "summary":
            seqs.update(recorded.seq for recorded in events_of(item.session_id))
        elif item.session_id is not None:
            sessions[item.session_id].add(item.id)
    for session_id, wanted in sessions.items():
        seqs.update(_folded(events_of(session_id), wanted))
    return seqs


def _with_sources(reader: StoreReader, item_ids: Collection[int]) -> Iterator[tuple[int, Item]]:
    """Yield items, and those observations that they quote."""
    waiting, seen = list(item_ids), set(item_ids)
    while waiting:
        item = reader.item(waiting.pop(), deleted=True)
        if item is None:
            continue
        yield item.id, item
        if item.kind in CAPTURED:
            linked = {link.target for link in item.links if link.kind not in _OTHER_WORK}
            waiting += linked - seen - {0}
            seen |= linked


def _folded(log: Collection[Recorded], wanted: set[int]) -> Iterator[int]:
    """Yield the events of one session that made or changed some items, or are quoted in them."""
    fold: SessionReducer | None = None
    for recorded in log:
        fold = fold or SessionReducer(begin(recorded))
        whole, drafted = fold.add_paired(recorded)
        turn = fold.state().turn
        made = {item.id for item in drafted}
        if turn is not None and isinstance(whole.event.body, _QUOTED):
            made.add(item_id(turn.origin.seq))
        if made & wanted:
            yield recorded.seq
            if whole.pending:
                yield whole.pending.origin.seq


ALL = 1 << 31

_event = msgspec.json.Decoder(events.Event).decode


class Criteria(Value):
    """What is asked to be purged; of several fields all must hold, an empty one does not restrict.

    `ids` are items, `query` takes those that hold all its words. `file` is as `filters.touches`
    takes it. `owner` asks: other people's personal notes are not found by a query.
    """

    ids: tuple[int, ...] = ()
    text: str = ""
    query: str = ""
    project_id: int | None = None
    session: str = ""
    file: str = ""
    client: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    owner: str = ""


def chosen(reader: StoreReader, asked: Criteria) -> frozenset[int]:
    """Return the `seq` of each event that goes; see `reasons`."""
    return frozenset(reasons(reader, asked))


DEPENDS = "about what goes"


def reasons(reader: StoreReader, asked: Criteria) -> dict[int, str]:
    """Return the `seq` of each event that goes, and why, by `seq`.

    Notes that are kept as files come from no event: see `kept_files`. Raises BadInput: nothing
    restricts it, or a text is too short; NotFound: there is no such item or session.
    """
    if asked == Criteria(owner=asked.owner):
        raise BadInput("nothing says what to purge", hint="see: observer purge --help")
    fits = _fitting(reader, asked)
    sessions: dict[int, int | None] = {}
    found: dict[int, str] = {}
    for stored in reader.stored_events():
        sessions[stored.seq] = stored.session_id
        if why := fits(stored):
            found[stored.seq] = why
    going = with_dependents(reader, found.keys(), sessions)
    return {seq: found.get(seq, DEPENDS) for seq in sorted(going)}


def on_branch(reader: StoreReader, asked: Criteria) -> int:
    """Return how many events hold a text only as the name of their branch; they stay."""
    text = finder([asked.text] if asked.text else [])
    return sum(
        bool(text and text.search(stored.held) and not places(text, stored))
        for stored in reader.stored_events()
    )


def with_dependents(
    reader: StoreReader, going: Collection[int], sessions: Mapping[int, int | None]
) -> frozenset[int]:
    """Return events that go and those about them; `sessions` has the session of every event."""
    found, last = set(going), set[int]()
    while found != last:
        last = set(found)
        found |= _about(reader, last, sessions)
    return frozenset(found & sessions.keys())


def kept_files(reader: StoreReader, asked: Criteria) -> list[str]:
    """Return the files of note folders that a query finds, or that are named: they stay."""
    found = reader.items(_found(reader, asked)) if asked.query else []
    kept = {item.file for item in found if item.file}
    if asked.file:
        noted = [file for folder in reader.noted_folders() for file in reader.note_files(folder)]
        named = {f"{file.folder}/{file.path}" for file in noted}
        named = {path for path in named if touches(path, asked.file)}
        kept = kept & named if asked.query else named
    return sorted(kept)


def _fitting(reader: StoreReader, asked: Criteria) -> Callable[[StoredEvent], str]:
    """Return what says why an event was asked for, "" for one that was not."""
    text = finder([asked.text] if asked.text else [])
    seqs, sessions = _of_items(reader, asked), _sessions(reader, asked.session)
    of_file = _of_file(reader, asked) if asked.file else frozenset[int]()

    def why(stored: StoredEvent) -> str:
        is_within = (
            (seqs is None or stored.seq in seqs)
            and (asked.project_id is None or stored.project_id == asked.project_id)
            and (sessions is None or stored.session_id in sessions)
            and asked.client in {"", stored.client}
            and (asked.since_ms is None or stored.at_ms >= asked.since_ms)
            and (asked.until_ms is None or stored.at_ms < asked.until_ms)
            and (not asked.file or stored.seq in of_file or _names(stored, asked.file))
        )
        held = places(text, stored) if is_within and text else ()
        if not is_within or (text and not held):
            return ""
        whys = (
            f"holds it in {listed(held)}" if held else "",
            "named by its id" if asked.ids else "",
            "holds the words" if asked.query else "",
            "about the file" if asked.file else "",
            "of the session" if asked.session else "",
            f"from {asked.client}" if asked.client else "",
            "of the project" if asked.project_id is not None else "",
            "of that time" if (asked.since_ms, asked.until_ms) != (None, None) else "",
        )
        return "; ".join(filter(None, whys))

    return why


def _of_items(reader: StoreReader, asked: Criteria) -> set[int] | None:
    """Return the events of the items that were named or found; None if none were asked for."""
    if not asked.ids and not asked.query:
        return None
    for item in asked.ids:
        known = reader.item(item, deleted=True)
        if known is None:
            raise NotFound(f"there is no item {item}", hint="search for it: observer search")
        if known.file:
            raise BadInput(
                f"note {item} is kept as a file, and comes from there",
                hint=f"delete {known.file}, or: observer note folder remove",
            )
    named = origins(reader, asked.ids) if asked.ids else ()
    seqs = {copy for seq in named for copy in reader.copies(seq)} if asked.ids else None
    if asked.query:
        found = origins(reader, _found(reader, asked))
        seqs = found if seqs is None else seqs & found
    return seqs


def _found(reader: StoreReader, asked: Criteria) -> list[int]:
    wanted = plan(asked.query)
    words = (f'"{word}"' for word in wanted.words)
    if not (expression := wanted.expression or " AND ".join(words)):
        raise BadInput(f"{asked.query!r} holds no word to look for")
    return reader.match(expression, Filters(owner=asked.owner), limit=ALL)


def _sessions(reader: StoreReader, named: str) -> Collection[int] | None:
    if not named:
        return None
    if not (found := reader.sessions_named(named)):
        raise NotFound(f"there is no session {named!r}", hint="list them: observer sessions")
    return found


def _of_file(reader: StoreReader, asked: Criteria) -> frozenset[int]:
    """Return the events whose items name a file: also commands that were not given its name."""
    wanted = Filters(files=(asked.file,), owner=asked.owner)
    items = reader.items(reader.ids(wanted, limit=ALL))
    return frozenset(origins(reader, [item.id for item in items if item.kind in CAPTURED]))


def _names(stored: StoredEvent, file: str) -> bool:
    try:
        body = _event(stored.data).body
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return any(touches(path, file) for path in paths_of(body))


def paths_of(body: events.AnyBody) -> Iterator[str]:
    """Yield the files that an event says it is about."""
    if isinstance(body, events.Intent):
        yield from paths_of(body.of)
    elif isinstance(body, events.FileWrite | events.Search):
        yield body.path
    elif isinstance(body, events.FileRead):
        yield from body.paths
    elif isinstance(body, events.Prompt | events.Custom):
        yield from body.files
    elif isinstance(body, events.Commit):
        for file in body.files:
            yield from (file.path, file.old_path)


def _about(
    reader: StoreReader, going: Collection[int], sessions: Mapping[int, int | None]
) -> set[int]:
    """Return the events about items that are gone with others."""
    made = reader.items_from(going)
    touched = {sessions.get(seq) for seq in going}
    left = {session for seq, session in sessions.items() if seq not in going}
    gone = {one.id for one in made if one.kind != "summary" or one.session_id not in left}
    rederived = gone | {item_id(one, "summary") for one in touched if one is not None}
    seqs: set[int] = set()
    # Without its first event a note would come back as another one.
    seqs.update(reader.history_seqs(one.id for one in made))
    judging = ("enriched", "triage", "revise", "approve", "forget", "undo")
    for recorded in chain.from_iterable(map(reader.log_of_kind, judging)):
        body = recorded.event.body
        if _is_of(body, gone, rederived):
            seqs.add(recorded.seq)
            if isinstance(body, events.Forget):
                seqs |= origins(reader, [body.item])  # what is left of it was not wanted either
    return seqs | _undoing(reader, going)


def _is_of(body: events.AnyBody, gone: Collection[int], rederived: Collection[int]) -> bool:
    if isinstance(body, events.Enriched):
        return body.item in rederived
    if isinstance(body, events.Triage):
        return any(item in gone for item in body.evidence)
    return isinstance(body, OnNote) and body.item in gone


def _undoing(reader: StoreReader, going: Collection[int]) -> set[int]:
    """Return what took back a change of a note that goes: it would take back another one."""
    seqs: set[int] = set()
    revised = reader.log_of_kind("revise")
    bodies = (one.event.body for one in revised if one.seq in going)
    notes = {body.item for body in bodies if isinstance(body, events.Revise)}
    for note in notes:
        history = reader.history(note)
        for place, recorded in enumerate(history):
            if isinstance(recorded.event.body, events.Undo):
                standing = [before for before, _ in versions_of(history[:place])]
                if len(standing) > 1 and standing[-1].seq in going:
                    seqs.add(recorded.seq)
    return seqs


_ON_ITEMS = ("remember", "enriched", "revise", "approve", "forget", "undo", "shared")
_NOWHERE = -1  # stands for the notes that belong to no project


def reached_projects(reader: StoreReader, going: Collection[int]) -> frozenset[int]:
    """Return the projects in which anything may be derived otherwise without some events."""
    homes: dict[int, int] = {}
    near: defaultdict[int, set[int]] = defaultdict(set)
    for one in reader.aged_events():
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
        for recorded in reader.log_of_kind(kind):
            body = recorded.event.body
            if isinstance(body, events.Shared) or (
                isinstance(body, events.Remember) and body.scope != "project"
            ):
                yield recorded.project_id, _NOWHERE
            elif isinstance(body, events.Enriched | OnNote) and seq_of(body.item) in homes:
                yield recorded.project_id, homes[seq_of(body.item)]
