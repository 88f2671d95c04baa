"""What the HTTP API takes and answers, as OpenAPI 3.1: for programs, and for people who write them.

Made of the types that decode requests and make answers, so that it cannot say something else.
`/ask`, `/recall` and `/shutdown` are for our own command line and hooks, and may change; `/mcp` has
a protocol of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from observer import __version__
from observer.api.http import CODE_OF, PROTOCOL, STATUS_OF, PostReceipt, ResetUsage
from observer.core.value import Value
from observer.views.note_api import Change, Forgetting, NoteRow, Remembering

Document = dict[str, Any]  # OpenAPI is open-ended JSON

_REFERENCE = "#/components/schemas/{name}"
_STATUSES = sorted({500, 507, *STATUS_OF.values(), *CODE_OF})


class RememberedBody(Value):
    """What became of a note: `updated` where it was known before, `similar` are near to it."""

    id: int
    uuid: str
    updated: bool
    project: str | None
    approval: str | None
    suspicion: str | None
    similar: tuple[Mapping[str, Any], ...]
    dangling: tuple[str, ...]


class DeletedHandle(Value):
    """The handle of what was deleted, as it was given."""

    id: int | str
    deleted: bool


class Forgotten(Value):
    """How many uses were forgotten."""

    forgotten: int


class ProblemBody(Value):
    """What is wrong, and what to do about it."""

    code: str
    message: str
    hint: str


class ErrorBody(Value):
    """The body of every answer that is an error."""

    error: ProblemBody


def document(events: Mapping[str, Any], status: type) -> Document:
    """Return the OpenAPI document.

    Args:
        events: the JSON Schema of one event; its definitions stand under `$defs`.
        status: the type of what GET /status answers.
    """
    of_notes = (Remembering, Forgetting, Change, ResetUsage)
    answers = (status, PostReceipt, RememberedBody, DeletedHandle, NoteRow, Forgotten, ErrorBody)
    references, shapes = msgspec.json.schema_components(
        (*of_notes, *answers), ref_template=_REFERENCE
    )
    remembering, forgetting, change, resetting = references[: len(of_notes)]
    told, receipt, remembered, deleted, note, forgotten, _ = references[len(of_notes) :]
    event = _moved({key: value for key, value in events.items() if key not in {"$schema", "$defs"}})
    shapes |= {"Event": event, **_moved(events.get("$defs", {}))}
    posted = {"oneOf": [_named("Event"), {"type": "array", "items": _named("Event")}]}
    receipts = {"type": "array", "items": receipt}
    return {
        "openapi": "3.1.0",
        "info": {"title": "observer", "version": __version__, "summary": _SUMMARY},
        "security": [{"token": []}],
        "paths": {
            "/status": {"get": _asked("Return what the daemon does and holds.", told)},
            "/events": {"post": _sent("Store events, all or none.", posted, receipts)},
            "/schema/events": {
                "get": _asked("Return the JSON Schema of one event.", {"type": "object"})
            },
            "/openapi.json": {"get": _asked("Return this document.", {"type": "object"})},
            "/remember": {
                "post": _sent("Keep a note.", remembering, remembered, also_status="201")
            },
            "/forget": {"post": _sent("Delete an item.", forgetting, deleted)},
            "/note": {"post": _sent("Change a note.", change, note)},
            "/usage/reset": {"post": _sent("Forget how items were used.", resetting, forgotten)},
        },
        "components": {"schemas": shapes, "securitySchemes": {"token": _TOKEN}},
    }


_SUMMARY = f"Events and notes in, status out; protocol {PROTOCOL}."
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "The token of the home, in its file `token`. The Unix socket needs none.",
}


def _named(name: str) -> Document:
    return {"$ref": _REFERENCE.format(name=name)}


def _asked(summary: str, answer: Document) -> Document:
    return {"summary": summary, "responses": {"200": _json("As asked.", answer), **_refusals()}}


def _sent(summary: str, body: Document, answer: Document, *, also_status: str = "") -> Document:
    asked = _asked(summary, answer)
    if also_status:
        asked["responses"][also_status] = _json("As asked, for the first time.", answer)
    content = {"application/json": {"schema": body}}
    return {**asked, "requestBody": {"required": True, "content": content}}


def _json(description: str, schema: Document) -> Document:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _refusals() -> Document:
    return {str(status): _json("Refused.", _named(ErrorBody.__name__)) for status in _STATUSES}


def _moved(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a JSON Schema whose references lead to the components of the document."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", _REFERENCE.format(name=""))
            if key == "$ref"
            else _moved(value)
            for key, value in schema.items()
        }
    return [_moved(each) for each in schema] if isinstance(schema, list) else schema
