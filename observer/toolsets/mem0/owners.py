"""Who owns memories: a user, or an agent for itself; and under which name notes keep that.

A user's memories are the personal notes of that name, so that what the person of this machine
notes elsewhere is theirs here too. A user and an agent of one name are two owners.

What of a conversation becomes memories, without a model: its owner's own words, as they are.

What the tools refuse, as errors of JSON-RPC: users of mem0 handle these codes and types.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.model import Item
from observer.views.tool import JsonRpcError

TAG_CHARS = 60
"""A longer tag is cut, and two agents could be one."""

_AGENT, _USER = "agent:", "user:"


class Owner(NamedTuple):
    """One owner; `agent` narrows a user's memories to those told through that agent."""

    kind: Literal["user", "agent"]
    name: str
    agent: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def key(self) -> str:
        """The owner's name in notes, different for every kind and name."""
        if self.kind == "agent":
            return _AGENT + self.name
        return _USER + self.name if self.name.startswith((_AGENT, _USER)) else self.name

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of memories that an agent told for a user.

        Raises:
            BadInput: no tag can hold the agent's name.
        """
        if not self.agent:
            return ()
        tag = tag_of(self.agent)
        if len(tag) > TAG_CHARS or not tag.isprintable() or " ".join(tag.split()) != tag:
            raise BadInput(
                f"agent_id {self.agent[:40]!r} cannot be kept beside a user_id",
                hint=f"use one line of at most {TAG_CHARS - len(_AGENT)} characters",
            )
        return (tag,)


def tag_of(agent: str) -> str:
    """Return the tag of what an agent told for a user, as tags are stored."""
    return _AGENT + unicodedata.normalize("NFC", agent).lower()


def owner(user_id: str, agent_id: str, *, otherwise: str) -> Owner:
    """Return who is meant: the user, else the agent, else the user of the name given last."""
    if user_id:
        return Owner("user", user_id, agent_id)
    return Owner("agent", agent_id) if agent_id else Owner("user", otherwise)


def named(user_id: str, agent_id: str) -> Owner:
    """Return who is meant.

    Raises:
        BadInput: nobody is named.
    """
    if not (user_id or agent_id):
        raise BadInput("user_id or agent_id is required", hint="name whose memories are meant")
    return owner(user_id, agent_id, otherwise="")


def owner_of(item: Item, agent: str = "") -> Owner:
    """Return who owns a personal note; `agent` is who told it."""
    if item.owner.startswith(_AGENT):
        return Owner("agent", item.owner.removeprefix(_AGENT))
    return Owner("user", item.owner.removeprefix(_USER), agent)


_SPEAKERS = ("user", "assistant")


class MessagePart(msgspec.Struct, frozen=True):
    """A part of a message; of those that are no text nothing is kept."""

    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Annotated[
        Literal["user", "assistant", "system", "developer", "tool", "function"],
        Meta(description="Who speaks; of others than user and assistant nothing is kept."),
    ]
    content: str | list[MessagePart] | None

    @property
    def text(self) -> str:
        """What was said, its parts joined."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text).strip()
        return (self.content or "").strip()


def said(messages: Sequence[Message], *, by: Literal["user", "agent"]) -> list[str]:
    """Return what is worth keeping, a text for each message, in their order.

    Of a user that is what the user said, of an agent what the assistant said; where they said
    nothing, what the other one did. A system message is no memory.
    """
    own = "user" if by == "user" else "assistant"
    for roles in ((own,), _SPEAKERS):
        if texts := [each.text for each in messages if each.role in roles and each.text]:
            return texts
    return []


def spoken(messages: Sequence[Message]) -> list[str]:
    """Return who said what, a text for each message of the user or the assistant."""
    return [
        f"{each.role}: {each.text}" for each in messages if each.role in _SPEAKERS and each.text
    ]


INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def refusal(error: ObserverError) -> JsonRpcError:
    """Return an error as the protocol tells it; what to do about it is among its details."""
    code, what = INTERNAL_ERROR, "Internal error"
    name = type(error).__name__.removesuffix("Error") + "Error"
    if isinstance(error, BadInput):
        code, what, name = INVALID_PARAMS, "Invalid params", "InvalidParamsError"
    elif isinstance(error, NotFound):
        name = "MemoryNotFoundError"
    return JsonRpcError(
        code=code,
        message=f"{what}: {error.message}",
        data={"type": name, "details": error.hint},
    )
