"""The daemon's answers to requests: reading commands, events, reminders for hooks, and notes."""

from __future__ import annotations

import hashlib
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import orjson

from observer.clients import generic
from observer.clients.envelope import parse
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import BadInput, NotFound
from observer.core.events import Event
from observer.core.model import Item, Receipt
from observer.core.paths import Home
from observer.core.text import did_you_mean
from observer.core.value import Value, decode_json
from observer.ingest.decode import UPCOMING, decode, decode_upcoming
from observer.local.given import GivenLog, Giving
from observer.memory.api import Memory
from observer.notes.notes import Notes
from observer.notes.pairs import How, Settlement
from observer.notes.values import Author, Changes, Note, Record, Similar
from observer.observations.note_reducer import note_type
from observer.redaction.redact import redact
from observer.search.start import NOTE_TYPES
from observer.tools.asking import CommandReply as Reply
from observer.tools.asking import CommandRequest, surroundings
from observer.tools.hook_output import printed, text
from observer.tools.note_api import row, stands
from observer.tools.questions import reply
from observer.tools.render import tokens

T = TypeVar("T")
JsonObject = dict[str, Any]  # JSON of an answer


def decoded(body: bytes, shape: type[T]) -> T:
    """Return the JSON of a request as a value; raise BadInput if it is not of that shape."""
    try:
        return decode_json(body, shape)
    except msgspec.DecodeError as error:
        raise BadInput(f"the body is refused: {error}", hint="send JSON as documented") from error


def answer(memory: Memory, home: Home, settings: Settings, body: bytes) -> Reply:
    """Answer a command's question, if the answer equals the command's own.

    `memory` waits for the model; `settings` are those that the daemon began with. Raises BadInput
    if it is malformed or the command's version or settings differ, ConfigInvalid.
    """
    asked = decoded(body, CommandRequest)
    if asked.surroundings != surroundings():
        raise BadInput("asked with another version, time zone or settings than the daemon's")
    if config.load(home) != settings:
        raise BadInput("the settings have changed", hint="restart the daemon")
    return reply(memory, asked)


class PostReceipt(Value):
    """The outcome for a posted event; `ignored` are its fields that its kind does not have.

    `id` is its id in the log, "" if it was not recorded, `purged` or `expired`.
    """

    id: str
    stored: bool
    ignored: tuple[str, ...] = ()
    purged: bool = False
    expired: bool = False


class ImportReceipt(Value):
    """How many events were stored, known before, purged, too old, or excluded by settings."""

    stored: int = 0
    known: int = 0
    purged: int = 0
    expired: int = 0
    excluded: int = 0


MOST_EVENTS = 5_000
"""Most events of one request: they are stored in one transaction, which blocks other writes."""


def post_events(body: bytes, record: Record) -> Sequence[PostReceipt]:
    """Store the event or list of events of `POST /events`, all or none; return a receipt for each.

    Raises BadInput for what is no event, with its index, and for more than `MOST_EVENTS`.
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
    """Store the events of an import, all or none; return what became of them; raise BadInput."""
    receipts = record(decoded(body, list[Event]), None)
    return ImportReceipt(
        stored=sum(receipt.seq is not None for receipt in receipts),
        known=sum(bool(receipt.known) for receipt in receipts),
        purged=sum(receipt.is_purged for receipt in receipts),
        expired=sum(receipt.is_expired for receipt in receipts),
        excluded=sum(receipt == Receipt() for receipt in receipts),
    )


CAP_BYTES = 65_536  # most bytes of a payload that are compared
MOST_REMINDERS = 4_000
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
    """The reminders that each session got, so that none is repeated: digests in `file`."""

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
    """Return what `hooks/recall` prints, once a session; raise Undecodable for no envelope."""
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


# --- notes: decoding ends here, `notes` gets its own types only -----------------------------------


class Remembering(Note, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /remember: a note, and its project: named, or the one around `cwd`."""

    project: str | None = None
    cwd: str = ""
    author: Author = "agent"


class Forgetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of POST /forget."""

    id: int | str
    author: Author = "agent"


class GiveRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /given; see `Choices.give`."""

    id: int | str
    how: str
    author: Author = "agent"


class NoteRequest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="action"
):
    """Base of the bodies of POST /note; `id` is an exact handle."""

    id: int | str
    author: Author = "agent"


class EditRequest(NoteRequest, frozen=True, kw_only=True, tag="edit"):
    """Change some fields."""

    changes: Changes


