"""Reads a long backlog on another core, ahead of the one thread that stores it.

Steps 2 to 5 of an event's way in a process of their own, and its analysis, which takes as long, in
one behind that. What they leave out waits in the spool for `Spool.claim`. They end with their
backlog, or at the first page that nobody is there to take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from observer.core.child_process import ChildProcess, piped, serve
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.disk import SpoolEntry
from observer.core.events import Event
from observer.core.model import Place
from observer.core.value import chunks
from observer.ingest.prepare import EventPreparer
from observer.local.spool import Spool
from observer.observations.analysis import EventAnalysis, EventRecord, analyze
from observer.observations.drafts import Where
from observer.projects import PlaceCache

BACKLOG = 500
"""Entries left from which a process of its own is worth its start, a quarter of a second."""
PAGE = 1000
PAGE_BYTES = 16 << 20
"""A page is full at so many entries, or bytes of them. It is stored in one transaction: larger than
a batch, for what is late already need not be searchable at once."""
Batch = Sequence[tuple[SpoolEntry, Sequence[EventRecord]]]


class PrefetchRequest(msgspec.Struct, frozen=True):
    """What the process is sent: whose backlog, how to read it, and which entries are in hand."""

    spool: str
    settings: Settings
    in_hand: frozenset[str]


class PrefetchedEntry(msgspec.Struct, frozen=True, array_like=True):
    """An entry without its bytes; its events as JSON, number of the place, `is_expired`, analysis.

    Not an `EventRecord` each: an event would travel twice, as it is and as the JSON that is stored.
    """

    id: str
    at_ms: int
    path: str
    end: int | None
    events: list[tuple[str, int, bool, EventAnalysis]]


class Page(msgspec.Struct, frozen=True, array_like=True):
    """Entries in their order, and the places where their events happened."""

    lines: list[PrefetchedEntry]
    places: list[Place]


_encode = msgspec.msgpack.Encoder().encode
_page = msgspec.msgpack.Decoder(Page).decode
_order = msgspec.msgpack.Decoder(PrefetchRequest).decode
_event = msgspec.json.Decoder(Event).decode


class Prefetcher:
    """The process that reads ahead, while there is one."""

    def __init__(self, spool: Path, settings: Settings) -> None:
        self._spool = spool
        self._settings = settings
        self._process = ChildProcess(__name__, what="reads ahead")

    def begin(self, in_hand: Iterable[SpoolEntry]) -> None:
        """Start reading what waits, without the entries that the caller has in hand."""
        ids = frozenset(entry.id for entry in in_hand)
        if self._process.start():
            order = PrefetchRequest(str(self._spool), self._settings, ids)
            self._process.send(_encode(order), is_last=True)

    def next(self) -> Batch:
        """Wait for the next entries, oldest first; none when nothing is being read, or no more."""
        if not (data := self._process.receive()):
            return ()
        page, batch = _page(data), []
        for line in page.lines:
            events = [
                EventRecord(
                    event=_event(said),
                    place=page.places[number],
                    data=said,
                    is_expired=is_expired,
                    analysis=analysis,
                )
                for said, number, is_expired, analysis in line.events
            ]
            batch.append((SpoolEntry(line.id, b"", line.at_ms, line.path, line.end), events))
        return batch

    def end(self) -> None:
        """Stop reading, if anything is being read."""
        self._process.end()


# --- in the process ------------------------------------------------------------------------------


def main() -> None:
    """Have pages written to standard output, as standard input asks."""
    piped(__name__, analysing.__name__, lambda request: map(_encode, pages(_order(request))))


def analysing() -> None:
    """Write the pages of standard input to standard output, with the analysis of each event."""
    serve(lambda data: [_encode(analysed(_page(data)))])


def pages(order: PrefetchRequest) -> Iterator[Page]:
    """Yield the backlog, oldest first, without what cannot be read, not analysed yet."""
    spool = Spool(Path(order.spool))
    preparer = EventPreparer(order.settings, spool, places=PlaceCache(), now_ms=now_ms)
    backlog = (entry for entry in spool.backlog() if entry.id not in order.in_hand)
    for entries in chunks(
        backlog, most=PAGE, size_of=lambda entry: len(entry.data), most_size=PAGE_BYTES
    ):
        preparer.clear_cache()
        places, lines, bare = dict[Place, int](), [], EventAnalysis()
        for entry in entries:
            # Whoever drains meets it again, logs why it cannot be read, and sets it aside.
            with suppress(Exception):
                events = [
                    (one.data, places.setdefault(one.place, len(places)), one.is_expired, bare)
                    for one in preparer.read(entry)
                ]
                lines.append(PrefetchedEntry(entry.id, entry.at_ms, entry.path, entry.end, events))
        if lines:
            yield Page(lines, list(places))


def analysed(page: Page) -> Page:
    """Return a page with its analyses, without entries of which an event cannot be analysed."""
    lines = []
    for line in page.lines:
        with suppress(Exception):
            events = [
                (data, number, is_expired, analyze(event.body, Where(root=root, cwd=event.cwd)))
                for data, number, is_expired, _ in line.events
                for event, root in [(_event(data), page.places[number].root)]
            ]
            lines.append(msgspec.structs.replace(line, events=events))
    return Page(lines, page.places)
