"""What a shell offers for the word at its cursor: commands, options, and what the memory holds.

The recorders of the shells ask in one way: the words up to the cursor stand in a variable, a line
each, and each answer is a line of type, word and description with tabs between them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import click
import orjson
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from observer.core.text import one_line

VARIABLE = "_OBSERVER_COMPLETE"
MOST = 50
ABOUT_CHARS = 60

Offers = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Offers]
Found = Iterable[tuple[str, str]]
"""Words, each with what it is."""


class _Lines(ShellComplete):
    def get_completion_args(self) -> tuple[list[str], str]:
        words = os.environ[VARIABLE].split("\n")
        *args, last = ("".join(split_arg_string(word)[:1]) for word in words[1:] or [""])
        return args, last

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{item.type}\t{item.value}\t{one_line(item.help or '', ABOUT_CHARS)}"


def offer(command: click.Command) -> int:
    """Print what fits the words in the variable, and return the exit code."""
    click.echo(_Lines(command, {}, "observer", VARIABLE).complete())
    return 0


def _completer(find: Callable[[], Found]) -> Completer:
    """Return what offers the words that a function finds."""

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


def _rows(question: str, **arguments: object) -> Iterable[dict[str, Any]]:
    """Return the rows of an answer; none where no daemon runs: a Tab starts none."""
    from observer.cli import read  # noqa: PLC0415 - it imports this module, for its own options

    found = read.of_daemon(read.request(question, is_json=True, **arguments))
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


sessions = _completer(_sessions)
items = _completer(_items)
items_and_sessions = _completer(lambda: [*_items(), *_sessions()])
