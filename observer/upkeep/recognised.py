"""Redacts what was stored before its secrets were recognised, while the daemon goes on.

`observer purge --secrets` applies all of today's rules; this takes out the values that
`redaction.seen` has come to know, written as they were recognised. A kill at any moment is made
good by the next look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from observer.redaction.seen import SEEN
from observer.store.interface import OwnedStore
from observer.store.purging import StoredText
from observer.store.reader import StoreReader
from observer.store.writer import Writer
from observer.upkeep.choose import reached_projects
from observer.upkeep.redact import BATCH, redacted_text, renamed

_ESCAPE = re.compile(rb"\\(?:[nrt]|(.))", re.DOTALL)
SEARCHED = "searched for seen"
"""Name of the fact how much was known when all that is stored was searched for it."""
_UP_TO = " up to "
"""Behind which the fact says how far a search went that is not over."""
_STRETCH = 10
"""Batches between two notes of that."""
UNDERIVED_PROJECTS = "redacted projects"
"""Name of the fact which projects are still derived from what is redacted now."""


def is_behind(reader: StoreReader) -> bool:
    """Return True if values became known since what is stored was searched."""
    return len(SEEN) > 0 and reader.meta(SEARCHED) != SEEN.state


def searched(reader: StoreReader) -> int:
    """Return the `seq` up to which what is stored was searched for all that is known now."""
    known, _, reached = reader.meta(SEARCHED).partition(_UP_TO)
    return int(reached) if reached and known == SEEN.state else 0


def found(
    store: OwnedStore, after_seq: int = 0, advance: Callable[[int], object] = lambda _: None
) -> tuple[list[int], int]:
    """Return the `seq` of each event of a stretch that holds a known value, and of its last event.

    The last is 0 where no events follow. Takes .1 s for a megabyte; each batch is read on its own,
    so that writes go on and the write-ahead log is taken in.
    """

    def batch(seen: int) -> Sequence[StoredText]:
        with store.read() as reader:
            return reader.stored_texts(after_seq=seen, limit=BATCH)

    return _holding(batch, advance, after_seq, batches=_STRETCH)


def found_in(reader: StoreReader) -> list[int]:
    """Return the same of all that a reader sees, as of a copy that nobody else has open."""
    return _holding(lambda seen: reader.stored_texts(after_seq=seen, limit=BATCH), lambda _: None)[
        0
    ]


def _holding(
    batch_after: Callable[[int], Sequence[StoredText]],
    advance: Callable[[int], object],
    seen: int = 0,
    *,
    batches: int = -1,
) -> tuple[list[int], int]:
    seqs = []
    while batches and (batch := batch_after(seen)):
        for stored in batch:
            advance(1)
            if _holds(stored):
                seqs.append(stored.seq)
        seen = batch[-1].seq
        batches -= 1
    return seqs, 0 if batches else seen


def redact(writer: Writer, seqs: Collection[int]) -> None:
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
            redact(writer, seqs)
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
    """Redact all that holds what is known by now, and return how many events did.

    `write` carries out each stretch where the store is written; it goes on where it was stopped.
    """
    known = SEEN.state
    with store.read() as reader:
        if not is_behind(reader):
            return 0
        after_seq = searched(reader)
    count = 0
    while True:
        seqs, after_seq = found(store, after_seq, advance)
        write(redact_found, store, seqs, known, after_seq)
        count += len(seqs)
        if not after_seq:
            return count


def underived(reader: StoreReader) -> frozenset[int]:
    """Return the projects that have to be derived anew."""
    return frozenset(map(int, reader.meta(UNDERIVED_PROJECTS).split()))


def _holds(stored: StoredText) -> bool:
    beside = f"{stored.root}\n{stored.branch}\n{stored.commit}\n{stored.dedup}".encode()
    return _is_known(stored.data) or _is_known(beside)


def _is_known(data: bytes) -> bool:
    """Return True if text, or JSON with its escapes, holds a known value."""
    text = _ESCAPE.sub(lambda found: found[1] or b"\n", data)
    return next(SEEN.within(text.decode("utf-8", "replace")), None) is not None
