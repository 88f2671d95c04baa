"""The clients that observer understands: one file and one row each.

A client is a pure function from an opened envelope and its parsed payload to events. It raises
`Undecodable` for what cannot be its payload; fields and events that it does not know are data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from observer.clients import generic
from observer.clients.claude_code import decode as claude_code
from observer.clients.cursor import decode as cursor
from observer.clients.envelope import Envelope
from observer.clients.git import decode as git
from observer.clients.kiro import cli as kiro_cli
from observer.clients.kiro import decode as kiro
from observer.clients.kiro import ide as kiro_ide
from observer.clients.payload import Object
from observer.clients.shells import decode as shells
from observer.core.events import Event

Reader: TypeAlias = Callable[[Envelope, Object], Iterable[Event]]


class Client(NamedTuple):
    """How a client's envelopes are read; `json` is false where the payload is its own format."""

    read: Reader
    json: bool = True


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(claude_code.read),
    "cursor": Client(cursor.read),
    "kiro": Client(kiro.read),
    "kiro-cli": Client(kiro_cli.read),
    "kiro-ide": Client(kiro_ide.read, json=False),
    "git": Client(git.read, json=False),
    "bash": Client(shells.read, json=False),
    "zsh": Client(shells.read, json=False),
    "fish": Client(shells.read, json=False),
    "generic": Client(generic.read),
}
