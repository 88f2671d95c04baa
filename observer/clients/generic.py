"""The generic client: flat JSON by which any editor or script reports an event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec import Meta, structs

from observer.clients.envelope import Envelope, Json, Object
from observer.clients.payload import joined, quoted, rest
from observer.clients.registry import attribute
from observer.core import events
from observer.core.clock import iso_ms
from observer.core.errors import BadInput, Undecodable
from observer.core.value import Value

NAME = "generic"
AHEAD_MS = 86_400_000
"""How far ahead of our clock a reported time may be: clocks differ, calendars do not."""

SEE = "the fields of each kind are in the schema: GET /schema/events"

_EARLIEST_MS = 10**11  # March 1973; anything smaller was meant as seconds
_LARGEST = 2**53
_Name: TypeAlias = Annotated[str, Meta(max_length=200)]
_FIELD = re.compile(r" - at `\$\.?(.*?)`\Z|required field `(\w+)`")

Cause = Literal["person", "agent", "system"]


class GenericContext(Value):
    """What may stand beside the fields of a kind; all of it is optional."""

    client: Annotated[_Name, Meta(min_length=1, description="Who reports: your editor.")] = NAME
    session: Annotated[_Name, Meta(description="Your name for this run of the client.")] = ""
    turn: Annotated[_Name, Meta(description="Groups what one prompt caused.")] = ""
    subagent: Annotated[_Name, Meta(description="Who did it, if not the main agent.")] = ""
    id: Annotated[_Name, Meta(description="Idempotency key: sent again, it changes nothing.")] = ""
    host: Annotated[_Name, Meta(description="The machine's name.")] = ""
    cwd: Annotated[str, Meta(description="Absolute folder; names the project.")] = ""
    roots: Annotated[tuple[str, ...], Meta(description="Open folders, if not `cwd`.")] = ()
    author: Annotated[Cause, Meta(description="Who caused the event.")] = "person"
    at: Annotated[
        int | float | str | None,
        Meta(description="When: milliseconds since 1970 UTC, or ISO 8601. Absent means now."),
    ] = None


KINDS: Mapping[str, type[events.Body]] = {
    "session-start": events.SessionStart,
    "session-end": events.SessionEnd,
    "prompt": events.Prompt,
    "reply": events.Reply,
    "file-write": events.FileWrite,
    "file-read": events.FileRead,
    "command": events.Command,
    "search": events.Search,
    "delegation": events.Delegation,
    "tool-use": events.ToolUse,
    "commit": events.Commit,
    "custom": events.Custom,
}
"""The kinds that may be reported; notes have a door of their own."""

_KNOWN = frozenset({"kind", *GenericContext.__struct_fields__, *events.Custom.__struct_fields__})


def report(payload: Json, *, entry_id: str, at_ms: int) -> events.Event:
    """Turn one reported object into an event, at `at_ms`, now, unless it says when.

    Fields that the kind does not have are ignored, except that `custom` keeps them in its text.
    Raises BadInput, which names the field that is wrong and what to do about it.
    """
    if not isinstance(payload, dict):
        raise BadInput("an event is a JSON object", hint=SEE)
    kind = payload.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        what = quoted(kind) if "kind" in payload else "missing"
        raise BadInput(f"field 'kind': {what}", hint="one of: " + ", ".join(KINDS))
    beside, own = payload, payload
    if kind == events.Commit.__struct_config__.tag and "author" in payload:  # it has one of its own
        rest_of_it = {name: value for name, value in payload.items() if name != "author"}
        is_cause = payload["author"] in get_args(Cause)
        beside, own = (payload, rest_of_it) if is_cause else (rest_of_it, payload)
    context = _convert(beside, GenericContext, kind)
    try:
        body = cast("events.AnyBody", _convert(_spelled_out(kind, own), KINDS[kind], kind))
    except RecursionError as error:
        raise BadInput("an event is nested too deep", hint="send flat JSON") from error
    _check(body)
    event = _event(context, body, entry_id=entry_id, at_ms=_time(context.at, at_ms))
    try:
        msgspec.json.encode(event)
    except UnicodeEncodeError as error:
        raise BadInput("an event's text is not valid Unicode", hint="send UTF-8") from error
    return event


def ignored(payload: Object) -> tuple[str, ...]:
    """Return the fields of a report that nothing is kept of: its kind does not have them."""
    kind = str(payload["kind"])
    if kind == events.Custom.__struct_config__.tag:
        return ()
    known = {"kind", *GenericContext.__struct_fields__, *KINDS[kind].__struct_fields__}
    return tuple(name for name in _spelled_out(kind, payload) if name not in known)


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn a spooled report into its event; the hook's surroundings fill what it leaves out."""
    who = attribute(envelope.env)
    surroundings: dict[str, Json] = {
        "kind": envelope.event,
        "client": who.client or NAME,
        "session": who.session,
        "author": who.author,
        "cwd": envelope.cwd,
        "host": envelope.host,
    }
    try:
        return (report({**surroundings, **payload}, entry_id=envelope.id, at_ms=envelope.at_ms),)
    except BadInput as error:
        raise Undecodable(error.message, hint=error.hint) from error


