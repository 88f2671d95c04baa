"""Signals: what the notes imply but nobody has written down, and the triage of each.

They are found without a language model, and not stored. Inferences are hypotheses that a person
approved: they rest on notes, never on each other, and no search finds them.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from msgspec.structs import asdict, replace
from numpy.typing import NDArray

from observer.core.errors import BadInput, NotFound
from observer.core.events import Reference, Remember, Triage
from observer.core.filters import Filters, is_visible
from observer.core.model import (
    FORMERLY,
    UNASSIGNED,
    Item,
    Link,
    NoteHeader,
    iso,
    item_id,
    title_key,
)
from observer.core.value import Value, decode_json
from observer.notes.note_reader import PAIR
from observer.notes.pairs import NeighbourQuery, Rows, Vectors, nearest
from observer.notes.values import Author, Note, NoteAccess, check, metadata_text, signal_id
from observer.store.reader import StoreReader

COMPARED = 8_192
"""Notes, the newest, that are compared with each other: .7 s of one core."""
Status = Literal["new", "snoozed", "dismissed", "minted"]
"""What somebody made of a signal."""

DISTANCE = 0.95
"""Distance (of unit vectors) below which two notes are about the same.

Source: 220 texts of like length, all about one program, read by a person. Half of all pairs are
further apart than 1.27; groups found at 0.95 are each about one thing, and from 1.0 on nearly all
hang together. The seed's 0.45, of another model, is reached by none.
"""
NEIGHBOURS = 8
"""Nearest notes among which a note looks for those of its arc. Source: the seed's program."""
SHOWN = 8
"""Notes named in the words of one signal."""


class Signal(Value):
    """Something about notes that nobody has written down yet; `id` is a digest of what it is."""

    id: int
    type: str
    text: str
    evidence: tuple[int, ...]
    status: Status = "new"


class Corpus:
    """Notes as detectors see them; `ids` have `vectors`, `gone` are titles of deleted ones.

    `bare` is the share of the notes without meaning, `near` pairs of neighbours, `newer` pairs of
    how things are and what happened since.
    """

    def __init__(
        self,
        notes: Sequence[NoteHeader],
        ids: Rows,
        vectors: Vectors,
        *,
        now_ms: int,
        gone: Collection[str] = (),
    ) -> None:
        self.notes = {note.id: note for note in notes}
        self.now_ms = now_ms
        self.gone = gone
        known = np.isin(ids, np.fromiter(self.notes, np.int64, len(self.notes)))
        self.bare = 1 - np.count_nonzero(known) / len(self.notes) if self.notes else 0.0
        newest = np.flatnonzero(known)[np.sort(ids[known].argsort()[-COMPARED:])]
        meant = [self.notes[number] for number in ids[newest].tolist()]
        wanted = [NeighbourQuery(NEIGHBOURS), NeighbourQuery(SHOWN, _is_newer(meant))]
        self.near, self.newer = (
            [(meant[source].id, meant[target].id) for source, target in zip(*rows, strict=True)]
            for near in nearest(vectors[newest], wanted, least=1 - DISTANCE**2 / 2)
            for rows in [(near.sources.tolist(), near.targets.tolist())]
        )
        self._titles: dict[str, dict[int | None, int]] = {}
        names = [(note.title, note) for note in notes]
        names += (
            (link.title, note) for note in notes for link in note.links if link.kind == FORMERLY
        )
        for name, note in names:
            self._titles.setdefault(title_key(name), {}).setdefault(note.project_id, note.id)

    def target(self, note: NoteHeader, link: Link) -> int | None:
        """Return the note that a link of another one means; None if there is no such note."""
        if link.leads_to:
            return link.leads_to
        places = self._titles.get(title_key(link.title), {})
        return places.get(note.project_id) or places.get(None)

    def headings(self, *numbers: int) -> str:
        """Return how notes are named in a sentence, as many as are shown."""
        return ", ".join(f'#{number} "{self.notes[number].title}"' for number in numbers[:SHOWN])


def _is_newer(notes: Sequence[NoteHeader]) -> Callable[[Rows, Rows], NDArray[np.bool_]]:
    """Return what says of rows whether the targets are newer records near notes of how it is."""
    rows = [
        (n.project_id or 0, n.created_ms, n.updated_ms, n.layer == "state", n.layer == "past")
        for n in notes
    ]
    columns = np.array(rows, np.int64).reshape(-1, 5)

    def is_newer(sources: Rows, targets: Rows) -> NDArray[np.bool_]:
        one, _, updated_ms, is_state, _ = columns[sources].T
        other, created_ms, _, _, is_past = columns[targets].T
        same = (one == other) | (one == 0) | (other == 0)
        matching: NDArray[np.bool_] = same & (created_ms > updated_ms) & (is_state & is_past > 0)
        return matching

    return is_newer


