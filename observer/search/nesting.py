"""The work of sub-agents under the delegations to them, at any depth.

A sub-agent works in the session of whoever started it, where each of its items names it, or in a
session of its own, as in OpenCode, Kilo and Cursor. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from observer.core.model import Item, Session
from observer.core.value import Value

DEEPEST = 5
"""What is deeper counts as this deep."""
_BY = "by sub-agent "
"""What an observation's subtitle ends with, and the sub-agent that it is of."""

_Named: TypeAlias = dict[tuple[int | None, str], int]
"""Ids of delegations, by session and by the name or kind of the sub-agent."""


class Nested(Value):
    """An item; `depth` is 1 for the work of a sub-agent, 2 for that of a sub-agent of its own.

    `under` is the id of the delegation that it belongs to; None where that is not among the items.
    """

    item: Item
    under: int | None = None
    depth: int = 0


def nested(items: Sequence[Item], sessions: Sequence[Session]) -> list[Nested]:
    """Return items with what a sub-agent did behind the delegation to it.

    `items` are oldest first, `sessions` are theirs, by id. A sub-agent's work keeps its place
    where the delegation to it is not among the items.
    """
    above = _above(items, _begun(items, sessions))
    below: defaultdict[int | None, list[Item]] = defaultdict(list)
    for item in items:
        below[above[item.id][0]].append(item)
    rows: list[Nested] = []
    waiting = [(item, int(above[item.id][1])) for item in reversed(below[None])]
    while waiting:
        item, depth = waiting.pop()
        rows.append(Nested(item=item, under=above[item.id][0], depth=depth))
        waiting += ((each, min(depth + 1, DEEPEST)) for each in reversed(below[item.id]))
    return rows


def _above(
    items: Sequence[Item], begun: Mapping[int | None, int | None]
) -> dict[int, tuple[int | None, bool]]:
    """Return, by item, the delegation to whoever did it, and whether a sub-agent did it.

    In one session that is the delegation that this agent came back from, else the last one before
    to its kind, so that no two can be under each other.
    """
    back: _Named = {}
    for item in items:
        if _is_back(item):
            back[item.session_id, _agent(item)] = item.id
    found: dict[int, tuple[int | None, bool]] = {}
    last: _Named = {}
    for item in items:
        session = item.session_id
        agent = "" if _is_back(item) else _agent(item)
        task = agent and (back.get((session, agent)) or last.get((session, _kind(agent))))
        found[item.id] = (task or begun.get(session), bool(agent) or session in begun)
        if item.type == "delegation" and not _is_back(item):
            last[session, _recipient(item)] = item.id
    return found


def _agent(item: Item) -> str:
    """Return the sub-agent that an item names, "" for none."""
    return item.subtitle.rpartition(_BY)[2] if _BY in item.subtitle else ""


def _kind(agent: str) -> str:
    return agent.partition("/")[0]


def _recipient(delegation: Item) -> str:
    """Return the kind of sub-agent that something was handed to."""
    return delegation.subtitle.split(f", {_BY}")[0].removeprefix("to ")


def _is_back(item: Item) -> bool:
    """Return True for a delegation that names the sub-agent that it was handed to."""
    agent = _agent(item)
    return item.type == "delegation" and agent != "" and _kind(agent) == _recipient(item)


def _begun(items: Sequence[Item], sessions: Sequence[Session]) -> dict[int | None, int | None]:
    """Return the ids of delegations, by those of the sub-agents' sessions that they began.

    A client begins a session and then hands it the task, one sub-agent after the other. A session
    follows the one that started it, so that no two can be under each other.
    """
    ids = {(one.client, one.external): one.id for one in sessions}
    waiting = [item for item in items if item.type == "delegation"]
    found: dict[int | None, int | None] = {}
    for child in sessions:
        if child.parent in {"", child.external}:
            continue
        parent = ids.get((child.client, child.parent), child.id)
        tasks = (
            item
            for item in waiting
            if item.session_id == parent < child.id and item.created_ms >= child.started_ms
        )
        task = next(tasks, None)
        found[child.id] = task.id if task else None
        waiting = [item for item in waiting if item is not task]
    return found
