"""How reading commands ask: the daemon where one answers, else the memory in this process.

The daemon has the index in memory and numpy loaded; to open both for one question costs five times
as much processor time as the question. What the daemon cannot answer (it is down, frozen, of
another version, has other settings) this process reads by itself, with the same result.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import orjson

from observer import client
from observer.api.asking import CommandReply, CommandRequest, surroundings
from observer.cli.output import escaped, say
from observer.core.errors import ObserverError
from observer.core.paths import home, working_folder

WAIT_S = 5.0
"""For the daemon's answer; a frozen one would never give it."""


def ask(question: str, *, as_json: bool, **arguments: object) -> None:
    """Print the answer to a question of `observer.api.questions`.

    Raises:
        ObserverError: what is wrong with the question, after what could be answered of it.
    """
    told = answer(question, as_json=as_json, **arguments)
    if told.text is not None:
        show(told.text, as_json=as_json)
    if told.problem is not None:
        raise _error(told)


def rows_of(question: str, **arguments: object) -> tuple[str, list[dict[str, Any]]]:
    """Return the rows that answer a question, as JSON and as they are.

    Raises:
        ObserverError: what is wrong with the question.
    """
    told = answer(question, as_json=True, **arguments)
    if told.problem is not None or told.text is None:
        raise _error(told)
    return told.text, orjson.loads(told.text)


def show(text: str, *, as_json: bool) -> None:
    """Print an answer, JSON or text, without what could steer the terminal."""
    if as_json:
        sys.stdout.buffer.write(escaped(text.encode()) + b"\n")
    else:
        say(text)


def answer(question: str, *, as_json: bool, **arguments: object) -> CommandReply:
    """Return the answer to a question.

    Raises:
        StoreUnavailable: there is no memory yet, or it cannot be read.
        ConfigInvalid: the settings cannot be read.
    """
    asked = CommandRequest(
        question=question,
        arguments=arguments,
        folder=str(working_folder()),
        is_json=as_json,
        is_local=sys.stdout.isatty(),
        surroundings=surroundings(),
    )
    return _of_daemon(asked) or _read_here(asked)


def _error(told: CommandReply) -> ObserverError:
    return client.error_of(msgspec.to_builtins(told.problem) or {})


def _of_daemon(asked: CommandRequest) -> CommandReply | None:
    """Return what the daemon says; None if it cannot answer, for whatever reason."""
    try:
        told = client.call(home(), "POST", "/ask", msgspec.to_builtins(asked), wait_s=WAIT_S)
    except (ObserverError, UnicodeError):
        return None
    return msgspec.convert(told, CommandReply)


def _read_here(asked: CommandRequest) -> CommandReply:
    from observer.api.questions import reply  # noqa: PLC0415 - as above
    from observer.cli.reach import open_memory  # noqa: PLC0415 - half a second, where no daemon is

    with open_memory() as memory:
        return reply(memory, asked)
