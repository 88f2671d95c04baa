"""Signals: what the notes imply but nobody has written down, and the triage of each.

Found by detectors without a language model, again only when a note has changed; not stored. Triage
is an event, and stays with its signal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import UNASSIGNED
from observer.core.value import Value
from observer.notes.note_reader import PAIR
from observer.notes.signal_corpus import Corpus, Signal, Status
from observer.notes.signal_detectors import detect
from observer.notes.values import EventWriter
from observer.search.candidates import Sources
from observer.store.interface import Store

LIGHT = 1_000
"""Notes in which signals are found before anybody notices that they are looked for."""
_BARE = 0.005
"""Share of notes without a meaning that is worth a word."""


class FoundSignals(Value):
    """Signals; `degraded` says why some may be missing."""

    signals: tuple[Signal, ...] = ()
    degraded: str = ""


class Signals:
    """The signals of what one owner may see; safe to share between threads.

    Args:
        store, owner, now_ms, sources: as for `Notes`.
        writer: records their triage.
    """

    def __init__(
        self,
        store: Store,
        *,
        owner: str,
        now_ms: Callable[[], int],
        sources: Callable[[], AbstractContextManager[Sources]],
        writer: EventWriter,
    ) -> None:
        self._store = store
        self._owner = owner
        self._now_ms = now_ms
        self._sources = sources
        self._writer = writer
        self._lock = threading.Lock()
        self._stamp: tuple[str, int] | None = None
        self._found: FoundSignals | None = None

    def list(self, *, type_: str = "", status: Status = "new") -> FoundSignals:
        """Return the signals of a type (all if empty) that are in a status.

        What somebody made something of stays listed, even where its reason is gone.
        """
        found = self._detected()
        known = self._known(found).values()
        chosen = tuple(s for s in known if s.status == status and type_ in {"", s.type})
        return replace(found, signals=chosen)

    def get(self, number: int) -> Signal:
        """Return one signal.

        Raises:
            NotFound: there is none of that id, or no more.
        """
        signal = self._known(self._detected()).get(number)
        if signal is None:
            raise NotFound(f"no signal {number}", hint="list them first")
        return signal

    def triage(self, number: int, status: Status) -> Signal:
        """Say what becomes of a signal, until somebody says otherwise.

        Raises:
            NotFound: as `get`.
        """
        signal = replace(self.get(number), status=status)
        self._writer.write(self.triaged(signal), author="agent", project_id=UNASSIGNED)
        return signal

    def triaged(self, signal: Signal) -> Triage:
        """Return the event that says what became of a signal."""
        return Triage(
            signal=signal.id,
            status=signal.status,
            type=signal.type,
            text=signal.text,
            evidence=signal.evidence,
            owner=self._owner,
        )

    def waiting(self) -> int | None:
        """Count the new ones without letting anybody wait.

        Of very many notes, as of when they were last listed; None if they never were.
        """
        with self._store.read() as reader:
            counts = reader.counts("type", self._filters())
        is_light = sum(counts.values()) <= LIGHT
        found = self._detected() if is_light else self._found
        if found is None:
            return None
        return sum(signal.status == "new" for signal in self._known(found).values())

    def _known(self, found: FoundSignals) -> Mapping[int, Signal]:
        with self._store.read() as reader:
            judged = reader.triages(self._owner)
        known = {
            signal.id: replace(signal, status=judged[signal.id].status)
            if signal.id in judged
            else signal
            for signal in found.signals
        }
        for number, triage in judged.items():
            if number not in known and triage.type != PAIR and triage.status != "new":
                known[number] = _signal(triage)
        return known

    def _detected(self) -> FoundSignals:
        """Return all signals, found anew if a note has changed."""
        with self._lock:
            with self._store.read() as reader:
                stamp = (reader.epoch(), reader.newest_note_change())
            if self._found is None or stamp != self._stamp:
                corpus, is_complete = self._corpus()
                self._found = FoundSignals(
                    signals=tuple(detect(corpus)), degraded=_degraded(corpus)
                )
                self._stamp = stamp if is_complete else None
            return self._found

    def _corpus(self) -> tuple[Corpus, bool]:
        """Return the notes, and whether all of their meanings could be looked at."""
        filters = self._filters()
        with self._sources() as (reader, view, _):
            notes = list(reader.sketches(filters))
            gone = reader.gone_titles()
            ids, vectors = view.meanings(view.mask(filters))
            is_complete = view.is_complete
        return Corpus(notes, ids, vectors, now_ms=self._now_ms(), gone=gone), is_complete

    def _filters(self) -> Filters:
        return Filters(kinds=("note",), owner=self._owner)


def _signal(triage: Triage) -> Signal:
    return Signal(
        id=triage.signal,
        type=triage.type,
        text=triage.text,
        evidence=triage.evidence,
        status=triage.status,
    )


def _degraded(corpus: Corpus) -> str:
    if corpus.bare <= _BARE:
        return ""
    return f"{corpus.bare:.0%} of the notes have no meaning yet; arcs and stale notes need it"
