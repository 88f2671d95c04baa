"""The OpenAPI 3.1 document of the HTTP API, for the reference and for tests of a running daemon.

Generated from the types that decode requests and encode answers, so that it cannot differ. Routes
for our own command line and hooks are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from observer import __version__
from observer.core.value import Value
from observer.local.client import PROTOCOL
from observer.serve.http import CODE_OF, STATUS_OF
from observer.serve.requests import Change, Forgetting, PostReceipt, Remembering
from observer.tools.note_api import NoteRow

Document = dict[str, Any]  # OpenAPI is open-ended JSON

_REFERENCE = "#/components/schemas/{name}"
_STATUSES = sorted({500, 507, *STATUS_OF.values(), *CODE_OF})


class RememberedBody(Value):
    """The outcome of storing a note: `updated` if it existed.

    `similar` are notes that say nearly the same, `near` those that may be about the same and of
    which nobody has said whether they still hold.
    """

    id: int
    uuid: str
    updated: bool
    project: str | None
    approval: str | None
    suspicion: str | None
    similar: tuple[Mapping[str, Any], ...]
    near: tuple[Mapping[str, Any], ...]
    dangling: tuple[str, ...]


class DeletedHandle(Value):
    """The handle of the deleted item, as it was given."""

    id: int | str
    deleted: bool


class ProblemBody(Value):
    """The error: what is wrong, and what to do about it."""

    code: str
    message: str
    hint: str


class ErrorBody(Value):
    """The body of every error answer."""

    error: ProblemBody


def document(events: Mapping[str, Any], status: type) -> Document:
    """Return the OpenAPI document.

    Args:
        events: the JSON Schema of one event, its definitions under `$defs`.
        status: the type of what GET /status answers.
    """
    of_notes = (Remembering, Forgetting, Change)
    answers = (status, PostReceipt, RememberedBody, DeletedHandle, NoteRow, ErrorBody)
    references, shapes = msgspec.json.schema_components(
        (*of_notes, *answers), ref_template=_REFERENCE
    )
    remembering, forgetting, change = references[: len(of_notes)]
    state, receipt, remembered, deleted, note, _ = references[len(of_notes) :]
    event = _linked(
        {key: value for key, value in events.items() if key not in {"$schema", "$defs"}}
    )
    shapes |= {"Event": event, **_linked(events.get("$defs", {}))}
    posted = {"oneOf": [_named("Event"), {"type": "array", "items": _named("Event")}]}
    receipts = {"type": "array", "items": receipt}
    return {
        "openapi": "3.1.0",
        "info": {"title": "observer", "version": __version__, "summary": _SUMMARY},
        "security": [{"token": []}],
        "paths": {
            "/status": {"get": _operation("Return the daemon's status and counts.", state)},
            "/events": {"post": _upload("Store events, all or none.", posted, receipts)},
            "/schema/events": {
                "get": _operation("Return the JSON Schema of one event.", {"type": "object"})
            },
            "/remember": {
                "post": _upload("Keep a note.", remembering, remembered, also_status="201")
            },
            "/forget": {"post": _upload("Delete an item.", forgetting, deleted)},
            "/note": {"post": _upload("Change a note.", change, note)},
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


def _operation(summary: str, answer: Document) -> Document:
    return {"summary": summary, "responses": {"200": _content("Success.", answer), **_refusals()}}


def _upload(summary: str, body: Document, answer: Document, *, also_status: str = "") -> Document:
    operation = _operation(summary, answer)
    if also_status:
        operation["responses"][also_status] = _content("Created.", answer)
    content = {"application/json": {"schema": body}}
    return {**operation, "requestBody": {"required": True, "content": content}}


def _content(description: str, schema: Document) -> Document:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _refusals() -> Document:
    return {str(status): _content("Refused.", _named(ErrorBody.__name__)) for status in _STATUSES}


def _linked(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a JSON Schema with its references changed to the document's components."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", _REFERENCE.format(name=""))
            if key == "$ref"
            else _linked(value)
            for key, value in schema.items()
        }
    return [_linked(each) for each in schema] if isinstance(schema, list) else schema
