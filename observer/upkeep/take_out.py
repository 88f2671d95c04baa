"""Takes rows out of a database: by a purge, by age, by size, or as notes deleted for good.

While nobody else has it by `clean`; while the daemon goes on by `Rederivation`: what is left is
derived in a database beside, and the living one takes over what differs.
"""

from __future__ import annotations

import re
import shutil
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from observer.core.config import Settings
from observer.core.disk import is_unreadable
from observer.core.errors import StoreUnavailable
from observer.core.events import Forget, Shared
from observer.core.model import Item
from observer.core.paths import DAMAGED_COPY, Home, make_private
from observer.ingest.projection import derive_after, derive_projects, put_triages, rebuild
from observer.projects import folders_of
from observer.projects.policy.policies import DAY_MS, FOR_EVER, Retention
from observer.store.connection import is_passing
from observer.store.interface import OwnedStore
from observer.store.purging import AgedEvent
from observer.store.reader import StoreReader
from observer.store.shares import purged_key
from observer.store.tombstones import Marked, Tombstones, places_of
from observer.store.writer import Writer
from observer.upkeep import redact, size_cap
from observer.upkeep.choose import origins, reached_projects, with_dependents
from observer.upkeep.redact import Redacted
from observer.upkeep.shred import discard, holds, places, shred, supersede

_CHUNK_BYTES = 1 << 20
APPLIED = "tombstones"  # name of the fact how many tombstones a database was cleaned by

UNDERIVED = "underived"
"""Name of the fact that a copy holds events only, and has to be derived when it is used."""
UNFINISHED = "expiring"
"""Name of the fact that copies and write-ahead log may still hold what is gone from the tables."""
WIPED = "wiped"
"""Name of the fact that no free page holds what was deleted before pages were overwritten."""
Text = re.Pattern[bytes] | None
Advance = Callable[[int], object]
Open = Callable[[Path, Path], OwnedStore]
"""Opens a database; the other folder takes the copies that its migrations make."""


class Cleaned(NamedTuple):
    """How many events went, what was redacted in the rest, how many notes of files held a text."""

    gone: int
    redacted: Redacted
    notes: int = 0


def is_clean(reader: StoreReader, tombstones: Tombstones) -> bool:
    """Return True unless a database is older than what was purged."""
    return reader.meta(APPLIED) == (str(len(tombstones)) if tombstones else "")


def marks_of(reader: StoreReader, seqs: Collection[int]) -> Iterator[Marked]:
    """Yield by what tombstones know events, and all versions of an item of another home."""
    places, going = _places(reader), set(seqs)
    for stored in reader.stored_events():
        if stored.seq in going:
            yield stored.id, stored.dedup, places.get(stored.project_id, ())
    for one in reader.logged(going):
        if isinstance(one.event.body, Shared):
            yield one.event.id, purged_key(one.event.body.uuid), ()


class Removal(NamedTuple):
    """What goes: `tombstones`, what holds `text`, what `retention` does not keep at `now_ms`.

    With `redacts` all that is left is redacted by today's rules.
    """

    tombstones: Tombstones
    text: Text = None
    redacts: bool = False
    retention: Retention | None = None
    now_ms: int = 0

    def seqs(self, reader: StoreReader) -> frozenset[int]:
        """Return the `seq` of each event that goes."""
        found = set[int]()
        if self.text or not is_clean(reader, self.tombstones):
            found.update(named(reader, self.tombstones, self.text))
        if self.retention:
            found |= expired(reader, self.retention, now_ms=self.now_ms)
        return frozenset(found)


