"""What has an id and is no item: file reads, which the log alone has, and parts of other items.

A read is an observation for who asks for every step of the work: it is found by no search of ours,
and the summary of its session names its files. Its id is the one that an item of its event would
have. A call is counted in the record of its tool, and a prompt or a reply stands in its turn; ids
that were written down before go on working, by `stand_ins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from observer.core.events import AnyBody, Command, Delegation, FileRead, FileWrite, Search, ToolUse
from observer.core.filters import Filters
from observer.core.model import Item, Recorded, seq_of
from observer.core.text import relative
from observer.observations.drafts import item, where_of
from observer.observations.event_text import read
from observer.observations.prompt_injection import with_suspicion
from observer.observations.turns import TURN
from observer.search.timeline import TimelineEntry
from observer.store.reader import StoreReader

KIND = "file-read"
LEAST_LETTERS = 3
SPARE = 5
LOOKED_AT = 20_000
"""Newest events among which reads are looked for by name: no index leads to them."""


def reads_by_id(reader: StoreReader, ids: Iterable[int]) -> dict[int, Item]:
    """Return the reads that have these ids."""
    found = (reader.log(after_seq=seq_of(one) - 1, limit=1) for one in ids)
    by_id = {made.id: made for made in _items(chain.from_iterable(found))}
    return {one: by_id[one] for one in ids if one in by_id}


def reads_naming(
    reader: StoreReader, words: Sequence[str], filters: Filters, *, limit: int
) -> list[Item]:
    """Return the newest read of each file whose path has one of some words, newest first.

    Short words are looked for only where there is no longer one: most paths have them.
    """
    folded = [word.casefold() for word in words]
    wanted = [word for word in folded if len(word) >= LEAST_LETTERS] or folded
    found: dict[tuple[int | None, tuple[str, ...]], Item] = {}
    for made in _items(reader.log_naming(KIND, wanted, newest=LOOKED_AT)):
        named = " ".join(made.files_read).casefold()
        if any(word in named for word in wanted) and filters.admits(made):
            found.setdefault((made.project_id, made.files_read), made)
    return list(found.values())[:limit]


def steps_around(
    reader: StoreReader, anchor: Item, *, owner: str, before: int, after: int
) -> list[TimelineEntry]:
    """Return the observations around an item or a read in its project, reads included."""
    # Summaries are no steps; there is seldom more than one for some observations.
    earlier, later = 2 * before + SPARE, 2 * after + SPARE
    items = reader.around(anchor, owner=owner, before=earlier, after=later)
    place = items.index(anchor)
    # Beyond the last item that there is, reads go on for as long as their session does.
    from_ms = items[0].created_ms if place == earlier else 0
    until_ms = items[-1].created_ms if len(items) - place > later else 1 << 62
    sessions = {one.session_id for one in items if one.session_id}
    near = (
        each
        for session in sorted(sessions)
        for each in reader.recorded_near(session, from_ms=from_ms, to_ms=until_ms, kind=KIND)
    )
    reads = {made.id: made for made in _items(near) if made.project_id == anchor.project_id}
    items = [one for one in items if one.kind != "summary" or one.id == anchor.id]
    steps = sorted(
        {**reads, **{one.id: one for one in items}}.values(),
        key=lambda one: (one.created_ms, one.id),
    )
    place = [one.id for one in steps].index(anchor.id)
    shown = steps[max(0, place - before) : place + after + 1]
    first = min(place, before)
    return [TimelineEntry(position=at - first, item=one) for at, one in enumerate(shown)]


def _items(found: Iterable[Recorded]) -> Iterator[Item]:
    """Yield the reads among events as items."""
    for recorded in found:
        body = recorded.event.body
        if isinstance(body, FileRead):
            yield with_suspicion(item(read(body, where_of(recorded)), recorded))


_TYPES: dict[type[AnyBody], str] = {
    FileWrite: "file-write",
    Command: "command",
    Search: "research",
    ToolUse: "tool-use",
    Delegation: "delegation",
}
"""What a tool did -> the type of its record."""
_LOOKED_AT = 60


def stand_ins(reader: StoreReader, ids: Iterable[int]) -> dict[int, Item]:
    """Return the record or turn that each of some ids without an item is part of, and says so.

    There is none for what was forgotten or purged, and for what happened in no session.
    """
    found = {}
    for one in ids:
        if reader.item(one, deleted=True) is None and (part := _stand_in(reader, one)):
            said = f"#{one} is part of it"
            found[one] = replace(part, subtitle="; ".join(filter(None, (part.subtitle, said))))
    return found


def _stand_in(reader: StoreReader, item_id: int) -> Item | None:
    events = reader.log(after_seq=seq_of(item_id) - 1, limit=1)
    if not events or events[0].seq != seq_of(item_id) or events[0].session_id is None:
        return None
    known = Filters(
        project_id=events[0].project_id,
        session_id=events[0].session_id,
        kinds=("record", "observation"),
        until_ms=events[0].event.at_ms + 1,
    )
    before = reader.recent(known, limit=_LOOKED_AT)
    return next(
        (one for one in before if _holds(one, events[0])),
        next((one for one in before if one.type == TURN), None),
    )


def _holds(record: Item, event: Recorded) -> bool:
    """Return True if a record, begun before, has grown until an event of its kind."""
    body = event.event.body
    is_alike = record.type == _TYPES.get(type(body)) and record.updated_ms >= event.event.at_ms
    return is_alike and (
        relative(body.path, event.root, event.event.cwd) in record.files_modified
        if isinstance(body, FileWrite)
        else record.folded > 1
    )
