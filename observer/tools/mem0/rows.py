"""Messages, plans, results and errors of the mem0 tools."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from observer.core.errors import BadInput, Incomplete, NotFound, ObserverError, SecretRefused
from observer.core.model import Item, iso, relations_of
from observer.notes.notes import Notes
from observer.notes.values import Changes, Note, Similar, check, check_change, check_rule
from observer.search.handles import AGENT, Owner, owner, owner_of, tag_of
from observer.tools.labels import labels
from observer.tools.note_api import metadata_of
from observer.tools.tool import JsonRpcError, Row, row


def named(user_id: str, agent_id: str) -> Owner:
    """Return the owner.

    Raises:
        Incomplete: both names are empty.
    """
    if not (user_id or agent_id):
        raise Incomplete(
            "At least one of user_id or agent_id must be provided",
            hint="name whose memories are meant",
        )
    return owner(user_id, agent_id, otherwise="")


_SPEAKERS = ("user", "assistant")


class MessagePart(msgspec.Struct, frozen=True):
    """A part of a message; parts that are not text are dropped."""

    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Annotated[
        Literal["user", "assistant", "system", "developer", "tool", "function"],
        Meta(description="Who speaks; only user and assistant messages are kept."),
    ]
    content: str | list[MessagePart] | None

    @property
    def text(self) -> str:
        """Return the text, its parts joined by line feeds."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text).strip()
        return (self.content or "").strip()


def memorable(messages: Sequence[Message], *, by: Literal["user", "agent"]) -> list[str]:
    """Return the texts to keep as memories, one for each message, in their order.

    For a user those are the user's messages, for an agent the assistant's; if there are none, the
    other one's. System messages are never kept.
    """
    said = [each for each in messages if each.role in _SPEAKERS and each.text]
    own = [each.text for each in said if each.role == {"user": "user", "agent": "assistant"}[by]]
    return own or [each.text for each in said]


def transcript(messages: Sequence[Message]) -> list[str]:
    """Return ``role: text`` for each message of the user or the assistant."""
    return [
        f"{each.role}: {each.text}" for each in messages if each.role in _SPEAKERS and each.text
    ]


INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def refusal(error: ObserverError) -> JsonRpcError:
    """Return an error as a JSON-RPC error; its hint is in the details."""
    code, what = INTERNAL_ERROR, "Internal error: "
    name = type(error).__name__.removesuffix("Error") + "Error"
    if isinstance(error, Incomplete):
        code, what, name = INVALID_REQUEST, "Invalid request: ", "InvalidRequestError"
    elif isinstance(error, BadInput):
        code, what, name = INVALID_PARAMS, "Invalid params: ", "InvalidParamsError"
    elif isinstance(error, SecretRefused):
        code, what = INVALID_PARAMS, ""
    elif isinstance(error, NotFound):
        name = "MemoryNotFoundError"
    return JsonRpcError(
        code=code, message=f"{what}{error.message}", data={"type": name, "details": error.hint}
    )


OWNER = "memory_of"
"""The metadata field that names the owner of a memory that is the team's."""
NEAREST = 5
"""Standing memories that whoever adds one is shown."""
MODEL = "inferred_by"
"""The metadata field that names the language model that worded it."""

_ID = re.compile(
    r"(?:mem_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})"
)


def memory_id(item: Item) -> str:
    """Return the id under which clients know a memory."""
    return "mem_" + item.uuid.replace("-", "")


def uuid_of(memory: str) -> str:
    """Return the uuid of a memory's id, with or without ``mem_`` and dashes.

    Raises:
        NotFound: it is not the id of a memory.
    """
    parts = _ID.fullmatch(memory.strip().lower())
    if parts is None:
        raise missing(memory)
    return "-".join(parts.groups())


def missing(memory: str) -> NotFound:
    """Return the error for an unknown id."""
    return NotFound("Memory not found", hint=f"No memory exists with ID {memory[:80]}")


def own(notes: Notes, memory: str, like: Note) -> Item:
    """Return one of an owner's own memories; `like` is what the owner's new ones are made of.

    Raises:
        NotFound: the owner has no such memory.
    """
    try:
        item = notes.get(uuid_of(memory))
    except NotFound:
        raise missing(memory) from None
    is_theirs = not like.key or owner_tag(like.key) in item.tags
    if item.scope != like.scope or item.kind != "note" or not is_theirs:
        raise missing(memory)
    return item


