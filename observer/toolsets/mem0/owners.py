"""Owners of memories (users and agents), the messages they send, and the errors they get.

A user's memories are the personal notes of that name, so that notes that the person of this
machine writes elsewhere belong to them here too. A user and an agent of one name are two owners.
Without a model, the owner's own words become memories unchanged. Refusals are JSON-RPC errors
with the codes and types that users of mem0 handle.
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
    """One owner; `agent` restricts a user's memories to those stored through that agent."""

    kind: Literal["user", "agent"]
    name: str
    agent: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def key(self) -> str:
        """Return the owner's name in notes, unique for each kind and name."""
        if self.kind == "agent":
            return _AGENT + self.name
        return _USER + self.name if self.name.startswith((_AGENT, _USER)) else self.name

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the tags of memories that an agent stored for a user.

        Raises:
            BadInput: the agent's name does not fit in a tag.
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
    """Return the tag, as it is stored, of memories that an agent stored for a user."""
    return _AGENT + unicodedata.normalize("NFC", agent).lower()


def owner(user_id: str, agent_id: str, *, otherwise: str) -> Owner:
    """Return the owner: the user, else the agent, else the user called `otherwise`."""
    if user_id:
        return Owner("user", user_id, agent_id)
    return Owner("agent", agent_id) if agent_id else Owner("user", otherwise)


def named(user_id: str, agent_id: str) -> Owner:
    """Return the owner.

    Raises:
        BadInput: both names are empty.
    """
    if not (user_id or agent_id):
        raise BadInput("user_id or agent_id is required", hint="name whose memories are meant")
    return owner(user_id, agent_id, otherwise="")


def owner_of(item: Item, agent: str = "") -> Owner:
    """Return the owner of a personal note; `agent` is the agent that stored it."""
    if item.owner.startswith(_AGENT):
        return Owner("agent", item.owner.removeprefix(_AGENT))
    return Owner("user", item.owner.removeprefix(_USER), agent)


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
    own = "user" if by == "user" else "assistant"
    for roles in ((own,), _SPEAKERS):
        if texts := [each.text for each in messages if each.role in roles and each.text]:
            return texts
    return []


def transcript(messages: Sequence[Message]) -> list[str]:
    """Return ``role: text`` for each message of the user or the assistant."""
    return [
        f"{each.role}: {each.text}" for each in messages if each.role in _SPEAKERS and each.text
    ]


INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def refusal(error: ObserverError) -> JsonRpcError:
    """Return an error as a JSON-RPC error; its hint is in the details."""
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