DAY_MS = 86_400_000

ARC = range(4, 13)
"""Notes of an arc: fewer are no pattern, more are a subject."""
ARC_SPAN_MS = 180 * DAY_MS
ARC_STEP_MS = 14 * DAY_MS
"""An arc takes as long as this for each of its notes, at least."""
ARC_LINKED = 0.2
"""Share of an arc's pairs that are linked from which on it is no secret."""

OUTDATED_BY = 3
"""Newer notes of what happened nearby from which on a note of how things are may be stale."""

BURST = 3
BURST_MS = 14 * DAY_MS
QUIET_MS = 180 * DAY_MS
"""A tag bursts when so many notes of two weeks have it after half a year of silence."""

MOST = 50
"""Notes that one signal rests on."""


def detect(corpus: Corpus) -> list[Signal]:
    """Return all signals, type by type; of one type those of the newest notes first."""
    found: list[Signal] = []
    for detector in DETECTORS.values():
        of_type = {signal.id: signal for signal in detector(corpus)}
        found += sorted(of_type.values(), key=lambda s: (-max(s.evidence), s.id))
    return found


def hidden_arcs(corpus: Corpus) -> Iterator[Signal]:
    """Yield groups of notes near each other, written over a long time and hardly linked."""
    known = set(corpus.near)
    for numbers in _groups((one, other) for one, other in known if (other, one) in known):
        notes = sorted((corpus.notes[n] for n in numbers), key=lambda n: (n.created_ms, n.id))
        span_ms = notes[-1].created_ms - notes[0].created_ms
        if len(notes) not in ARC or span_ms < max(ARC_SPAN_MS, ARC_STEP_MS * len(notes)):
            continue
        leads = {
            frozenset((note.id, corpus.target(note, link)))
            for note in notes
            for link in note.links
            if link.kind != FORMERLY
        }
        ids = [note.id for note in notes]
        pairs = list(map(frozenset, combinations(ids, 2)))
        if sum(pair in leads for pair in pairs) / len(pairs) < ARC_LINKED:
            tags = Counter(tag for note in notes for tag in note.tags)
            # Their commonest tag, else what the first is called.
            about = min(tags, key=lambda tag: (-tags[tag], tag)) if tags else notes[0].title
            text = (
                f"{len(ids)} notes over {span_ms // DAY_MS} days are about {about!r} and"
                f" hardly link to each other: {corpus.headings(*ids)}"
            )
            yield _signal_of("hidden_arc", str(min(ids)), text, ids)


def stale_states(corpus: Corpus) -> Iterator[Signal]:
    """Yield notes of how things are that several newer records are about."""
    since: defaultdict[int, list[int]] = defaultdict(list)
    for state, record in corpus.newer:
        since[state].append(record)
    for state, records in since.items():
        if len(records) >= OUTDATED_BY:
            day = iso(corpus.notes[state].updated_ms)[:10]
            text = (
                f"{corpus.headings(state)} says how things were on {day};"
                f" newer records are near it: {corpus.headings(*records)}"
            )
            yield _signal_of("stale_state", str(state), text, [state, *records])


def tag_bursts(corpus: Corpus) -> Iterator[Signal]:
    """Yield tags that are back after a long silence."""
    tagged: defaultdict[str, list[NoteHeader]] = defaultdict(list)
    for note in sorted(corpus.notes.values(), key=lambda note: (note.created_ms, note.id)):
        for tag in note.tags:
            tagged[tag].append(note)
    begin_ms = corpus.now_ms - BURST_MS
    for tag, notes in tagged.items():
        recent = [note for note in notes if note.created_ms >= begin_ms]
        earlier = notes[: len(notes) - len(recent)]
        if len(recent) < BURST or not earlier:
            continue
        last_ms = earlier[-1].created_ms
        quiet_ms = recent[0].created_ms - last_ms
        if quiet_ms >= QUIET_MS:
            ids = [note.id for note in reversed(recent)]
            text = (
                f"the tag {tag!r} is back after {quiet_ms // DAY_MS} days:"
                f" {len(ids)} notes in two weeks: {corpus.headings(*ids)}"
            )
            yield _signal_of("tag_burst", f"{tag}|{last_ms}", text, ids)


