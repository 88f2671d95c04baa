"""Applies today's redaction rules to what was stored under those of its day.

An event keeps its id, place and time; doing it twice changes nothing. While the daemon goes on,
only values are taken out that `redaction.seen` has come to know since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from observer.core.disk import create
from observer.core.events import Event
from observer.core.model import Project
from observer.core.paths import Home
from observer.redaction.redact import redact, redact_bytes, redact_text
from observer.redaction.seen import SEEN
from observer.store.interface import OwnedStore
from observer.store.purging import StoredText
from observer.store.reader import StoreReader
from observer.store.writer import Writer
from observer.upkeep.choose import reached_projects
from observer.upkeep.shred import is_abandoned, supersede

BATCH = 500  # events in memory at a time
_MARK = re.compile(rb"\[redacted:([a-z0-9_-]+)\]|(\[private\])|(redacted-[0-9a-f]{16})")

_event = msgspec.json.Decoder(Event).decode
_json = msgspec.json.Encoder().encode


class Redacted(NamedTuple):
    """How many events held secrets, and how many secrets of each kind there were.

    Names of projects count as secrets, not as events. `notes` are the items of note folders that
    hold one, to be read again from their files. It is false for none.
    """

    events: int = 0
    kinds: Counter[str] = Counter()  # noqa: RUF012 - never changed
    notes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.events or self.kinds)


def secrets_in(reader: StoreReader) -> Redacted:
    """Return what `redact_log` would do; changes nothing."""
    return _redacted_of(reader, lambda _: None, lambda _: None)


def redact_log(writer: Writer) -> Redacted:
    """Redact every event, and what is known of projects; what is derived is left to the caller."""
    return _redacted_of(writer, writer.put_texts, writer.put_project)


def _redacted_of(
    reader: StoreReader,
    put_texts: Callable[[StoredText], object],
    put_project: Callable[[Project], object],
) -> Redacted:
    kinds: Counter[str] = Counter()
    events = seen = 0
    while batch := reader.stored_texts(after_seq=seen, limit=BATCH):
        for before in batch:
            if (after := redacted_text(before)) != before:
                put_texts(after)
                events += 1
                if before.data != after.data:
                    kinds += _marked(before.data, after.data)
                else:  # its root and branch stand in the data as well
                    around = (f"{i.root}\n{i.branch}\n{i.commit}".encode() for i in (before, after))
                    kinds += _marked(*around)
        seen = batch[-1].seq
    for project, cleaned in renamed(reader):
        put_project(cleaned)
        kinds += _marked(_json(project), _json(cleaned))
    notes = set()
    for item, held in reader.noted_texts():
        if (kept := redact_bytes(held)) != held:
            notes.add(item)
            kinds += _marked(held, kept)
    return Redacted(events, kinds, frozenset(notes))


def redact_files(home: Home) -> dict[str, int]:
    """Redact what no decoder understood, and what killed hooks left; count the files by folder."""
    new, left = home.spool / "new", _plain(home.spool / "tmp")
    gone = {
        "spool/bad": sum(map(_redacted, _plain(home.spool / "bad"))),
        "spool/tmp": sum(_redacted(path) for path in left if is_abandoned(path, new)),
    }
    return {name: count for name, count in gone.items() if count}


def files_with_secrets(home: Home) -> dict[str, int]:
    """Return what `redact_files` would do, and wait for no hook."""
    held = {f"spool/{name}": _plain(home.spool / name) for name in ("bad", "tmp")}
    return {name: count for name, paths in held.items() if (count := sum(map(_has_secret, paths)))}


def with_secrets(home: Home) -> list[str]:
    """Return the copies of a person's own files that hold secrets, by name; they stay."""
    files = (path for path in _plain(home.backups) if ".db" not in path.name)
    return [str(path.relative_to(home.root)) for path in files if _has_secret(path)]


def redacted_text(stored: StoredText) -> StoredText:
    """Return the text of an event as it should be."""
    root, branch, commit = map(redact_text, (stored.root, stored.branch, stored.commit))
    stored = stored._replace(root=root, branch=branch, commit=commit)
    try:
        event = _event(stored.data)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # damaged: what it means is unknown
        return stored._replace(data=redact_bytes(stored.data))
    cleaned = redact(event)
    if cleaned is event:
        return stored
    return stored._replace(dedup=cleaned.dedup, client=cleaned.client, data=_json(cleaned))


