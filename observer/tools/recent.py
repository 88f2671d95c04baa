"""What screens of a terminal ask beside what commands do: what happened last, and near pairs."""

from __future__ import annotations

from typing import Any

import msgspec

from observer.core.model import UNASSIGNED, Item
from observer.core.text import one_line
from observer.memory.api import Memory
from observer.search.handles import SearchOptions
from observer.search.timeline import has_failed
from observer.tools import note_api, rows
from observer.tools.asking import CommandReply, CommandRequest
from observer.tools.render import ProjectName, parts

REPLY_CHARS = 200


def happened(
    memory: Memory,
    _asked: CommandRequest,
    *,
    project: str | None,
    limit: int,
    records: bool = False,
    until_ms: int | None = None,
    before_id: int = 0,
) -> CommandReply:
    """List what happened before a time, or an item of then, newest first.

    What tools did is among it only with `records`.
    """
    kinds = ("observation", "note", *(("record",) if records else ()))
    wanted = SearchOptions(kinds=kinds, until_ms=until_ms, before_id=before_id)
    found = memory.accounts.happened(wanted, project=project, limit=limit)
    name = memory.project_names()
    return CommandReply(msgspec.json.encode([_line(item, name) for item in found]).decode())


def _line(item: Item, name: ProjectName) -> dict[str, Any]:
    """Return an item of a list; `reply` is what a turn ended with so far, and when."""
    said = one_line(parts(item)[1], REPLY_CHARS) if item.type == "turn" else ""
    at_ms = item.updated_ms
    reply = {"title": said, "created_at": rows.minute(at_ms), "at_ms": at_ms} if said else None
    return {
        **msgspec.to_builtins(rows.item_line(item, name)),
        "at_ms": item.created_ms,
        "failed": has_failed(item),
        "reply": reply,
    }


def near_pairs(
    memory: Memory, _asked: CommandRequest, *, project: str | None, limit: int
) -> CommandReply:
    """List near pairs of notes that nobody has settled, of a project or of all, nearest first."""
    places = [one for one in memory.projects() if one.id != UNASSIGNED]
    found = [memory.pairs.open(one, limit=limit) for one in places if project in {None, one.uuid}]
    name = memory.project_names()
    pairs = sorted((pair for one in found for pair in one.pairs), key=lambda pair: -pair.cosine)
    rows = [{end: _end(getattr(pair, end), name) for end in ("newer", "older")} for pair in pairs]
    said = {
        "pairs": rows[:limit],
        "total": sum(one.total for one in found),
        "degraded": "; ".join(filter(None, (one.degraded for one in found))),
    }
    return CommandReply(msgspec.json.encode(said).decode())


def _end(note: Item, name: ProjectName) -> dict[str, Any]:
    text = note_api.detail(note, name)
    return {"id": note.id, "title": note.title, "content": note.narrative, "shown": text}