def clean(
    store: OwnedStore, what: Removal, *, derives: bool = True, advance: Advance = lambda _: None
) -> Cleaned:
    """Take out what was chosen; `compact` has to follow, for the bytes.

    What that bears on is derived anew; without `derives` a copy keeps its events alone, redacted of
    known values, until it is used. Raises StoreUnavailable: it cannot be written.
    """
    text = what.text
    with store.write() as writer:
        seqs = what.seqs(writer)
        notes = {item for item, held in writer.noted_texts() if text and text.search(held)}
        # Redaction changes any event, and what older rules derived has to be derived anew anyway.
        is_whole = what.redacts or writer.totals().is_behind
        projects = reached_projects(writer, seqs) if derives else frozenset()
        writer.drop_note_files(notes)
        if derives and (seqs or notes) and not is_whole:
            writer.clear_projects(projects)
        if seqs:
            writer.delete_events(seqs)
            writer.drop_unused_projects()
        if what.redacts:
            redacted = redact.redact_log(writer)
        else:
            known = [] if derives else redact.found_in(writer)
            redact.redact_events(writer, known)
            redacted = Redacted(len(known))
        writer.drop_note_files(redacted.notes)
        if not (seqs or notes or redacted):
            pass
        elif not derives:
            writer.clear_projection()
            writer.put_meta(UNDERIVED, "1")
        elif is_whole:
            rebuild(writer, advance=advance)
        else:
            derive_projects(writer, projects, advance=advance)
        if text:
            _rename(writer, text)
        writer.drop_deleted_words()
        writer.put_meta(APPLIED, str(len(what.tombstones)))
    return Cleaned(len(seqs), redacted, len(notes))


def named(reader: StoreReader, tombstones: Tombstones, text: Text) -> Iterator[int]:
    """Yield the events that were purged, or hold a text."""
    roots = _places(reader)
    for stored in reader.stored_events():
        known = roots.get(stored.project_id, ())
        if (text and places(text, stored)) or tombstones.names(stored.id, stored.dedup, known):
            yield stored.seq


def clean_copies(home: Home, open_store: Open, what: Removal) -> dict[str, str]:
    """Rewrite the copies in which something goes; return what became of each, by name."""
    outcomes = {}
    for path in sorted(home.backups.glob("*.db*")):
        if path.suffix != ".db":
            shred(path)  # of a process that was killed over it
        elif DAMAGED_COPY in path.name:
            shred(path)  # what is whole of it is in the database
            outcomes[path.name] = "deleted, since it was damaged and may hold anything"
        elif became := _copy_cleaned(path, open_store, what):
            outcomes[path.name] = became
    return outcomes


def _copy_cleaned(path: Path, open_store: Open, what: Removal) -> str:
    """Return what became of a copy; empty for one that stays as it was, since nothing goes."""
    if not _is_readable(path):
        if what.text is None:
            return "kept as it was, since the disk does not return all of it"
        _delete(path)
        return "deleted, since the disk does not return all of it, and it may hold the text"
    beside = path.with_name(f".purging-{path.stem}")
    discard(beside)
    beside.mkdir(mode=0o700)
    copy = beside / path.name
    is_held = what.text is not None and holds(path, what.text)
    try:
        shutil.copyfile(path, copy)
        copy.chmod(0o600)
        with closing(open_store(copy, beside / "migrated")) as store:
            cleaned = clean(store, what, derives=False)
            if not any((cleaned.gone, cleaned.redacted, cleaned.notes, is_held)):
                return ""
            store.compact()
    except StoreUnavailable as error:
        if is_passing(error):
            raise  # the next start goes on; a fault of the disk must not cost a copy that is whole
        if not is_held:
            return f"kept as it was, since it cannot be read: {error.message}"
        shred(path)
        return f"deleted, since it holds the text and cannot be read: {error.message}"
    else:
        supersede(path, by=copy)
        redacted = f", {cleaned.redacted.events} redacted" if cleaned.redacted else ""
        return f"rewritten, {cleaned.gone} events fewer{redacted}"
    finally:
        discard(beside)


def _delete(path: Path) -> None:
    try:
        shred(path)
    except OSError as error:
        if not is_unreadable(error):
            raise
        path.unlink()  # what cannot be overwritten cannot be read either


def _is_readable(path: Path) -> bool:
    """Return True if the disk returns all of a file: else mapping it would end the process."""
    for _ in range(2):
        try:
            with path.open("rb", buffering=0) as file:
                while file.read(_CHUNK_BYTES):
                    pass
        except OSError as error:
            if not is_unreadable(error):
                raise
        else:
            return True
    return False


def _places(reader: StoreReader) -> dict[int, tuple[str, ...]]:
    return {project.id: places_of(project) for project in reader.projects()}


