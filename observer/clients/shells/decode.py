r"""bash, zsh and fish: one record of our recorders per command that a person typed.

A record is `name=value\0 … .`; hooks/README.md has its fields. What a person keeps out of the
shell's history, with a blank in front or by its own settings, is kept out of here as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.clients.envelope import Envelope, Object
from observer.clients.payload import number, span_ms
from observer.core.errors import Undecodable
from observer.core.events import Command, Event

_END = "\0."
_INTERRUPTED = 128 + 2
_HISTORY = re.compile(r" *\d+[* ] (.*)\Z", re.DOTALL)


def read(envelope: Envelope, _: Object) -> Iterable[Event]:
    """Turn one record into the command it reports, or into none where its text is private."""
    record = envelope.payload.decode("utf-8", "replace")
    if not record.endswith(_END):
        raise Undecodable(f"a torn {envelope.client} record: it does not end with a dot")
    fields = dict(_split(line) for line in record.removesuffix(_END).split("\0"))
    command = _command(fields)
    if not command or command[0].isspace():
        return ()
    return (_event(envelope, fields, command),)


def _split(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name, value


def _command(fields: dict[str, str]) -> str:
    # bash repeats the last line of its history when that did not take the command: the recorder
    # then sends `unseen`, since a repeat looks like a secret that was kept out.
    history = _HISTORY.match(fields.get("history", ""))
    return (history[1] if history else fields.get("text", "")).rstrip("\n")


def _event(envelope: Envelope, fields: dict[str, str], command: str) -> Event:
    exit_code = number(fields, "exit")
    return Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=envelope.client,
        body=Command(
            command=command,
            exit_code=exit_code,
            failed=None if exit_code is None else exit_code != 0,
            interrupted=exit_code == _INTERRUPTED,
            duration_ms=span_ms(fields, "duration_ms"),
        ),
        session=envelope.id.rpartition("@")[0] or envelope.stand_in_session,
        cwd=fields.get("cwd", "") or envelope.cwd,
        host=envelope.host,
        route=f"{envelope.client}/{envelope.event}",
        author="person",
    )