def owner_tag(key: str) -> str:
    """Return the tag of the memories of an owner that are the team's: exact, whatever the name."""
    return f"memory-of:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def is_memory(item: Item) -> bool:
    """Return True if a note of the team is a memory of somebody."""
    key = metadata_of(item).get(OWNER)
    return item.scope == "team" and isinstance(key, str) and owner_tag(key) in item.tags


def shown(item: Item, *, score: float | UnsetType = UNSET) -> Row:
    """Return a memory in full, with its labels and a score of 0 to 1."""
    metadata = metadata_of(item)
    key = str(metadata.pop(OWNER)) if is_memory(item) else item.owner
    # The field counts only with the tag: without it, it is the author's own field.
    agent = metadata.get(AGENT)
    agent = agent if isinstance(agent, str) and tag_of(agent) in item.tags else ""
    whose: Owner = owner_of(msgspec.structs.replace(item, owner=key), agent)
    if whose.agent:
        metadata = {name: value for name, value in metadata.items() if name != AGENT}
    return row(
        id=memory_id(item),
        memory=item.narrative,
        user_id=whose.name if whose.kind == "user" else None,
        agent_id=(whose.agent if whose.kind == "user" else whose.name) or None,
        metadata=metadata or None,
        created_at=second(item.created_ms),
        updated_at=second(item.updated_ms) if item.updated_ms > item.created_ms else None,
        score=score,
        validity=labels(item) or UNSET,
    )


def related(items: Iterable[Item]) -> list[Row]:
    """Return what memories say of entities, each relation once."""
    found = dict.fromkeys(chain.from_iterable(map(relations_of, items)))
    names = ("source", "relationship", "destination")
    return [dict(zip(names, relation, strict=True)) for relation in found]


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


class StepOutcome(NamedTuple):
    """What became of a memory; of an added one those near it, of a deleted one when it is final."""

    item: Item
    event: str
    near: tuple[Similar, ...] = ()
    final_ms: int | None = None


def apply_plan(
    notes: Notes, steps: Sequence[PlanStep], like: Note, *, folder: str = ""
) -> list[StepOutcome]:
    """Apply a plan and return the outcome of each step; nothing is written unless all can be.

    Args:
        notes: the owner's notes.
        steps: the plan; steps that change nothing have no outcome.
        like: the template of added notes; only their text differs. A key in it is the owner's, of
            memories that are the team's: the same words of two owners are two memories.
        folder: where they are added.

    Raises:
        BadInput: a memory is named twice, or a text is missing or cannot be kept.
        NotFound: the owner has no such memory.
        SecretRefused, PastImmutable, RuleUserOnly: as `Notes.edit` and `Notes.erase`.
    """
    deciding = [step for step in steps if step.event in {"ADD", "UPDATE", "DELETE"}]
    meant: list[Item | None] = []
    for step in deciding:
        item = None if step.event == "ADD" else own(notes, step.id, like)
        meant.append(item)
        if item is None:
            check(msgspec.structs.replace(like, content=step.text))
        elif step.event == "DELETE":
            check_rule(item, "agent")
        else:
            check(Changes(content=step.text))
            check_change(item, "agent")
    named = [item.id for item in meant if item]
    if len(set(named)) < len(named):
        raise BadInput("the plan names a memory twice", hint="decide once for each")
    done = []
    for step, item in zip(deciding, meant, strict=True):
        if item is None:
            done.append(_added(notes, step.text, like, folder))
        elif step.event == "DELETE":
            done.append(StepOutcome(item, "DELETE", final_ms=notes.erase(item.id)))
        else:
            done.append(StepOutcome(notes.edit(item.id, Changes(content=step.text)), "UPDATE"))
    return done


def _added(notes: Notes, text: str, like: Note, folder: str) -> StepOutcome:
    key = owner_tag(f"{like.key}\n{text}") if like.key else ""
    new = msgspec.structs.replace(like, content=text, key=key)
    known = notes.standing(new, folder=folder)
    metadata = metadata_of(known) if known else {}
    is_same = {**metadata, **(new.metadata or {})} == metadata
    if known and set(new.tags) <= set(known.tags) and is_same:
        return StepOutcome(known, "NOOP", notes.near(known)[:NEAREST])
    kept = notes.remember(new, folder=folder, most_near=NEAREST)
    return StepOutcome(kept.item, "UPDATE" if kept.updated else "ADD", kept.near)