def renamed(reader: StoreReader) -> Iterator[tuple[Project, Project]]:
    """Yield projects whose names hold a secret, as they are and as they should be."""
    for project in reader.projects():
        cleaned = msgspec.structs.replace(
            redact(project), uuid=project.uuid, root_commit=project.root_commit
        )
        if cleaned != project:
            yield project, cleaned


def _marked(before: bytes, after: bytes) -> Counter[str]:
    was, now = (
        Counter(
            kind.decode() if kind else "private" if private else "identity"
            for kind, private, _identity in _MARK.findall(data)
        )
        for data in (before, after)
    )
    return (now - was) or Counter(other=1)


def _redacted(path: Path) -> bool:
    data = path.read_bytes()
    cleaned = redact_bytes(data)
    if cleaned == data:
        return False
    beside = path.with_name(f".{path.name}")
    beside.unlink(missing_ok=True)  # of a process that was killed over it
    create(beside, cleaned)
    supersede(path, by=beside)
    return True


def _has_secret(path: Path) -> bool:
    data = path.read_bytes()
    return redact_bytes(data) != data


def _plain(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path


_ESCAPE = re.compile(rb"\\(?:[nrt]|(.))", re.DOTALL)
SEARCHED = "searched for seen"
"""Name of the fact how much was known when all that is stored was searched for it."""
_UP_TO = " up to "  # behind which the fact says how far a search went that is not over
UNDERIVED_PROJECTS = "redacted projects"
"""Name of the fact which projects are still derived from what is redacted now."""


def found_in(reader: StoreReader) -> list[int]:
    """Return the `seq` of each event that holds a known value; takes .1 s for a megabyte."""
    seqs, seen = list[int](), 0
    while batch := reader.stored_texts(after_seq=seen, limit=BATCH):
        seqs += _holding(batch)
        seen = batch[-1].seq
    return seqs


def _holding(batch: Sequence[StoredText]) -> list[int]:
    around = (f"{one.root}\n{one.branch}\n{one.commit}\n{one.dedup}".encode() for one in batch)
    held = zip(batch, around, strict=True)
    return [one.seq for one, beside in held if _is_known(one.data) or _is_known(beside)]


def redact_events(writer: Writer, seqs: Collection[int]) -> None:
    """Redact events; what they are derived into is left to the caller."""
    for seq in seqs:
        for stored in writer.stored_texts(after_seq=seq - 1, limit=1):
            writer.put_texts(redacted_text(stored))


def redact_found(store: OwnedStore, seqs: Collection[int], known: str, reached: int) -> None:
    """Redact events, and note in the same transaction what is still to be derived from them.

    It notes as well that what is stored was searched for `known`: to `reached`, or all of it if 0.
    """
    with store.write() as writer:
        if seqs:
            waiting = underived(writer) | reached_projects(writer, seqs)
            redact_events(writer, seqs)
            for _, project in renamed(writer):
                writer.put_project(project)
            writer.drop_note_files({one for one, held in writer.noted_texts() if _is_known(held)})
            writer.put_meta(UNDERIVED_PROJECTS, " ".join(map(str, sorted(waiting))))
        writer.put_meta(SEARCHED, f"{known}{_UP_TO}{reached}" if reached else known)


def catch_up(
    store: OwnedStore,
    write: Callable[..., object],
    advance: Callable[[int], object] = lambda _: None,
) -> int:
    """Redact by `write` all that holds what is known by now; return how many events did."""
    known = SEEN.state
    with store.read() as reader:
        before, _, reached = reader.meta(SEARCHED).partition(_UP_TO)
    if not len(SEEN) or (before, reached) == (known, ""):
        return 0
    after_seq = int(reached) if reached and before == known else 0
    count = 0
    while True:
        # Each batch is read on its own: writes go on, and the write-ahead log is taken in.
        with store.read() as reader:
            batch = reader.stored_texts(after_seq=after_seq, limit=BATCH)
        seqs, after_seq = _holding(batch), batch[-1].seq if batch else 0
        advance(len(batch))
        write(redact_found, store, seqs, known, after_seq)
        count += len(seqs)
        if not after_seq:
            return count


def underived(reader: StoreReader) -> frozenset[int]:
    """Return the projects that have to be derived anew."""
    return frozenset(map(int, reader.meta(UNDERIVED_PROJECTS).split()))


def _is_known(data: bytes) -> bool:
    """Return True if text, or JSON with its escapes, holds a known value."""
    text = _ESCAPE.sub(lambda found: found[1] or b"\n", data)
    return next(SEEN.within(text.decode("utf-8", "replace")), None) is not None
