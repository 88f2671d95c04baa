"""What an agent decided to do with an owner's memories, checked as a whole before any is touched.

The agent is a language model already: it can tell what is new, what changes and what no longer
holds better than a second one that sees less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from observer.errors import BadInput
from observer.front.toolsets.mem0 import rows
from observer.knowledge import Changes, Note, Notes, Similar
from observer.knowledge.guards import check, check_change, check_rule
from observer.model import Item


class Step(msgspec.Struct, frozen=True):
    """One decision."""

    event: Annotated[
        Literal["ADD", "UPDATE", "DELETE", "NOOP", "NONE"],
        Meta(description="NOOP or NONE: leave everything as it is."),
    ]
    id: Annotated[str, Meta(description="UPDATE, DELETE: which memory.")] = ""
    text: Annotated[str, Meta(description="ADD, UPDATE: what it says from now on.")] = ""


class Done(NamedTuple):
    """What became of a step, and what else says nearly the same as what it added."""

    event: rows.Event
    similar: tuple[Similar, ...] = ()


def carried_out(notes: Notes, steps: Sequence[Step], like: Note) -> list[Done]:
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


def _checked(notes: Notes, step: Step, like: Note) -> Item | None:
    """Return the memory that a step is about, after every check that could refuse the step."""
    if step.event == "ADD":
        check(msgspec.structs.replace(like, content=step.text))
        return None
    item = rows.own(notes, step.id)
    if step.event == "DELETE":
        check_rule(item, "agent")
    else:
        check(Changes(content=step.text))
        check_change(item, "agent")
    return item


def _added(notes: Notes, text: str, like: Note) -> Done:
    kept = notes.remember(msgspec.structs.replace(like, content=text))
    return Done(_event(kept.item, "NOOP" if kept.updated else "ADD"), kept.similar)


def _changed(notes: Notes, step: Step, item: Item) -> Done:
    if step.event == "DELETE":
        notes.forget(item.id)
        return Done(_event(item, "DELETE"))
    return Done(_event(notes.edit(item.id, Changes(content=step.text)), "UPDATE"))


def _event(item: Item, name: str) -> rows.Event:
    return rows.Event(id=rows.memory_id(item), memory=item.narrative, event=name)