def _rename(writer: Writer, text: re.Pattern[bytes]) -> None:
    def without(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value for value in values if not text.search(value.encode()))

    for project in writer.projects():
        if text.search(msgspec.json.encode(project)):
            lists = ("roots", "common_dirs", "remotes", "earlier_names")
            kept: dict[str, Any] = {name: without(getattr(project, name)) for name in lists}
            name = "".join(without((project.name,))) or f"project-{project.id}"
            writer.put_project(msgspec.structs.replace(project, name=name, **kept))
    for session, title in writer.chosen("title").items():
        if text.search(title.encode()):
            writer.choose("title", session, "")


def expired(reader: StoreReader, retention: Retention, *, now_ms: int) -> frozenset[int]:
    """Return the `seq` of each event that is older than is kept, and of those about them."""
    most = {one.id: retention.of_folders(*folders_of(one)) for one in reader.projects()}
    before_ms = retention.before_ms(now_ms, at_most=most.values())
    found = {
        one.seq
        for one, kind, at_ms in _paired(reader.aged_events(before_ms=before_ms))
        if retention.is_expired(
            kind, at_ms, now_ms=now_ms, at_most=most.get(one.project_id, FOR_EVER)
        )
    }
    return all_about(reader, found) if found else frozenset()


class Deletions(NamedTuple):
    """What settings delete: the `seq` of events, and copies with rotated logs."""

    seqs: frozenset[int]
    files: list[Path]


def deletions(reader: StoreReader, home: Home, settings: Settings, *, now_ms: int) -> Deletions:
    """Return what a daemon with these settings deletes by age and by size; nothing is touched."""
    cap = size_cap.measured(home, size_cap.read(home), settings.max_home_mb, at_ms=now_ms)
    files: list[Path] = []
    if settings.max_home_mb and cap.is_above:
        files = size_cap.surplus(home, cap)
        used_bytes = cap.used_bytes - sum(map(size_cap.file_bytes, files))
        cap = msgspec.structs.replace(cap, used_bytes=used_bytes)
        cap = size_cap.chosen(reader, home, cap) if cap.is_above else cap
    return Deletions(expired(reader, Retention(settings, cap.dropped), now_ms=now_ms), files)


def all_about(reader: StoreReader, going: Collection[int]) -> frozenset[int]:
    """Return events that go, and those that say nothing without them."""
    sessions = {one.seq: one.session_id for one in reader.aged_events()}
    return with_dependents(reader, going, sessions)


def _paired(rows: Iterator[AgedEvent]) -> Iterator[tuple[AgedEvent, str, int]]:
    """Yield events with the type and the time that count: an outcome has those of its intent."""
    open_intents: dict[tuple[int | None, str], deque[AgedEvent]] = {}
    for one in rows:
        waiting = open_intents.setdefault((one.session_id, one.tool), deque())
        if one.kind == "intent":
            waiting.append(one)
            yield one, one.of, one.at_ms
        elif one.kind == "outcome" and waiting:
            asked = waiting.popleft()
            yield one, asked.of, asked.at_ms
        else:
            yield one, one.kind, one.at_ms


class Rederivation:
    """What some projects would be derived into without `gone` (by `seq`), in a database beside.

    `store` is the living one; `projects` are derived beside those that what goes bears on.
    """

    def __init__(
        self,
        home: Home,
        open_store: Open,
        store: OwnedStore,
        gone: frozenset[int],
        projects: Collection[int] = (),
    ) -> None:
        self._folder = home.expiring
        self._path = self._folder / home.database.name
        self._opened = partial(open_store, self._path, self._folder / "backups")
        self._store = store
        self._gone = gone
        self._projects = frozenset(projects)
        self._seen = 0

    def derive(self, *, advance: Advance = lambda _: None) -> None:
        """Derive them from what stays; takes as long as a rebuild, and blocks nobody."""
        discard(self._folder)
        make_private(self._folder)
        with closing(self._opened()) as beside, beside.write() as writer:
            with self._store.read() as reader:
                self._seen = reader.newest_seq()
                self._projects |= reached_projects(reader, self._gone)
                self._restore(reader, writer)
            rebuild(writer, advance=advance)

    def adopt(self) -> int:
        """Take it over with what came meanwhile, while no event is stored; return how many went."""
        try:
            with closing(self._opened()) as beside, beside.write() as writer:
                with self._store.read() as reader:
                    self._restore(reader, writer, after_seq=self._seen)
                derive_after(writer, self._seen)
            if self._gone:
                with self._store.write() as living:
                    living.put_meta(UNFINISHED, "1")
            return self._store.adopt(self._path, self._projects, gone=self._gone)
        finally:
            discard(self._folder)

    def _restore(self, reader: StoreReader, writer: Writer, *, after_seq: int = 0) -> None:
        rows = reader.remaining_rows(self._projects, but=self._gone, after_seq=after_seq)
        writer.restore_rows(rows, newer=True)


