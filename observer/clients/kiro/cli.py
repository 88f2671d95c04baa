"""Kiro CLI with hooks in the agent's JSON: the V2 harness, also headless runs of later versions.

`session_id` is absent in headless and classic runs. Source: the client's agent pages and the
code of its ancestor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients.envelope import Envelope, Object
from observer.clients.kiro.tools import (
    Bodies,
    Readers,
    effects,
    event_name,
    prompt,
    read_events,
    session_start,
    stop,
    tool_call,
)
from observer.core.events import Event

NAME = "kiro-cli"

NOISE: Mapping[str, str] = {"preToolUse": "postToolUse repeats the input and knows the end"}
"""Events of which nothing is kept, and why."""


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    if event_name(envelope, payload) in NOISE:
        return ()
    return read_events(envelope, payload, client=NAME, readers=_READERS)


def _spawn(payload: Object) -> Bodies:
    # A headless run fires no prompt event and carries the prompt here.
    yield from session_start(payload)
    yield from prompt(payload)


def _tool(payload: Object) -> Bodies:
    yield from effects(tool_call(payload))


_READERS: Readers = {
    "agentSpawn": _spawn,
    "userPromptSubmit": prompt,
    "postToolUse": _tool,
    "stop": stop,
}
