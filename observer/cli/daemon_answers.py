"""How a command asks the daemon a question."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from observer.core import moment
from observer.core.errors import ObserverError
from observer.core.paths import home, working_folder
from observer.local import client
from observer.tools.asking import CommandReply, CommandRequest, surroundings

WAIT_S = 5.0
"""Longest wait for the daemon's answer: a frozen one never gives it."""


def request(question: str, *, is_json: bool, arguments: Mapping[str, object]) -> CommandRequest:
    """Return a question as it is asked from here and now."""
    return CommandRequest(
        question=question,
        arguments=dict(arguments),
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