def expire_bad(home: Home, retention: Retention, *, now_ms: int) -> int:
    """Delete what no decoder understood once any event of its age is expired; count it."""
    before_ms = now_ms - retention.days("") * DAY_MS
    files = (path for path in sorted((home.spool / "bad").glob("*")) if path.is_file())
    old = [path for path in files if path.stat().st_mtime * 1000 < before_ms]
    for path in old:
        shred(path)
    return len(old)


def derive_if_needed(store: OwnedStore) -> None:
    """Derive a copy that was put in place, and holds events alone."""
    with store.read() as reader:
        if not reader.meta(UNDERIVED):
            return
    with store.write() as writer:
        rebuild(writer)
        writer.put_meta(UNDERIVED, "")


def wipe(store: OwnedStore) -> bool:
    """Overwrite what was deleted in free pages and log frames; False while somebody reads."""
    with store.write() as writer:
        writer.drop_deleted_words()
        is_wiped = bool(writer.meta(WIPED))
    if not is_wiped:
        # Once: free pages may hold what was deleted before pages were overwritten.
        store.compact()
        put_fact(store, WIPED, "1")
    if not store.empty_log():
        return False
    put_fact(store, UNFINISHED, "")
    return True


def note_rederived(store: OwnedStore) -> None:
    """Note that all is derived from what was redacted; what it was is still to be wiped."""
    with store.write() as writer:
        writer.put_meta(UNFINISHED, "1")
        writer.put_meta(redact.UNDERIVED_PROJECTS, "")


def put_fact(store: OwnedStore, name: str, value: str) -> None:
    """Write one of the facts above."""
    with store.write() as writer:
        writer.put_meta(name, value)


class Deleted(NamedTuple):
    """A note that was deleted for good, and from when on nothing brings it back."""

    item: Item
    final_ms: int


class Going(NamedTuple):
    """What is due: notes, events by `seq`, their marks; `is_apart` if none is of a session."""

    items: frozenset[int]
    seqs: frozenset[int]
    marks: tuple[Marked, ...]
    is_apart: bool


def deleted(reader: StoreReader) -> Iterator[Deleted]:
    """Yield the notes that were deleted for good and are still there, the first deletion first."""
    final: dict[int, int | None] = {}
    for one in reader.log_of_kind("forget"):
        if isinstance(body := one.event.body, Forget):
            final[body.item] = body.final_ms
    for number, final_ms in final.items():
        item = None if final_ms is None else reader.item(number, deleted=True)
        if item is not None and item.deleted_ms is not None and final_ms is not None:
            yield Deleted(item, final_ms)


def notes_due(reader: StoreReader, *, now_ms: int) -> Going | None:
    """Return what is due at a time; None for nothing."""
    items = _due(reader, now_ms)
    if not items:
        return None
    seqs = all_about(reader, origins(reader, items))
    own = (one for one in reader.aged_events() if one.seq in seqs)
    is_apart = all(one.session_id is None for one in own)
    return Going(items, seqs, tuple(marks_of(reader, seqs)), is_apart)


def take_out_notes(store: OwnedStore, gone: Going, tombstones: Tombstones, *, now_ms: int) -> int:
    """Take out what is due and apart; return how many events went, 0 if it was changed since."""
    with store.write() as writer:
        if _due(writer, now_ms) != gone.items:
            return 0
        tombstones.add(gone.marks)
        writer.delete_items([item.id for item in writer.items_from(gone.seqs)])
        removed = writer.delete_events(gone.seqs)
        writer.drop_unused_projects()
        put_triages(writer)
        writer.put_meta(APPLIED, str(len(tombstones)))
        writer.put_meta(UNFINISHED, "1")
    return removed


def _due(reader: StoreReader, now_ms: int) -> frozenset[int]:
    return frozenset(one.item.id for one in deleted(reader) if one.final_ms <= now_ms)
