"""The clients that observer knows, and whose shell one is in.

An agent's variables win over those of our recorder: it may have been started from that shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

from observer.clients.client import Client
from observer.core.model import Session
from observer.core.plugins import modules_of, with_plugins

GROUP = "observer.clients"
"""Group of the entry points by which other packages add clients."""

SHELF = "observer.clients.shelf"


@cache
def clients() -> Mapping[str, Client]:
    """Return all clients by name, as of the first call; then those of `with_plugins`."""
    found = (client for module in modules_of(SHELF) for client in module.CLIENTS)
    ours = {client.name: client for client in found}
    return with_plugins(GROUP, Client, dict(sorted(ours.items())))


_NAMED = ("AI_AGENT", "AGENT")
"""Variables whose value is the agent's name; some agents only set them to 1."""
_NAME = re.compile(r"[a-z][\w.@/-]*", re.ASCII | re.IGNORECASE)

_SESSION_ID = re.compile(r"\w[\w.:-]*", re.ASCII)
"""An id that a shell takes as one word, and a program for no option."""


def resume_command(session: Session) -> str:
    """Return the command that goes on with a session; "" without one, or if another began it."""
    client = clients().get(session.client)
    if not client or session.parent or not _SESSION_ID.fullmatch(session.external):
        return ""
    return client.resume.format(session.external)


class Attribution(NamedTuple):
    """Who caused an event; `client` and `session` are empty where they are not known."""

    client: str = ""
    session: str = ""
    author: Literal["person", "agent"] = "person"


def attribute(env: Mapping[str, str]) -> Attribution:
    """Return the client, its session and the kind of author that an environment points to."""
    for variable, client, has_id in _variables():
        if env.get(variable):
            return Attribution(client, env[variable] if has_id else "", "agent")
    named = [env[variable] for variable in _NAMED if env.get(variable)]
    if named:
        return Attribution(next(filter(_NAME.fullmatch, named), ""), "", "agent")
    session = env.get("OBSERVER_SESSION", "")
    shell = clients().get(session.partition("-")[0])
    is_shell = shell is not None and not shell.is_agent
    return Attribution(shell.name if shell and is_shell else "", session, "person")


def agent_variables() -> frozenset[str]:
    """Return the names of all variables by which an agent's shell is recognised."""
    return frozenset({*_NAMED, *(name for name, _, _ in _variables())})


def _variables() -> Iterator[tuple[str, str, bool]]:
    """Yield the variables of agents' shells and their clients; first those with a session's id."""
    known = clients().values()
    yield from ((one.session_variable, one.name, True) for one in known if one.session_variable)
    yield from ((name, one.name, False) for one in known for name in one.marker_variables)
