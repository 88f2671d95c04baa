"""Ids of what was an item of its own once, or is only in the log: the item that it is part of now.

A call is counted in the record of its tool, and a prompt or a reply stands in its turn; ids that
were written down before go on working.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from observer.core.events import AnyBody, Command, Delegation, FileWrite, Search, ToolUse
from observer.core.filters import Filters
from observer.core.model import Item, Recorded, seq_of
from observer.core.text import relative
from observer.observations.turns import TURN
from observer.store.reader import StoreReader

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
