"""Inferences: hypotheses that a person approved, and whether their evidence still holds.

They are listed and fetched on purpose and found by no search, so that a guess never comes back as a
fact. The evidence of an inference is notes, never another inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.events import Reference, Remember, Triage
from observer.core.filters import Filters, is_visible
from observer.core.model import UNASSIGNED, Item, Link, item_id
from observer.core.value import Value, decode_json
from observer.notes.signals import MOST, Signals
from observer.notes.values import EventWriter, Note, check, metadata_text
from observer.store.interface import Store
from observer.store.reader import StoreReader

EVIDENCE = "evidence"
EXCERPT_CHARS = 280
MOST_LISTED = 200

Freshness = Literal["active", "stale"]


class Hypothesis(Value):
    """What somebody wants to be kept as an inference.

    `evidence` are ids of notes; without any, it rests on those of the `signal`. `confidence` is 0
    to 1, `model` what wrote it.
    """

    title: str
    summary: str
    evidence: tuple[int, ...] = ()
    signal: int | None = None
    confidence: float | None = None
    model: str = ""


class Evidence(Value):
    """A note that an inference rests on: what it said then, and what became of it."""

    item: int
    title: str
    excerpt: str
    state: Literal["unchanged", "changed", "deleted"]


class Inference(Value):
    """A hypothesis with what it rests on; `signal` is where it came from, if from one."""

    item: Item
    evidence: tuple[Evidence, ...]
    signal: int | None = None
    model: str = ""

    @property
    def status(self) -> Freshness:
        """Stale as long as a note that it rests on says something else, or is gone."""
        return "active" if all(each.state == "unchanged" for each in self.evidence) else "stale"


class Inferences:
    """The inferences that one owner may see; safe to share between threads.

    Args:
        store, owner: as for `Notes`.
        signals: what they may come from.
        writer: records them.
    """

    def __init__(self, store: Store, *, owner: str, signals: Signals, writer: EventWriter) -> None:
        self._store = store
        self._owner = owner
        self._signals = signals
        self._writer = writer

    def mint(self, wanted: Hypothesis, *, is_confirmed: bool) -> Inference:
        """Keep a hypothesis that a person approved; the signal it came from is minted with it.

        Raises:
            BadInput: no person approved it, no evidence, or it could not be kept as a note.
            NotFound: a note, or the signal.
            SecretRefused: it holds a secret.
        """
        if not is_confirmed:
            raise BadInput(
                "a person has to approve an inference before it is kept",
                hint="show the hypothesis and its evidence to the user, then say confirmed: true",
            )
        check(
            Note(
                content=wanted.summary,
                title=wanted.title,
                confidence=wanted.confidence,
                metadata=_origin(wanted),
            )
        )
        signal = None if wanted.signal is None else self._signals.get(wanted.signal)
        evidence = wanted.evidence or (signal.evidence if signal else ())
        with self._store.read() as reader:
            notes = self._notes(reader, tuple(dict.fromkeys(evidence)))
        bodies: list[Remember | Triage] = [self._body(wanted, notes)]
        if signal:
            bodies.append(self._signals.triaged(replace(signal, status="minted")))
        project = notes[0].project_id or UNASSIGNED
        stored = self._writer.write(*bodies, author="agent", project_id=project)
        return self.get(item_id(stored.seq or 0))

    def list(self, status: Freshness | None = None) -> Sequence[Inference]:
        """Return inferences, newest first, looked at anew."""
        with self._store.read() as reader:
            filters = Filters(kinds=("inference",), owner=self._owner)
            found = self._checked(reader, reader.recent(filters, limit=MOST_LISTED))
        return [one for one in found if status in {None, one.status}]

    def get(self, number: int) -> Inference:
        """Return one inference, looked at anew.

        Raises:
            NotFound: there is none of that id.
        """
        with self._store.read() as reader:
            item = reader.item(number)
            if item is None or item.kind != "inference" or not is_visible(item, self._owner):
                raise NotFound(f"no inference {number}", hint="list them first")
            return self._checked(reader, [item])[0]

    def _notes(self, reader: StoreReader, evidence: Sequence[int]) -> Sequence[Item]:
        if not 0 < len(evidence) <= MOST:
            raise BadInput(
                f"an inference rests on 1 to {MOST} notes, not {len(evidence)}",
                hint="name the notes, or a signal that has some",
            )
        found = {note.id: note for note in reader.items(evidence)}
        for number in evidence:
            note = found.get(number)
            if note is None or not is_visible(note, self._owner):
                raise NotFound(f"no note {number}", hint="search for it first")
            if note.kind != "note":
                raise BadInput(
                    f"item {number} is not a note but an {note.kind}", hint="rest it on notes alone"
                )
        return [found[number] for number in evidence]

    def _body(self, wanted: Hypothesis, notes: Sequence[Item]) -> Remember:
        """Return the event; what rests on several projects, or on own notes, is the owner's own."""
        places = {note.project_id for note in notes}
        is_shared = len(places) == 1 and all(note.scope != "personal" for note in notes)
        scope = notes[0].scope if is_shared else "personal"
        return Remember(
            content=wanted.summary,
            title=wanted.title,
            type="inference",
            confidence=wanted.confidence,
            scope=scope,
            owner=self._owner if scope == "personal" else "",
            links=tuple(map(_reference, notes)),
            metadata=metadata_text(_origin(wanted)),
        )

    def _checked(self, reader: StoreReader, items: Sequence[Item]) -> Sequence[Inference]:
        """Return inferences with what became of the notes that they rest on."""
        wanted = {link.target for item in items for link in _evidence(item)}
        notes = {note.id: note for note in reader.items(sorted(wanted))}
        return [_inference(item, notes) for item in items]


def _origin(wanted: Hypothesis) -> dict[str, object]:
    origin = {"signal": wanted.signal, "model": wanted.model}
    return {name: value for name, value in origin.items() if value}


def _reference(note: Item) -> Reference:
    excerpt = " ".join(note.narrative[: 2 * EXCERPT_CHARS].split())[:EXCERPT_CHARS]
    return Reference(kind=EVIDENCE, item=note.id, hash=note.content_hash, excerpt=excerpt)


def _evidence(item: Item) -> list[Link]:
    return [link for link in item.links if link.kind == EVIDENCE]


def _inference(item: Item, notes: dict[int, Item]) -> Inference:
    origin = decode_json(item.metadata or "{}", _Origin)
    evidence = tuple(_judged(link, notes.get(link.target)) for link in _evidence(item))
    return Inference(item=item, evidence=evidence, signal=origin.signal, model=origin.model)


class _Origin(Value):
    signal: int | None = None
    model: str = ""


def _judged(link: Link, note: Item | None) -> Evidence:
    if note is None:
        return Evidence(item=link.target, title="", excerpt=link.excerpt, state="deleted")
    state: Literal["unchanged", "changed"]
    state = "unchanged" if note.content_hash == link.hash else "changed"
    return Evidence(item=note.id, title=note.title, excerpt=link.excerpt, state=state)
