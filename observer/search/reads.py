"""File reads, which the log alone has, as observations for who asks for every step of the work.

A read is no item: it is found by no search of ours, and the summary of its session names its
files. Its id is the one that an item of its event would have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from observer.core.events import FileRead
from observer.core.filters import Filters
from observer.core.model import Item, Recorded, seq_of
from observer.observations.drafts import item, where_of
from observer.observations.event_text import read
from observer.observations.prompt_injection import with_suspicion
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
