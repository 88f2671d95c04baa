"""The memory on a terminal's whole screen: what it asks and changes, beside the screen."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from observer.cli.read import text_of
from observer.cli.session import on_behalf
from observer.core.errors import ObserverError


class Asker:
    """Asks, and changes as the person at the terminal, without holding up the screen."""

    def __init__(self) -> None:
        self.everywhere = False
        self.scope = ""

    async def listed(self, question: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON of each question
        """Return the JSON of what is asked of this project, or of all; raises as `text_of`."""
        given = {"project": None, "everywhere": self.everywhere, **arguments}
        scope, text = await asyncio.to_thread(text_of, question, is_json=True, **given)
        self.scope = scope.partition(" (")[0]
        return orjson.loads(text)

    async def shown(self, question: str, *, is_json: bool = False, **arguments: object) -> str:
        """Return the text, or the JSON, of one item or session; raises as `listed`."""
        return (await asyncio.to_thread(text_of, question, is_json=is_json, **arguments))[1]

    async def settle(self, newer: int, older: int, how: str, content: str = "") -> None:
        """Say what holds of a pair, as the person; raises as `notes.pairs.Pairs.settle`."""
        asked = {"action": "settle", "id": newer, "other": older, "how": how, "content": content}
        await asyncio.to_thread(on_behalf, "/note", **asked)


def words_of(error: ObserverError) -> str:
    """Return what is wrong, and on a line of its own what to do."""
    return "\n".join(filter(None, (error.message, error.hint)))
