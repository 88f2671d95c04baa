"""Questions to the daemon, and what of its answers a shell offers for the word at its cursor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
import msgspec
import orjson
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from observer.core import moment
from observer.core.errors import ObserverError
from observer.core.paths import home, working_folder
from observer.core.text import one_line
from observer.local import client
from observer.tools.asking import CommandReply, CommandRequest, surroundings

VARIABLE = "_OBSERVER_COMPLETE"
"""The words up to the cursor, a line each; a line of the answer has type, word and description."""
MOST = 50

F = TypeVar("F", bound=Callable[..., Any])
Offers = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Offers]
Found = Iterable[tuple[str, str]]
"""Words, each with what it is."""


class ShellLines(ShellComplete):
    """What fits the words in the variable, as lines for a shell."""

    def get_completion_args(self) -> tuple[list[str], str]:  # noqa: D102 - as click's
        words = os.environ[VARIABLE].split("\n")
        *args, last = ("".join(split_arg_string(word)[:1]) for word in words[1:] or [""])
        return args, last

    def format_completion(self, item: CompletionItem[str]) -> str:  # noqa: D102 - as click's
        return f"{item.type}\t{item.value}\t{one_line(item.help or '', 60)}"


def _completer(find: Callable[[], Found]) -> Completer:
    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> Offers:
        # In a list it is the last name that is begun; what is offered is the whole word.
        listed, comma, begun = begun.rpartition(",")
        mark = "#" if begun.startswith("#") else ""
        # A word that a terminal would not show as it is, is no word to be typed.
        return [
            CompletionItem(f"{listed}{comma}{mark}{word}", help=about)
            for word, about in find()
            if word.startswith(begun.removeprefix("#")) and word.isprintable()
        ]

    return complete


WAIT_S = 5.0
"""Longest wait for the daemon's answer: a frozen one never gives it."""


def request(question: str, *, is_json: bool, **arguments: object) -> CommandRequest:
    """Return a question as it is asked from here and now."""
    return CommandRequest(
        question=question,
        arguments=arguments,
        folder=str(working_folder()),
        is_json=is_json,
        is_local=moment.is_local(),
        surroundings=surroundings(),
    )


def of_daemon(asked: CommandRequest) -> CommandReply | None:
    """Return the daemon's answer, None if it cannot answer for any reason."""
    try:
        answered = client.call(home(), "POST", "/ask", msgspec.to_builtins(asked), wait_s=WAIT_S)
    except (ObserverError, UnicodeError):
        return None
    return msgspec.convert(answered, CommandReply)


def _rows(question: str, **arguments: object) -> Iterable[dict[str, Any]]:
    """Return the rows of an answer; none where no daemon runs: a Tab starts none."""
    found = of_daemon(request(question, is_json=True, **arguments))
    return orjson.loads(found.text) if found and found.text else ()


def _sessions() -> Found:
    found = _rows("sessions", project=None, everywhere=False, active=False, limit=MOST)
    return ((f"s{row['id']}", f"{row['client']}: {row['request']}") for row in found)


def _items() -> Found:
    found = _rows("happened", project=None, everywhere=False, limit=MOST)
    return ((str(row["id"]), f"{row['type']}: {row['title']}") for row in found)


@_completer
def projects() -> Found:
    """Return the projects that have memories, with their folders."""
    return ((row["name"], " ".join(row.get("folders", ()))) for row in _rows("projects"))


@_completer
def toolsets() -> Found:
    """Return the toolsets, with what they are for."""
    from observer.tools.registry import toolsets  # noqa: PLC0415 - all that tools need

    return ((name, toolset.guide) for name, toolset in toolsets().items())


def option(name: str, find: Completer, about: str, **more: Any) -> Callable[[F], F]:  # noqa: ANN401 - of click
    """Return an option of a command for which a shell offers words; "" if it is left out."""
    return click.option(name, shell_complete=find, help=about, **({"default": ""} | more))


sessions = _completer(_sessions)
items = _completer(_items)
items_and_sessions = _completer(lambda: [*_items(), *_sessions()])
