"""Probes: events that take the whole way into the store, and are never committed.

What happens in a folder below `Home.probes` is a probe of `observer doctor`. It is appended to the
log and derived into an item like any event, read back, written to a file in that folder, and taken
out again by rolling the transaction back: no reader ever sees it, and a crash leaves nothing.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from observer.core.model import Item, Recorded
from observer.core.paths import is_inside
from observer.core.value import Value
from observer.ingest.append import EventAppender
from observer.observations.event_record import EventRecord
from observer.spool.files import replace
from observer.store.interface import Store
from observer.store.writer import Writer

ANSWER = "stored-"
"""What the names of the files begin with that hold what the store gave back: a `Probed` each."""


class Probed(Value):
    """One probe as it came back from the store, and the item that it made."""

    recorded: Recorded
    item: Item | None


class _RollBack(Exception):
    """Ends the transaction that holds the probes."""


def split(
    prepared: Iterable[EventRecord], probes: Path
) -> tuple[list[EventRecord], list[EventRecord]]:
    """Return the events that are to be kept, and those that are probes."""
    folders = {str(probes), os.path.realpath(probes)}
    kept: list[EventRecord] = []
    found: list[EventRecord] = []
    for one in prepared:
        is_probe = any(is_inside(one.event.cwd, folder) for folder in folders)
        (found if is_probe else kept).append(one)
    return kept, found


def answer(
    probes: Sequence[EventRecord], store: Store, appender_of: Callable[[Writer], EventAppender]
) -> None:
    """Append probes, write what came back into their folders, and roll all of it back.

    Raises:
        StoreUnavailable: the store cannot be written.
    """
    with suppress(_RollBack), store.write() as writer:
        appender = appender_of(writer)
        receipts = [appender.append(one) for one in probes]
        appender.finish()
        stored = [
            (one.event.cwd, receipt.seq, receipt.item)
            for one, receipt in zip(probes, receipts, strict=True)
            if receipt.seq is not None
        ]
        for folder, seq, item in stored:
            _write(folder, _read_back(writer, seq, item))
        raise _RollBack


def _read_back(writer: Writer, seq: int, item: int | None) -> Probed:
    (recorded,) = writer.log(after_seq=seq - 1, limit=1)
    return Probed(recorded=recorded, item=None if item is None else writer.item(item))


def _write(folder: str, probed: Probed) -> None:
    with suppress(OSError, ValueError):  # whoever sent it has given up and removed the folder
        replace(Path(folder, f"{ANSWER}{secrets.token_hex(8)}"), msgspec.json.encode(probed))
