"""Ask the daemon the questions of reading commands, or answer them in this process.

The daemon has the index in memory and numpy loaded; to open both for one question costs five times
as much processor time as the question. If the daemon cannot answer (it is down, frozen, of another
version, or has other settings), this process reads the memory, with the same result.
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
from observer.views import moment

WAIT_S = 5.0
"""Longest wait for the daemon's answer: a frozen one never gives it."""


def ask(question: str, *, as_json: bool, **arguments: object) -> None:
    """Print the answer to a question of `observer.api.questions`.

    Raises:
        ObserverError: the question is wrong; raised after a partial answer was printed.
    """
    reply = answer(question, as_json=as_json, **arguments)
    if reply.text is not None:
        lines = () if as_json or not reply.scope else (reply.scope,)
        show("\n".join((*lines, reply.text)), as_json=as_json)
    if reply.problem is not None:
        raise _error(reply)


def rows_of(question: str, **arguments: object) -> tuple[CommandReply, list[dict[str, Any]]]:
    """Return the reply to a question, whose text is JSON, and its rows.

    Raises:
        ObserverError: the question is wrong.
    """
    reply = answer(question, as_json=True, **arguments)
    if reply.problem is not None or reply.text is None:
        raise _error(reply)
    return reply, orjson.loads(reply.text)


def show(text: str, *, as_json: bool, is_exact: bool = False) -> None:
    """Print an answer, JSON or text, without terminal control characters."""
    if as_json:
        sys.stdout.buffer.write(escaped(text.encode()) + b"\n")
    else:
        say(text, is_exact=is_exact)


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
        is_local=moment.is_local(),
        surroundings=surroundings(),
    )
    return _of_daemon(asked) or _read_here(asked)


def _error(reply: CommandReply) -> ObserverError:
    return client.error_of(msgspec.to_builtins(reply.problem) or {})


def _of_daemon(asked: CommandRequest) -> CommandReply | None:
    """Return the daemon's answer, None if it cannot answer for any reason."""
    try:
        answered = client.call(home(), "POST", "/ask", msgspec.to_builtins(asked), wait_s=WAIT_S)
    except (ObserverError, UnicodeError):
        return None
    return msgspec.convert(answered, CommandReply)


def _read_here(asked: CommandRequest) -> CommandReply:
    from observer.api.questions import reply  # noqa: PLC0415 - as above
    from observer.cli.session import open_memory  # noqa: PLC0415 - half a second, where no daemon is

    with open_memory() as memory:
        return reply(memory, asked)
