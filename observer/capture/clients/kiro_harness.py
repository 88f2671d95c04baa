"""Owns what the hooks of Kiro's harnesses share: the stem of an event, prompts, replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from observer.capture.clients import tools
from observer.capture.clients.kiro_tools import finished
from observer.capture.clients.payload import Object, inner, rest, text
from observer.capture.envelope import Envelope
from observer.events import AnyBody, Custom, Event, Prompt, Reply, SessionStart

Bodies: TypeAlias = Iterator[AnyBody]
Readers: TypeAlias = Mapping[str, Callable[[Object], Bodies]]

_BASE = frozenset({"session_id", "hook_event_name", "cwd"})


def tell(envelope: Envelope, payload: Object, *, client: str, readers: Readers) -> Iterator[Event]:
    """Yield the events of one hook call; an event without a reader is kept as it came."""
    name = event_name(envelope, payload)
    reader = readers.get(name)
    if reader is None:
        unknown = Custom(name=f"{client}:{name}", text=rest(payload, beside=_BASE))
        yield _event(envelope, payload, client=client, body=unknown)
        return
    for body in reader(payload):
        yield _event(envelope, payload, client=client, body=body)


def event_name(envelope: Envelope, payload: Object) -> str:
    """Return the event as the payload names it, else as the command line does."""
    return text(payload, "hook_event_name") or envelope.event


def _event(envelope: Envelope, payload: Object, *, client: str, body: AnyBody) -> Event:
    session = text(payload, "session_id") or envelope.env.get("KIRO_SESSION_ID", "")
    return Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=client,
        body=body,
        session=session or envelope.stand_in_session,
        cwd=text(payload, "cwd") or envelope.cwd,
        host=envelope.host,
        route=f"{envelope.client}/{event_name(envelope, payload)}",
        author="person" if isinstance(body, Prompt) else "agent",
    )


def session_start(_: Object) -> Bodies:
    """Yield the start of a session."""
    yield SessionStart()


def prompt(payload: Object) -> Bodies:
    """Yield the prompt; several builds fire the event without its text."""
    asked = text(payload, "prompt")
    if asked:
        yield Prompt(text=asked)


def stop(payload: Object) -> Bodies:
    """Yield the end of a turn; several builds leave the words out."""
    yield Reply(text=text(payload, "assistant_response"))


def tool_call(payload: Object) -> tools.Call:
    """Return the tool call of a payload with what its result tells."""
    call = tools.Call(tool=text(payload, "tool_name"), given=inner(payload, "tool_input"))
    return finished(call, payload.get("tool_response"))
