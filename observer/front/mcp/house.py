"""The rules of the house: what a person approved, told to every model before it does anything.

They are part of the server's instructions, which each connection gets anew: a rule that was
approved meanwhile holds from the next one on.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from mcp.server.lowlevel import Server

from observer.memory import Memory

HEADING = "## House Rules"


class House:
    """The rules for the client of the current task.

    Args:
        most_chars: budget of all rules together; 0 tells none.
    """

    def __init__(self, memory: Memory, *, most_chars: int) -> None:
        self._memory = memory
        self._most_chars = most_chars
        self._told: ContextVar[str] = ContextVar("rules", default="")

    def enter(self, told: str) -> None:
        """Let the current task be told this, rules included."""
        self._told.set(told)

    def rules(self, folder: str) -> str:
        """Return the rules that hold in a folder as text, empty if there are none; may block."""
        if not self._most_chars:
            return ""
        project = self._memory.project_at(folder) if folder else None
        rules, left_out = self._memory.notes.rules(
            project.id if project else None, most_chars=self._most_chars
        )
        told = [f"### {rule.title}\n{rule.narrative}" for rule in rules]
        if left_out:
            told.append(f"({left_out} more did not fit; recall notes of type rule)")
        return "\n\n".join([HEADING, *told]) if told else ""

    def told(self) -> str:
        """Return what the current task is told."""
        return self._told.get()


class HousedServer(Server[Any]):
    """A server whose instructions end with the rules of the house."""

    house: House | None = None
    _guide: str | None = None

    @property
    def instructions(self) -> str | None:
        """The guide of the toolsets, then the rules."""
        rules = self.house.told() if self.house else ""
        return "\n\n".join(filter(None, (self._guide, rules)))

    @instructions.setter
    def instructions(self, guide: str | None) -> None:
        self._guide = guide
