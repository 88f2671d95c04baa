"""Kiro IDE 0.x: `.kiro.hook` files, whose commands get their payload in a variable.

A tool event brings camelCase JSON, a prompt event plain text; neither names its session. Later
versions of the IDE never run these files. Source: payloads recorded from IDE 0.12 by a third
party.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients.envelope import Envelope, Object
from observer.clients.kiro.tools import (
    Bodies,
    Readers,
    effects,
    prompt,
    read_events,
    stop,
    tool_call,
)
from observer.clients.payload import parsed
from observer.core.errors import Undecodable
from observer.core.events import Event

NAME = "kiro-ide"

NOISE: Mapping[str, str] = {"preToolUse": "postToolUse repeats the input and knows the end"}
"""Events of which nothing is kept, and why."""


def read(envelope: Envelope, _: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    if envelope.event in NOISE:
        return ()
    said = envelope.payload.decode("utf-8", "replace").strip()
    return read_events(envelope, _payload(envelope.event, said), client=NAME, readers=_READERS)


def _payload(event: str, said: str) -> Object:
    """Return the payload in the words of the later versions."""
    if event == "promptSubmit":
        return {"prompt": said}
    fields = parsed(said)
    if event != "postToolUse":
        return fields if isinstance(fields, dict) else {"text": said}
    if not isinstance(fields, dict):
        raise Undecodable("kiro-ide postToolUse without a JSON object")
    response = {
        "success": fields.get("toolSuccess"),
        "result": fields.get("toolResult"),
    }
    return {
        "tool_name": fields.get("toolName"),
        "tool_input": fields.get("toolArgs"),
        "tool_response": response,
    }


def _tool(payload: Object) -> Bodies:
    yield from effects(tool_call(payload))


_READERS: Readers = {
    "promptSubmit": prompt,
    "postToolUse": _tool,
    "agentStop": stop,
}
