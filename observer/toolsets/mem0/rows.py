"""A memory as mem0's clients know it: its id, its fields, and what became of it.

What an agent decided to do with an owner's memories, checked as a whole before any is touched.

The agent is a language model already: it can tell what is new, what changes and what no longer
holds better than a second one that sees less.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from observer.core.errors import BadInput, NotFound
from observer.core.model import Item, iso
from observer.notes.notes import Notes
from observer.notes.validation import check, check_change, check_rule
from observer.notes.values import Changes, Note, Similar
from observer.toolsets.mem0.owners import Owner, owner_of, tag_of
from observer.views.labels import labels
from observer.views.note_api import metadata_of
from observer.views.tool import ResultRow

AGENT = "agent_id"
"""The field of a memory's metadata that says which agent told it for a user."""
MODEL = "inferred_by"
"""The field that says which language model worded it."""

_ID = re.compile(
    r"(?:mem_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})"
)


class MemoryRow(ResultRow):
    """A memory; `score` is 0 to 1, comparable within one answer.

    `said_of_it` tells what speaks against it: suspicious, out of date, superseded.
    """

    id: str
    memory: str
    user_id: str | None
    agent_id: str | None
    metadata: dict[str, Any] | None  # the author's own JSON
    created_at: str
    updated_at: str | None
    score: float | UnsetType = UNSET
    said_of_it: list[str] | UnsetType = UNSET


class MemoryEvent(ResultRow):
    """What became of one memory: ADD, UPDATE, DELETE, or NOOP where it was known already."""

    id: str
    memory: str
    event: str


class SimilarMemory(ResultRow):
    """Another memory that says nearly the same; prefer to update it."""

    id: str
    memory: str
    score: float


class Added(ResultRow):
    """Result of `add_memory`, in the order of what was told."""

    message: str
    results: list[MemoryEvent]
    similar: list[SimilarMemory] | UnsetType = UNSET


class MemoriesResult(ResultRow):
    """Result of `search_memories`, best first, and of `get_all_memories`, newest first."""

    results: list[MemoryRow]
    left_out: int | UnsetType = UNSET
    notice: str | UnsetType = UNSET
    degraded: str | UnsetType = UNSET


class Changed(ResultRow):
    """Result of what changes or deletes memories; `count` is how many."""

    message: str
    count: int


def memory_id(item: Item) -> str:
    """Return the id under which clients know a memory."""
    return "mem_" + item.uuid.replace("-", "")


def uuid_of(memory: str) -> str:
    """Return the uuid that an id means.

    Raises:
        NotFound: no memory has such an id.
    """
    parts = _ID.fullmatch(memory.strip().lower())
    if parts is None:
        raise missing(memory)
    return "-".join(parts.groups())


def missing(memory: str) -> NotFound:
    """Return the error that there is no such memory."""
    return NotFound("Memory not found", hint=f"No memory exists with ID {memory[:80]}")


def own(notes: Notes, memory: str) -> Item:
    """Return one of an owner's own memories.

    Raises:
        NotFound: it is none, or no more.
    """
    try:
        item = notes.get(uuid_of(memory))
    except NotFound:
        raise missing(memory) from None
    if item.scope != "personal" or item.kind != "note":
        raise missing(memory)
    return item


def agent_of(item: Item) -> str:
    """Return the agent that told a user's memory, empty if none did.

    What its author wrote under that name is the author's, as long as no list finds it by it.
    """
    agent = metadata_of(item).get(AGENT)
    return agent if isinstance(agent, str) and tag_of(agent) in item.tags else ""


def shown(item: Item, *, score: float | UnsetType = UNSET) -> MemoryRow:
    """Return a memory in full."""
    whose: Owner = owner_of(item, agent_of(item))
    told = metadata_of(item)
    if whose.agent:
        told = {name: value for name, value in told.items() if name != AGENT}
    return MemoryRow(
        id=memory_id(item),
        memory=item.narrative,
        user_id=whose.name if whose.kind == "user" else None,
        agent_id=(whose.agent if whose.kind == "user" else whose.name) or None,
        metadata=told or None,
        created_at=second(item.created_ms),
        updated_at=second(item.updated_ms) if item.updated_ms > item.created_ms else None,
        score=score,
        said_of_it=labels(item) or UNSET,
    )


def second(at_ms: int) -> str:
    """Return a time to the second, e.g. ``2025-10-15T10:30:00Z``."""
    return iso(at_ms)[:19] + "Z"


class PlanStep(msgspec.Struct, frozen=True):
    """One decision."""

    event: Annotated[
        Literal["ADD", "UPDATE", "DELETE", "NOOP", "NONE"],
        Meta(description="NOOP or NONE: leave everything as it is."),
    ]
    id: Annotated[str, Meta(description="UPDATE, DELETE: which memory.")] = ""
    text: Annotated[str, Meta(description="ADD, UPDATE: what it says from now on.")] = ""


class Done(NamedTuple):
    """What became of a step, and what else says nearly the same as what it added."""

    event: MemoryEvent
    similar: tuple[Similar, ...] = ()


def carried_out(notes: Notes, steps: Sequence[PlanStep], like: Note) -> list[Done]:
    """Return what came of a plan; nothing is written unless all of it can be.

    Args:
        notes: the owner's.
        steps: the plan.
        like: what is added is like this note, but for its text.

    Raises:
        BadInput: a memory is named twice, or a text is missing or cannot be kept.
        NotFound: a memory is not the owner's, or is no more.
        SecretRefused, PastImmutable, RuleUserOnly: as `Notes.edit` and `Notes.forget`.
    """
    deciding = [step for step in steps if step.event in {"ADD", "UPDATE", "DELETE"}]
    meant = [_checked(notes, step, like) for step in deciding]
    named = [item.id for item in meant if item]
    if len(set(named)) < len(named):
        raise BadInput("the plan names a memory twice", hint="decide once for each")
    return [
        _changed(notes, step, item) if item else _added(notes, step.text, like)
        for step, item in zip(deciding, meant, strict=True)
    ]


def _checked(notes: Notes, step: PlanStep, like: Note) -> Item | None:
    """Return the memory that a step is about, after every check that could refuse the step."""
    if step.event == "ADD":
        check(msgspec.structs.replace(like, content=step.text))
        return None
    item = own(notes, step.id)
    if step.event == "DELETE":
        check_rule(item, "agent")
    else:
        check(Changes(content=step.text))
        check_change(item, "agent")
    return item


def _added(notes: Notes, text: str, like: Note) -> Done:
    kept = notes.remember(msgspec.structs.replace(like, content=text))
    return Done(_event(kept.item, "NOOP" if kept.updated else "ADD"), kept.similar)


def _changed(notes: Notes, step: PlanStep, item: Item) -> Done:
    if step.event == "DELETE":
        notes.forget(item.id)
        return Done(_event(item, "DELETE"))
    return Done(_event(notes.edit(item.id, Changes(content=step.text)), "UPDATE"))


def _event(item: Item, name: str) -> MemoryEvent:
    return MemoryEvent(id=memory_id(item), memory=item.narrative, event=name)
