"""From items back to events: all of which an item was made.

An item knows the first event it counts from. The rest is found as the item was: by folding the
events of its session once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from observer.filters import RECORDED_KINDS
from observer.interpret.fold import Fold
from observer.interpret.intents import Completed
from observer.interpret.sessions import begin
from observer.model import Item, Recorded, seq_of
from observer.store.purging import ALL_MS, PurgeReader

_OTHER_WORK = frozenset({"reverts", "replaces", "makes"})
"""Links to what is told by itself; by the others an observation quotes what it was made of."""


def origins(reader: PurgeReader, item_ids: Collection[int]) -> set[int]:
    """Return the events of which items were made; of unknown ids there are none.

    Of a summary these are all events of its session, of a note all that made and changed it, of a
    fix those of the failure and the changes too.
    """
    items = dict(_with_sources(reader, item_ids))
    seqs = {seq_of(item_id) for item_id in items}
    sessions: defaultdict[int, set[int]] = defaultdict(set)
    for item in items.values():
        if item.kind in RECORDED_KINDS:
            seqs.update(recorded.seq for recorded in reader.history(item.id))
        elif item.session_id is not None and item.kind == "summary":
            seqs.update(recorded.seq for recorded in events_of(reader, item.session_id))
        elif item.session_id is not None:
            sessions[item.session_id].add(item.id)
    for session_id, wanted in sessions.items():
        seqs.update(_folded(events_of(reader, session_id), wanted))
    return seqs


def events_of(reader: PurgeReader, session_id: int) -> list[Recorded]:
    """Return all events of a session, by `seq`."""
    return reader.recorded_near(session_id, from_ms=-ALL_MS, to_ms=ALL_MS)


def _with_sources(reader: PurgeReader, item_ids: Collection[int]) -> Iterator[tuple[int, Item]]:
    """Yield items, and those observations that they quote."""
    waiting, seen = list(item_ids), set(item_ids)
    while waiting:
        item = reader.item(waiting.pop(), deleted=True)
        if item is None:
            continue
        yield item.id, item
        if item.kind == "observation":
            linked = {link.target for link in item.links if link.kind not in _OTHER_WORK}
            waiting += linked - seen - {0}
            seen |= linked


def _folded(events: Collection[Recorded], wanted: Collection[int]) -> Iterator[int]:
    """Yield the events of one session that made or changed some items."""
    fold: Fold | None = None
    for recorded in events:
        fold = fold or Fold(begin(recorded))
        whole, told = fold.told(recorded)
        if any(item.id in wanted for item in told):
            yield recorded.seq
            if isinstance(whole, Completed):
                yield whole.pending.origin.seq
