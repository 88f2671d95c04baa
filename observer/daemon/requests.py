"""Answers `hooks/recall`, which sends what it would have spooled; the answer is ready to print.

The daemon's answers to commands that a person runs: what they would read by themselves.

The open door's way in: JSON of `POST /events` -> events -> the log -> receipts.
"""

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

from observer.api.asking import CommandReply as Reply
from observer.api.asking import CommandRequest, surroundings
from observer.api.http import PostReceipt
from observer.api.questions import reply
from observer.clients import generic
from observer.clients.envelope import parse
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import BadInput
from observer.core.events import Event
from observer.core.paths import Home
from observer.ingest.decode import UPCOMING, decode, decode_upcoming
from observer.memory.api import Memory
from observer.notes.values import Record
from observer.redaction.redact import redact
from observer.search.trial import Trials
from observer.views.hook_output import printed


class CommandAnswers:
    """Answers questions, where its answer is the one that the asking process would give.

    Args:
        memory: read only, and patient with the model; nothing is noted of what is asked.
        settings: those of this daemon.
    """

    def __init__(self, memory: Memory, home: Home, settings: Settings) -> None:
        self._memory = memory
        self._home = home
        self._settings = settings

    def answer(self, body: bytes) -> Reply:
        """Answer one question; called in a front's threads.

        Raises:
            BadInput: it is none, or whoever asks has another version or other settings.
            ConfigInvalid: the settings cannot be read any more.
            StoreUnavailable: the memory cannot be read.
        """
        try:
            asked = msgspec.json.decode(body, type=CommandRequest)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadInput(f"this is no question: {error}") from error
        if asked.surroundings != surroundings():
            raise BadInput("asked with another version, time zone or settings than the daemon's")
        if config.load(self._home) != self._settings:
            raise BadInput("the settings have changed", hint="restart the daemon")
        return reply(self._memory, asked)


MOST_EVENTS = 5_000
"""Of one request: they are stored in one transaction, and nobody else stores meanwhile."""


def post_events(body: bytes, record: Record) -> Sequence[PostReceipt]:
    """Store one reported event, or a list of them, all or none; returns a receipt each.

    Raises:
        BadInput: not JSON, more than `MOST_EVENTS`, or not an event; of a list, says which one.
        StoreUnavailable: the store cannot be written.
    """
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError as error:
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
        PostReceipt(
            ignored=generic.ignored(report),
            id=receipt.known if receipt.seq is None else event.id,
            purged=receipt.is_purged,
            expired=receipt.is_expired,
            stored=receipt.seq is not None,
        )
        for report, event, receipt in zip(reports, events, receipts, strict=True)
    ]


CAP_BYTES = 65_536
"""As much of a payload as is compared."""
MOST_REMINDERS = 4_000
"""As many reminders as are kept in mind."""
_ENTRY = "asked"


@contextmanager
def link_interpreter(home: Home) -> Iterator[None]:
    """Let the hook start the interpreter that runs this: it has no time to look for one."""
    lent = home.run / "python3"
    lent.unlink(missing_ok=True)
    lent.symlink_to(Path(sys.executable).resolve())
    try:
        yield
    finally:
        lent.unlink(missing_ok=True)


class RemindedSessions:
    """Which session was told what, so that none is told twice, also by the next daemon.

    Safe to share between threads.

    Args:
        file: where it is kept; lost with it is nothing but that.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        lines = file.read_text(encoding="ascii").split() if file.exists() else []
        self._known = dict.fromkeys(lines[-MOST_REMINDERS:])
        if len(lines) > 2 * MOST_REMINDERS:
            file.write_text("".join(f"{line}\n" for line in self._known), encoding="ascii")

    def is_first(self, event: Event, about: str) -> bool:
        """Return True, once, if a session was not told of this yet."""
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


def remind(
    memory: Memory,
    told: RemindedSessions,
    envelope: bytes,
    *,
    at_ms: int,
    trials: Trials | None = None,
) -> bytes:
    """Return what the hook prints: mostly nothing, and nothing that the session was told before.

    Args:
        memory: what is asked.
        told: what sessions were told.
        envelope: what `hooks/post` would have spooled.
        at_ms: now.
        trials: may keep a session from being told what counts as told all the same.

    Raises:
        ConfigInvalid: the plan of the trial is damaged.
        Undecodable: it is no envelope, or no payload of its client.
    """
    asked = parse(_ENTRY, envelope, at_ms)
    is_coming = asked.event in UPCOMING
    read = decode_upcoming if is_coming else decode
    for event in read(_ENTRY, envelope, at_ms, cap_bytes=CAP_BYTES):
        known = memory.remind(redact(event), is_coming=is_coming)
        answer = printed(known, client=asked.client, event=asked.event)
        if answer and told.is_first(event, known.about):
            is_withheld = trials and trials.withhold(event.client, event.session, at_ms=at_ms)
            return b"" if is_withheld else answer
    return b""
