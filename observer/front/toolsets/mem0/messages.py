"""What of a conversation becomes memories, without a model: its owner's own words, as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_SPEAKERS = ("user", "assistant")


class Part(msgspec.Struct, frozen=True):
    """A part of a message; of those that are no text nothing is kept."""

    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Annotated[
        Literal["user", "assistant", "system", "developer", "tool", "function"],
        Meta(description="Who speaks; of others than user and assistant nothing is kept."),
    ]
    content: str | list[Part] | None

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
