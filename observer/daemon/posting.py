"""The open door's way in: JSON of `POST /events` -> events -> the log -> receipts."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec

from observer.capture.clients import generic
from observer.clock import now_ms
from observer.errors import BadInput
from observer.front.http import Receipt
from observer.memory import Record

MOST_EVENTS = 5_000
"""Of one request: they are stored in one transaction, and nobody else stores meanwhile."""


def receive(body: bytes, record: Record) -> Sequence[Receipt]:
    """Store one reported event, or a list of them, all or none; returns a receipt each.

    Raises:
        BadInput: not JSON, more than `MOST_EVENTS`, or not an event; of a list, says which one.
        StoreUnavailable: the store cannot be written.
    """
    try:
        payload = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the body is no JSON: {error}", hint=generic.SEE) from error
    reports = payload if isinstance(payload, list) else [payload]
    if len(reports) > MOST_EVENTS:
        raise BadInput(
            f"{len(reports):,} events in one request, {MOST_EVENTS:,} at most",
            hint="report them in several requests",
        )
    at_ms = now_ms()
    events = []
    for number, report in enumerate(reports):
        try:
            events.append(generic.report(report, entry_id=uuid.uuid4().hex, at_ms=at_ms))
        except BadInput as error:
            where = f"event {number}: " if isinstance(payload, list) else ""
            raise BadInput(where + error.message, hint=error.hint) from error
    receipts = record(events, None)
    return [
        Receipt(
            ignored=generic.ignored(report),
            id=receipt.known if receipt.seq is None else event.id,
            purged=receipt.is_purged,
            expired=receipt.is_expired,
            stored=receipt.seq is not None,
        )
        for report, event, receipt in zip(reports, events, receipts, strict=True)
    ]