def dangling_links(corpus: Corpus) -> Iterator[Signal]:
    """Yield links to titles that no note has, but what the past says of a note that is gone."""
    for note in corpus.notes.values():
        for link in note.links:
            is_over = note.layer == "past" and title_key(link.title) in corpus.gone
            is_name = link.kind != FORMERLY and not is_over
            if is_name and corpus.target(note, link) is None:
                called = f"links to [[{link.title}]], but no note is called so"
                text = f"{corpus.headings(note.id)} {called}"
                identity = f"{note.id}|{title_key(link.title)}"
                yield _signal_of("dangling_link", identity, text, [note.id])


DETECTORS: dict[str, Callable[[Corpus], Iterator[Signal]]] = {
    "hidden_arc": hidden_arcs,
    "stale_state": stale_states,
    "tag_burst": tag_bursts,
    "dangling_link": dangling_links,
}


def _signal_of(type_: str, identity: str, text: str, evidence: Sequence[int]) -> Signal:
    number = signal_id(type_, identity)
    return Signal(id=number, type=type_, text=text, evidence=tuple(evidence[:MOST]))


def _groups(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return what hangs together."""
    leads: dict[int, int] = {}

    def root(number: int) -> int:
        while (above := leads.setdefault(number, number)) != number:
            # Halves the way for whoever comes next.
            leads[number] = leads[above]
            number = leads[number]
        return number

    for one, other in pairs:
        first, last = sorted((root(one), root(other)))
        leads[last] = first
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number in leads:
        groups[root(number)].append(number)
    return list(groups.values())


LIGHT = 1_000
"""Notes in which signals are found before anybody notices that they are looked for."""
_BARE = 0.005
"""Share of notes without a meaning that is worth a word."""


class FoundSignals(Value):
    """Signals; `degraded` says why some may be missing."""

    signals: tuple[Signal, ...] = ()
    degraded: str = ""


class Signals:
    """The signals of what one owner may see; safe to share between threads."""

    def __init__(self, access: NoteAccess) -> None:
        self._access = access
        self._store, self._owner, self._now_ms, self._sources, _ = access
        self._filters = Filters(kinds=("note",), owner=self._owner)
        self._lock = threading.Lock()
        self._stamp: tuple[str, int] | None = None
        self._found: FoundSignals | None = None

    def list(self, *, type_: str = "", status: Status = "new") -> FoundSignals:
        """Return the signals of a type (all if empty) in a status; what was judged stays listed."""
        found = self._detected()
        known = self._known(found).values()
        chosen = tuple(s for s in known if s.status == status and type_ in {"", s.type})
        return replace(found, signals=chosen)

    def get(self, number: int) -> Signal:
        """Return one signal. Raises: NotFound (there is none of that id, or no more)."""
        signal = self._known(self._detected()).get(number)
        if signal is None:
            raise NotFound(f"no signal {number}", hint="list them first")
        return signal

    def triage(self, number: int, status: Status, *, author: Author = "agent") -> Signal:
        """Say what becomes of a signal, until somebody says otherwise; raises as `get`."""
        signal = replace(self.get(number), status=status)
        self._access.write(triaged(signal, self._owner), author=author, project_id=UNASSIGNED)
        return signal

    def waiting(self) -> int:
        """Count the new ones, of very many as of when last listed; 0 if they never were."""
        with self._store.read() as reader:
            counts = reader.counts("type", self._filters)
        is_light = sum(counts.values()) <= LIGHT
        found = self._detected() if is_light else self._found or FoundSignals()
        return sum(signal.status == "new" for signal in self._known(found).values())

    def _known(self, found: FoundSignals) -> Mapping[int, Signal]:
        with self._store.read() as reader:
            judged = reader.triages(self._owner)
        known = {signal.id: signal for signal in found.signals}
        for number, triage in judged.items():
            if number in known:
                known[number] = replace(known[number], status=triage.status)
            elif triage.type != PAIR and triage.status != "new":
                fields = {name: getattr(triage, name) for name in ("type", "text", "evidence")}
                known[number] = Signal(id=number, status=triage.status, **fields)
        return known

    def _detected(self) -> FoundSignals:
        with self._lock:
            with self._store.read() as reader:
                stamp = (reader.epoch(), reader.newest_note_change())
            if self._found is None or stamp != self._stamp:
                with self._sources() as (reader, view, _):
                    notes = list(reader.sketches(self._filters))
                    gone = reader.gone_titles()
                    ids, vectors = view.meanings(view.mask(self._filters))
                    is_complete = view.is_complete
                corpus = Corpus(notes, ids, vectors, now_ms=self._now_ms(), gone=gone)
                bare = f"{corpus.bare:.0%} of the notes have no meaning yet"
                self._found = FoundSignals(
                    signals=tuple(detect(corpus)),
                    degraded=f"{bare}; arcs and stale notes need it" if corpus.bare > _BARE else "",
                )
                self._stamp = stamp if is_complete else None
            return self._found


def triaged(signal: Signal, owner: str) -> Triage:
    """Return the event that says what became of a signal."""
    fields = asdict(signal)
    return Triage(signal=fields.pop("id"), owner=owner, **fields)


EVIDENCE = "evidence"
EXCERPT_CHARS = 280
MOST_LISTED = 200

Freshness = Literal["active", "stale"]
State = Literal["unchanged", "changed", "deleted"]


class Hypothesis(Value):
    """What is to be kept as an inference; without `evidence` (ids) it rests on the `signal`'s."""

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
    state: State


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
    """The inferences that one owner may see; safe to share between threads."""

    def __init__(self, signals: Signals, access: NoteAccess) -> None:
        self._signals = signals
        self._access = access
        self._store, self._owner = access.store, access.owner

    def mint(self, wanted: Hypothesis, *, is_confirmed: bool) -> Inference:
        """Keep a hypothesis that a person approved; the signal it came from is minted with it.

        Raises: BadInput (no approval, no evidence, or no note), NotFound, SecretRefused.
        """
        if not is_confirmed:
            raise BadInput(
                "a person has to approve an inference before it is kept",
                hint="show the hypothesis and its evidence to the user, then say confirmed: true",
            )
        origin = {"signal": wanted.signal, "model": wanted.model}
        metadata = {name: value for name, value in origin.items() if value}
        said = Note(
            content=wanted.summary,
            title=wanted.title,
            confidence=wanted.confidence,
            metadata=metadata,
        )
        check(said)
        signal = None if wanted.signal is None else self._signals.get(wanted.signal)
        evidence = wanted.evidence or (signal.evidence if signal else ())
        with self._store.read() as reader:
            notes = self._notes(reader, tuple(dict.fromkeys(evidence)))
        bodies: list[Remember | Triage] = [self._body(said, notes)]
        if signal:
            bodies.append(triaged(replace(signal, status="minted"), self._owner))
        project = notes[0].project_id or UNASSIGNED
        stored = self._access.write(*bodies, author="agent", project_id=project)
        return self.get(item_id(stored.seq or 0))

    def list(self, status: Freshness | None = None) -> Sequence[Inference]:
        """Return inferences, newest first, looked at anew."""
        with self._store.read() as reader:
            filters = Filters(kinds=("inference",), owner=self._owner)
            found = self._checked(reader, reader.recent(filters, limit=MOST_LISTED))
        return [one for one in found if status in {None, one.status}]

    def get(self, number: int) -> Inference:
        """Return one inference, looked at anew. Raises: NotFound (there is none of that id)."""
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

    def _body(self, said: Note, notes: Sequence[Item]) -> Remember:
        """Return the event; what rests on several projects, or on own notes, is the owner's own."""
        places = {note.project_id for note in notes}
        is_shared = len(places) == 1 and all(note.scope != "personal" for note in notes)
        scope = notes[0].scope if is_shared else "personal"
        return Remember(
            content=said.content,
            title=said.title,
            type="inference",
            confidence=said.confidence,
            scope=scope,
            owner=self._owner if scope == "personal" else "",
            links=tuple(
                Reference(
                    kind=EVIDENCE,
                    item=note.id,
                    hash=note.content_hash,
                    excerpt=" ".join(note.narrative[: 2 * EXCERPT_CHARS].split())[:EXCERPT_CHARS],
                )
                for note in notes
            ),
            metadata=metadata_text(said.metadata),
        )

    def _checked(self, reader: StoreReader, items: Sequence[Item]) -> Sequence[Inference]:
        rests = {item.id: [link for link in item.links if link.kind == EVIDENCE] for item in items}
        wanted = {link.target for links in rests.values() for link in links}
        notes = {note.id: note for note in reader.items(sorted(wanted))}

        def judged(link: Link) -> Evidence:
            note = notes.get(link.target)
            is_same = note is not None and note.content_hash == link.hash
            state: State = "unchanged" if is_same else "changed" if note else "deleted"
            title = note.title if note else ""
            return Evidence(item=link.target, title=title, excerpt=link.excerpt, state=state)

        found = []
        for item in items:
            origin = decode_json(item.metadata or "{}", dict[str, Any])
            evidence = tuple(judged(link) for link in rests[item.id])
            signal, model = origin.get("signal"), origin.get("model", "")
            found.append(Inference(item=item, evidence=evidence, signal=signal, model=model))
        return found
