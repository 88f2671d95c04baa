"""Owners of personal notes: people by their names, agents, and agents that store for a user.

A user's memories are the personal notes of that name, so that notes that the person of this
machine writes elsewhere belong to them too. A user and an agent of one name are two owners.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from observer.core.errors import BadInput
from observer.core.model import Item
from observer.redaction.redact import redact_text

OWNER_CHARS = 200
TAG_CHARS = 60
"""A longer tag is cut, and two agents could be one."""

AGENT = "agent_id"
"""The metadata field that names the agent through which a user's memory was stored."""

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
    def tag(self) -> str:
        """Return the tag of what an agent stored, whoever's it is; empty for a user."""
        return tag_of(self.name) if self.kind == "agent" else ""

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


def owner_of(item: Item, agent: str = "") -> Owner:
    """Return the owner of a personal note; `agent` is the agent that stored it."""
    if item.owner.startswith(_AGENT):
        return Owner("agent", item.owner.removeprefix(_AGENT))
    return Owner("user", item.owner.removeprefix(_USER), agent)


def check_owner(name: str) -> None:
    """Refuse a name under which notes would not be found again: it is stored as all text is.

    Raises:
        BadInput: it is not a plain line of 1 to 200 characters, or looks like a secret.
    """
    if not 0 < len(name) <= OWNER_CHARS or not name.isprintable() or name != name.strip():
        raise BadInput(
            f"{name[:40]!r} cannot own notes",
            hint=f"use one line of 1 to {OWNER_CHARS} characters",
        )
    if redact_text(name) != name:
        raise BadInput("the owner's name looks like a secret", hint="use a name, not a key")
