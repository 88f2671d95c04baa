"""The request and the reply that a command and the daemon exchange, and the limits of one request.

Both sides import this, so it imports little: a command that asks takes a tenth of a second.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec

from observer import __version__
from observer.core.errors import ObserverError

_OWN_TO_A_PROCESS = frozenset({"OBSERVER_HOME", "OBSERVER_SESSION"})


LARGEST = 100_000
"""Most tokens of a context pack."""
MOST_RESULTS = 50
"""Most results of one search."""
MOST_AROUND = 50
"""Most items of a timeline before its anchor, and after it."""
FIRST_SESSION = "one begins with the next prompt of a client that observer install has connected"
NO_START = "an agent is given nothing yet: none has worked here; what is known: observer search"


_BY_TYPE = {
    **dict.fromkeys(("turn", "reply"), "cyan"),
    **dict.fromkeys(("commit", "fix"), "green"),
    **dict.fromkeys(("decision", "rule", "constraint", "heuristic", "rejected"), "yellow"),
    **dict.fromkeys(("fact", "preference", "context"), "magenta"),
    **dict.fromkeys(("file-write", "delegation", "summary"), "blue"),
}


def colour_of(kind: str, *, failed: bool = False) -> str:
    """Return one of the terminal's eight colours for a type of item, "" for none."""
    return "red" if failed else _BY_TYPE.get(kind, "")


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question of `observer.tools.questions` that a command asks in its working directory.

    `is_local`: text shows the times of this machine instead of UTC.
    """

    question: str
    arguments: dict[str, Any]  # each question has its own
    folder: str
    is_json: bool
    is_local: bool
    surroundings: dict[str, str]


class CommandError(msgspec.Struct, frozen=True):
    """An error as JSON."""

    code: str
    message: str
    hint: str


class CommandReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a command prints (None for nothing), and the error with which it then ends.

    `scope` is the first line of a text: of which projects it is.
    """

    text: str | None = None
    scope: str = ""
    problem: CommandError | None = None


def problem(error: ObserverError) -> CommandError:
    """Return an error as it is sent to the command."""
    return CommandError(error.code, error.message, error.hint)


def scope_line(project: str) -> str:
    """Return the first line of an answer: of which project it is, "" for all."""
    return f"in {project} (--all: in all projects)" if project else "in all projects"


def nothing(why: str, more: str, *, everywhere: bool) -> str:
    """Return an empty answer: what there is none of, and what to do next."""
    return f"{why}: {more}" + ("" if everywhere else ", or ask in all projects: --all")


def surroundings() -> dict[str, str]:
    """Return what else determines a reply: version, time zone, settings in the environment."""
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("OBSERVER_") and name not in _OWN_TO_A_PROCESS
    }
    return {"version": __version__, "TZ": os.environ.get("TZ", ""), **settings}