def schema() -> dict[str, Any]:  # Any: a JSON Schema is open-ended JSON
    """Return the JSON Schema of what `report` accepts."""
    types = (GenericContext, *KINDS.values())
    _, found = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    parts = {name: dict(part) for name, part in found.items()}
    context, kinds = parts.pop(GenericContext.__name__)["properties"], []
    for kind, of in KINDS.items():
        part = parts.pop(of.__name__)
        described = {key: part[key] for key in ("description",) if key in part}
        own = {key: part["properties"][key] for key in ("author",) if key in part["properties"]}
        fields = {**part["properties"], **context, **own}
        required = sorted({"kind", *part["required"]})
        about = {"type": "object", "properties": fields, "required": required}
        kinds.append({"title": kind, **described, **about})
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Event"}
    return {**about, "oneOf": kinds, "$defs": parts}


def _event(
    context: GenericContext, body: events.AnyBody, *, entry_id: str, at_ms: int
) -> events.Event:
    by_hash = f"commit:{body.hash}" if isinstance(body, events.Commit) else ""
    return events.Event(
        id=entry_id,
        at_ms=at_ms,
        client=context.client,
        body=body,
        session=context.session,
        agent=context.subagent,
        turn=context.turn,
        cwd=context.cwd,
        roots=context.roots,
        host=context.host,
        route=f"{NAME}/{body.__struct_config__.tag}",
        dedup=f"{NAME}:{context.client}:{context.id}" if context.id else by_hash,
        author=context.author,
    )


def _spelled_out(kind: str, payload: Object) -> Object:
    if kind == "file-read" and "path" in payload and "paths" not in payload:
        named = {name: value for name, value in payload.items() if name != "path"}
        return {**named, "paths": [payload["path"]]}
    extra = rest(payload, beside=_KNOWN) if kind == "custom" else ""
    said = payload.get("text", "")
    return {**payload, "text": joined(said, extra)} if extra and isinstance(said, str) else payload


def _convert(payload: Object, of: type[Any], kind: str) -> Any:  # noqa: ANN401 - an `of`
    try:
        return msgspec.convert(payload, of)
    except msgspec.ValidationError as error:
        found = _FIELD.search(str(error))
        field = (found[1] or found[2]) if found else "kind"
        from observer.redaction.redact import redact_text  # noqa: PLC0415 - 60 ms, of errors only

        what = redact_text(str(error).partition(" - at `")[0])
        raise BadInput(f"field {field!r} of a {kind} event: {what}", hint=SEE) from error


def _check(body: events.AnyBody) -> None:
    """Refuse numbers that cannot be measurements, and hashes that git would read as an option."""
    for field in structs.fields(body):
        value = getattr(body, field.name)
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise BadInput(f"field {field.name!r}: {value!r:.40} is out of range", hint=SEE)
    if isinstance(body, events.Command) and (body.duration_ms or 0) < 0:
        hint = "give milliseconds from start to end"
        raise BadInput("field 'duration_ms' is negative", hint=hint)
    if isinstance(body, events.Commit) and not re.fullmatch(
        "[0-9a-f]{40}([0-9a-f]{24})?", body.hash
    ):
        raise BadInput("field 'hash' is not a commit hash", hint="give all 40 or 64 hex digits")


def _time(at: float | str | None, now_ms: int) -> int:
    """Return a reported time in milliseconds; `now_ms` bounds it, and stands in for none."""
    if at is None:
        return now_ms
    at_ms = iso_ms(at) if isinstance(at, str) else at
    if at_ms is None or not _EARLIEST_MS <= at_ms <= now_ms + AHEAD_MS:
        hint = "give milliseconds (not seconds) since 1970 UTC, or ISO 8601, not in the future"
        raise BadInput(f"field 'at': {quoted(at, 40)} is not the time of an event", hint=hint)
    return int(at_ms)
