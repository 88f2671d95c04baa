"""Takes purged events out of a database: the home's own, and each copy in its backups."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from observer.core.errors import StoreUnavailable
from observer.core.model import Project
from observer.core.paths import DAMAGED_COPY, Home
from observer.ingest.projection import derive_projects, rebuild
from observer.purge.reach import reached_projects
from observer.purge.redact import Redacted, redact_log
from observer.purge.shred import discard, holds, shred, supersede
from observer.purge.text_match import places
from observer.spool.files import is_unreadable
from observer.store.connection import is_passing
from observer.store.interface import OwnedStore
from observer.store.reader import StoreReader
from observer.store.tombstones import Marked, Tombstones, places_of
from observer.store.writer import Writer

_CHUNK_BYTES = 1 << 20
_KEPT = "kept"
APPLIED = "tombstones"
"""Name of the fact how many tombstones a database was cleaned by."""

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


def record_tombstones(reader: StoreReader, seqs: Collection[int], tombstones: Tombstones) -> None:
    """Make tombstones of events; those that are gone have theirs."""
    tombstones.add(marks_of(reader, seqs))


def marks_of(reader: StoreReader, seqs: Collection[int]) -> Iterator[Marked]:
    """Yield by what tombstones know events; the log is read once."""
    places, going = _places(reader), set(seqs)
    for stored in reader.stored_events():
        if stored.seq in going:
            yield stored.id, stored.dedup, places.get(stored.project_id, ())


def clean(
    store: OwnedStore,
    tombstones: Tombstones,
    text: Text,
    *,
    redacts: bool = False,
    advance: Advance = lambda _: None,
) -> Cleaned:
    """Take out what is named, or holds a text, and redact the rest if asked.

    What that bears on is derived anew.

    Raises:
        StoreUnavailable: it cannot be written, or another process reads it.
    """
    with store.write() as writer:
        seqs = list(named(writer, tombstones, text))
        notes = {item for item, held in writer.noted_texts() if text and text.search(held)}
        # Redaction changes any event, and what older rules derived has to be derived anew anyway.
        is_whole = redacts or writer.totals().is_behind
        projects = reached_projects(writer, seqs)
        if notes:
            writer.drop_note_files(notes)
        if (seqs or notes) and not is_whole:
            writer.clear_projects(projects)
        if seqs:
            writer.delete_events(seqs)
            writer.drop_unused_projects()
        redacted = redact_log(writer) if redacts else Redacted()
        if redacted.notes:
            writer.drop_note_files(redacted.notes)
        if is_whole and (seqs or notes or redacted):
            rebuild(writer, advance=advance)
        elif seqs or notes:
            derive_projects(writer, projects, advance=advance)
        if text:
            _rename(writer, text)
        writer.put_meta(APPLIED, str(len(tombstones)))
    store.compact()
    return Cleaned(len(seqs), redacted, len(notes))


def named(reader: StoreReader, tombstones: Tombstones, text: Text) -> Iterator[int]:
    """Yield the events that were purged, or hold a text."""
    roots = _places(reader)
    for stored in reader.stored_events():
        known = roots.get(stored.project_id, ())
        if (text and places(text, stored)) or tombstones.names(stored.id, stored.dedup, known):
            yield stored.seq


def clean_backups(
    home: Home, open_store: Open, tombstones: Tombstones, text: Text, *, redacts: bool = False
) -> dict[str, str]:
    """Clean the copies that hold what was purged; return what became of each, by name."""

    def cleaning(store: OwnedStore) -> Cleaned:
        return clean(store, tombstones, text, redacts=redacts)

    return change_backups(home, open_store, cleaning, text)


def change_backups(
    home: Home, open_store: Open, cleaning: Callable[[OwnedStore], Cleaned], text: Text = None
) -> dict[str, str]:
    """Rewrite the copies in which something is cleaned; return what became of each, by name.

    A copy that holds a text is rewritten in any case, and deleted where it cannot be read.
    """
    outcomes = {}
    for path in sorted(home.backups.glob("*.db*")):
        if path.suffix != ".db":
            shred(path)  # of a process that was killed over it
        elif DAMAGED_COPY in path.name:
            shred(path)  # what is whole of it is in the database
            outcomes[path.name] = "deleted, since it was damaged and may hold anything"
        elif (became := _copy_cleaned(path, open_store, cleaning, text)) != _KEPT:
            outcomes[path.name] = became
    return outcomes


def _copy_cleaned(
    path: Path, open_store: Open, cleaning: Callable[[OwnedStore], Cleaned], text: Text
) -> str:
    if not _is_readable(path):
        if text is None:
            return "kept as it was, since the disk does not return all of it"
        _delete(path)
        return "deleted, since the disk does not return all of it, and it may hold the text"
    beside = path.with_name(f".purging-{path.stem}")
    discard(beside)
    beside.mkdir(mode=0o700)
    copy = beside / path.name
    is_held = text is not None and holds(path, text)
    try:
        shutil.copyfile(path, copy)
        copy.chmod(0o600)
        with closing(open_store(copy, beside / "migrated")) as store:
            cleaned = cleaning(store)
    except StoreUnavailable as error:
        if is_passing(error):
            raise  # the next start goes on; a fault of the disk must not cost a copy that is whole
        if not is_held:
            return f"kept as it was, since it cannot be read: {error.message}"
        shred(path)
        return f"deleted, since it holds the text and cannot be read: {error.message}"
    else:
        if not any((cleaned.gone, cleaned.redacted, cleaned.notes, is_held)):
            return _KEPT
        supersede(path, by=copy)
        redacted = f", {cleaned.redacted.events} redacted" if cleaned.redacted else ""
        return f"rewritten, {cleaned.gone} events fewer{redacted}"
    finally:
        discard(beside)


def _is_readable(path: Path) -> bool:
    """Return True if the disk returns all bytes of a file, at the first attempt or the second.

    What it never returns must not be mapped into memory, where reading it would end the process,
    nor keep every later start from going on.
    """
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


def _delete(path: Path) -> None:
    try:
        shred(path)
    except OSError as error:
        if not is_unreadable(error):
            raise
        path.unlink()  # what cannot be overwritten cannot be read either


def _places(reader: StoreReader) -> dict[int, tuple[str, ...]]:
    return {project.id: places_of(project) for project in reader.projects()}


def _rename(writer: Writer, text: re.Pattern[bytes]) -> None:
    """Take a text out of what is known of projects that live on."""

    def without(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value for value in values if not text.search(value.encode()))

    for project in writer.projects():
        if text.search(msgspec.json.encode(project)):
            writer.put_project(_without(project, without))


def _without(project: Project, kept: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Project:
    return msgspec.structs.replace(
        project,
        name="".join(kept((project.name,))) or f"project-{project.id}",
        roots=kept(project.roots),
        common_dirs=kept(project.common_dirs),
        remotes=kept(project.remotes),
        earlier_names=kept(project.earlier_names),
    )