class UndoRequest(NoteRequest, frozen=True, kw_only=True, tag="undo"):
    """Undo the last change."""


class ApproveRequest(NoteRequest, frozen=True, kw_only=True, tag="approve"):
    """Approve it in a person's name."""


class Promote(NoteRequest, frozen=True, kw_only=True, tag="promote"):
    """Make a personal note one of a project, or of the team that works on it."""

    project: str
    to: Literal["project", "team"] = "project"


class LinkRequest(NoteRequest, frozen=True, kw_only=True, tag="link"):
    """Link it to another item."""

    target: int | str
    kind: str = "explicit"


class Unlink(NoteRequest, frozen=True, kw_only=True, tag="unlink"):
    """Remove links to an item."""

    target: int | str
    kind: str = ""


class Settle(NoteRequest, frozen=True, kw_only=True, tag="settle"):
    """Say what holds of a pair; see `Settlement`."""

    how: How
    other: int | str
    content: str = ""


Change = EditRequest | UndoRequest | ApproveRequest | Promote | LinkRequest | Unlink | Settle


def remember(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /remember; raise BadInput for another body, or a type that no note has."""
    asked = decoded(body, Remembering)
    _check_type(memory, asked.type)
    note = msgspec.convert(asked, Note, from_attributes=True)
    kept = memory.notes.remember(note, project=asked.project, folder=asked.cwd, author=asked.author)
    return {
        "id": kept.item.id,
        "uuid": kept.item.uuid,
        "updated": kept.updated,
        "project": kept.project,
        "approval": kept.item.approval,
        "suspicion": kept.item.suspicion,
        "similar": [_near(one) for one in kept.similar],
        "near": [_near(one) | {"stands": stands(one.item)} for one in kept.near],
        "dangling": kept.dangling,
    }


def _check_type(memory: Memory, name: str) -> None:
    known = dict.fromkeys((*NOTE_TYPES, *memory.notes.counts("type")))
    if (spelled := note_type(name)) not in known:
        near = get_close_matches(spelled, known, n=2)
        hint = did_you_mean(near) or f"one of: {', '.join(known)}"
        raise BadInput(f"no type of notes {name[:80]!r}", hint=hint)


def _near(one: Similar) -> JsonObject:
    return {"id": one.item.id, "title": one.item.title, "score": round(one.score, 2)}


def forget(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /forget; raise NotFound, or BadInput for another body."""
    asked = decoded(body, Forgetting)
    if not memory.notes.forget(asked.id, author=asked.author):
        raise NotFound(f"no item {asked.id}", hint="search for it first")
    return {"id": asked.id, "deleted": True}


def give(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /given; raise BadInput for another body or an agent, and as `Choices`."""
    asked = decoded(body, GiveRequest)
    if asked.author != "person":
        raise BadInput("only a person chooses what is given", hint="ask yours to do it")
    item = memory.choices.give(str(asked.id), asked.how)
    return {"id": item.id, "title": item.title, "how": asked.how}


def change(memory: Memory, body: bytes) -> JsonObject:
    """Carry out POST /note, and return the note; raise BadInput, and as the method of `Notes`."""
    asked: Change = decoded(body, Change)  # type: ignore[arg-type] # a union is not a type
    notes = memory.notes
    match asked:
        case EditRequest():
            _check_type(memory, asked.changes.type or "")
            do: Callable[..., Item] = partial(notes.edit, asked.id, asked.changes)
        case UndoRequest():
            do = partial(_undoing(memory, asked).undo, asked.id)
        case ApproveRequest():
            do = partial(notes.approve, asked.id)
        case Promote():
            do = partial(notes.promote, asked.id, asked.to, project=asked.project)
        case LinkRequest():
            do = partial(notes.link, asked.id, asked.target, kind=asked.kind)
        case Unlink():
            do = partial(notes.unlink, asked.id, asked.target, kind=asked.kind)
        case Settle():
            settled = msgspec.convert(asked, Settlement, from_attributes=True)
            do = partial(memory.pairs.settle, settled)
    result: JsonObject = msgspec.to_builtins(row(do(author=asked.author), memory.project_names()))
    return result


def _undoing(memory: Memory, asked: UndoRequest) -> Notes:
    """Return the notes as whoever may undo this sees them: a person here, everybody's."""
    if asked.author == "person":
        with suppress(NotFound):  # nobody's personal note
            return memory.owner_of(asked.id).notes
    return memory.notes
