"""The daemon's answers to requests: reading commands, posted events, and reminders for hooks."""

from __future__ import annotations

import hashlib
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import orjson

from observer.clients import generic
from observer.clients.envelope import parse
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import BadInput
from observer.core.events import Event
from observer.core.model import Receipt
from observer.core.paths import Home
from observer.core.value import Value, decode_json
from observer.ingest.decode import UPCOMING, decode, decode_upcoming
from observer.local.given import GivenLog, Giving
from observer.memory.api import Memory
from observer.notes.values import Record
from observer.redaction.redact import redact
from observer.tools.asking import CommandReply as Reply
from observer.tools.asking import CommandRequest, surroundings
from observer.tools.hook_output import printed, text
from observer.tools.questions import reply
from observer.tools.render import tokens


class CommandAnswers:
    """Answers the questions of commands if the answer equals the command's own.

    Args:
        memory: read only, waits for the model; the use of items is not recorded.
        home: where the settings are read again.
        settings: those of this daemon.
    """

    def __init__(self, memory: Memory, home: Home, settings: Settings) -> None:
        self._memory = memory
        self._home = home
        self._settings = settings

    def answer(self, body: bytes) -> Reply:
        """Answer one question, in the thread of a request.

        Raises:
            BadInput: the body is malformed, or the command's version or settings differ.
            ConfigInvalid: the settings cannot be read.
            StoreUnavailable: the memory cannot be read.
        """
        try:
            asked = decode_json(body, CommandRequest)
        except msgspec.DecodeError as error:
            raise BadInput(f"this is not a question: {error}") from error
        if asked.surroundings != surroundings():
            raise BadInput("asked with another version, time zone or settings than the daemon's")
        if config.load(self._home) != self._settings:
            raise BadInput("the settings have changed", hint="restart the daemon")
        return reply(self._memory, asked)


class PostReceipt(Value):
    """The outcome for a posted event; `stored` is false if it was known already.

    `id` is its id in the log; empty if nothing is recorded in its folder, if it was `purged`, or if
    it is `expired`, older than such events are kept. `ignored` are its fields that its kind does
    not have.
    """

    id: str
    stored: bool
    ignored: tuple[str, ...] = ()
    purged: bool = False
    expired: bool = False


class ImportReceipt(Value):
    """The outcome for the events of an import, in numbers of them.

    `known` were stored before, `purged` taken out for good, `expired` are older than is kept, and
    `excluded` by settings, a policy or a pause.
    """

    stored: int = 0
    known: int = 0
    purged: int = 0
    expired: int = 0
    excluded: int = 0


MOST_EVENTS = 5_000
"""Most events of one request: they are stored in one transaction, which blocks other writes."""


def post_events(body: bytes, record: Record) -> Sequence[PostReceipt]:
    """Store the event or list of events in the body of `POST /events`, all or none.

    Returns a receipt for each event, in their order.

    Raises:
        BadInput: not JSON, more than `MOST_EVENTS`, or not an event; the message has its index.
        StoreUnavailable: the store cannot be written.
    """
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"the body is not JSON: {error}", hint=generic.SEE) from error
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
        PostReceipt(
            ignored=generic.ignored(report),
            id=receipt.known if receipt.seq is None else event.id,
            purged=receipt.is_purged,
            expired=receipt.is_expired,
            stored=receipt.seq is not None,
        )
        for report, event, receipt in zip(reports, events, receipts, strict=True)
    ]


def import_events(body: bytes, record: Record) -> ImportReceipt:
    """Store the events of an import, all or none; return how many were stored, and why not others.

    Raises:
        BadInput: it is not a list of events.
        StoreUnavailable: the store cannot be written.
    """
    try:
        events = decode_json(body, list[Event])
    except msgspec.DecodeError as error:
        raise BadInput(f"this is not a list of events: {error}") from error
    receipts = record(events, None)
    return ImportReceipt(
        stored=sum(receipt.seq is not None for receipt in receipts),
        known=sum(bool(receipt.known) for receipt in receipts),
        purged=sum(receipt.is_purged for receipt in receipts),
        expired=sum(receipt.is_expired for receipt in receipts),
        excluded=sum(receipt == Receipt() for receipt in receipts),
    )


CAP_BYTES = 65_536
"""Most bytes of a payload that are compared."""
MOST_REMINDERS = 4_000
"""Most reminders that are remembered."""
_ENTRY = "asked"


@contextmanager
def link_interpreter(home: Home) -> Iterator[None]:
    """Link the running interpreter in the run folder, so that hooks need not search for one."""
    link = home.run / "python3"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(sys.executable).resolve())
    try:
        yield
    finally:
        link.unlink(missing_ok=True)


class RemindedSessions:
    """The reminders that each session got, so that none is repeated, also after a restart.

    Safe to share between threads.

    Args:
        file: one digest a line; without it, reminders may be repeated. What they were, is noted
            in `given` beside it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.given = GivenLog(file.with_name("given"))
        self._lock = threading.Lock()
        lines = file.read_text(encoding="ascii").split() if file.exists() else []
        self._known = dict.fromkeys(lines[-MOST_REMINDERS:])
        if len(lines) > 2 * MOST_REMINDERS:
            file.write_text("".join(f"{line}\n" for line in self._known), encoding="ascii")

    def is_first(self, event: Event, about: str) -> bool:
        """Return True once for each session and subject, and remember it."""
        name = f"{event.client}\0{event.session}\0{about}"
        line = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        with self._lock:
            if line in self._known:
                return False
            self._known[line] = None
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="ascii") as file:
                file.write(f"{line}\n")
        return True


def remind(memory: Memory, reminded: RemindedSessions, envelope: bytes, *, at_ms: int) -> bytes:
    """Return what `hooks/recall` prints: mostly nothing, and each reminder once a session.

    Args:
        memory: what is searched.
        reminded: the reminders that sessions already got.
        envelope: what `hooks/post` would have spooled.
        at_ms: now.

    Raises:
        Undecodable: it is not an envelope with a payload of its client.
    """
    asked = parse(_ENTRY, envelope, at_ms)
    is_coming = asked.event in UPCOMING
    read = decode_upcoming if is_coming else decode
    for event in map(redact, read(_ENTRY, envelope, at_ms, cap_bytes=CAP_BYTES)):
        for known in memory.reminders(event, is_coming=is_coming):
            answer = printed(known, client=asked.client, event=asked.event)
            if answer and reminded.is_first(event, known.about):
                reminded.given.add(
                    Giving(
                        at_ms=at_ms,
                        client=event.client,
                        session=event.session,
                        sort=known.sort,
                        items=(known.item,),
                        tokens=tokens(text(known)),
                    )
                )
                return answer
    return b""
