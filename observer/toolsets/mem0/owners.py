"""The messages of users and agents, and the errors that they get.

Without a model, the owner's own words become memories unchanged. Refusals are JSON-RPC errors
with the codes and types that users of mem0 handle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from observer.core.errors import BadInput, Incomplete, NotFound, ObserverError
from observer.search.owners import Owner, owner
from observer.views.tool import JsonRpcError


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


INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def refusal(error: ObserverError) -> JsonRpcError:
    """Return an error as a JSON-RPC error; its hint is in the details."""
    code, what = INTERNAL_ERROR, "Internal error"
    name = type(error).__name__.removesuffix("Error") + "Error"
    if isinstance(error, Incomplete):
        code, what, name = INVALID_REQUEST, "Invalid request", "InvalidRequestError"
    elif isinstance(error, BadInput):
        code, what, name = INVALID_PARAMS, "Invalid params", "InvalidParamsError"
    elif isinstance(error, NotFound):
        name = "MemoryNotFoundError"
    return JsonRpcError(
        code=code,
        message=f"{what}: {error.message}",
        data={"type": name, "details": error.hint},
    )
