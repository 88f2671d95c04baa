"""The memory on a terminal's whole screen: what it asks and changes, beside the screen."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Hashable
from pkgutil import resolve_name
from typing import Any

import click
import msgspec
import orjson

from observer.cli.output import json_option, wants_json
from observer.cli.read import answer
from observer.cli.session import on_behalf, written
from observer.core.errors import BadInput, ObserverError
from observer.core.paths import home
from observer.core.text import extra_hint
from observer.local import client
from observer.local.client import error_of
from observer.tools.asking import CommandReply


@click.command("tui", epilog="Example: observer tui")
@json_option
def tui_command() -> int:
    """Look at the memory on the whole terminal, and settle notes."""
    if wants_json() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "for scripts: observer search, observer sessions, observer note review"
        raise BadInput("the screens need a terminal", hint=hint)
    try:
        run = resolve_name("observer.cli.screens.app:run")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "textual":
            raise
        message = "observer tui needs the package textual"
        raise ObserverError(message, hint=extra_hint("tui")) from error
    client.ensure_daemon(home())
    code: int = run(answer, on_behalf, written)
    return code


class Asker:
    """Asks without holding up the screen.

    Args:
        answer: answers a question of commands, as `observer.cli.read.answer`.
        change: has the daemon do something for the person, as `observer.cli.session.on_behalf`.
        stamp: returns another value once something was written.
    """

    def __init__(
        self,
        answer: Callable[..., CommandReply],
        change: Callable[..., Any],
        stamp: Callable[[], Hashable],
    ) -> None:
        self._answer = answer
        self._change = change
        self.stamp = stamp
        self.everywhere = False
        self.scope = ""

    async def listed(self, question: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON of each question
        """Return the JSON of what is asked of the project here, or of all; `scope` says which.

        Raises:
            ObserverError: the question is wrong, or the memory cannot be read.
        """
        given = {"project": None, "everywhere": self.everywhere, **arguments}
        reply = await asyncio.to_thread(self._answer, question, is_json=True, **given)
        self.scope = reply.scope.partition(" (")[0]
        return orjson.loads(_said(reply))

    async def shown(self, question: str, *, is_json: bool = False, **arguments: object) -> str:
        """Return the text, or the JSON, of one item or session; raises as `listed`."""
        return _said(await asyncio.to_thread(self._answer, question, is_json=is_json, **arguments))

    async def settle(self, newer: int, older: int, how: str, content: str = "") -> None:
        """Say what holds of a pair, as the person at the terminal.

        Raises:
            ObserverError: as `notes.pairs.Pairs.settle`, or no daemon answers.
        """
        asked = {"action": "settle", "id": newer, "other": older, "how": how, "content": content}
        await asyncio.to_thread(self._change, "/note", **asked)


def _said(reply: CommandReply) -> str:
    if reply.problem is not None or reply.text is None:
        raise error_of(msgspec.to_builtins(reply.problem) or {})
    return reply.text


def words_of(error: ObserverError) -> str:
    """Return what is wrong, and on a line of its own what to do."""
    return "\n".join(filter(None, (error.message, error.hint)))
