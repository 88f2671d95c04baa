"""A home in one file, a packed tar of database, `_parts` and manifest, and its restoring."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import msgspec

from observer import __version__
from observer.core.disk import settle
from observer.core.errors import BadInput, StoreUnavailable
from observer.core.model import Project, Recorded
from observer.core.paths import Home, make_private
from observer.core.value import Value, decode_json
from observer.ingest.projection import rebuild
from observer.store.connection import check_copy
from observer.store.database import SqliteStore
from observer.store.log import LogEnd
from observer.upkeep.restore import open_owned

MANIFEST = "manifest.json"
_DATABASE = "observer.db"
_SQLITE, _GZIP, _JSON = b"SQLite format 3\0", b"\x1f\x8b", b'{"'


class BundleManifest(Value):
    """What a bundle says of its home: empty if unknown; `owner` is whose personal notes it has."""

    version: str = ""
    home: str = ""
    owner: str = ""
    events: int = 0


class Restored(Value):
    """What was restored, and the copy of the database that was there before, if there was one."""

    manifest: BundleManifest
    replaced: str = ""


def _parts(home: Home) -> dict[str, Path]:
    tombstones = home.tombstones
    return {
        "config.toml": home.config,
        "tombstones": tombstones,
        "tombstones.copy": tombstones.with_name(f"{tombstones.name}.copy"),
        "imports.json": home.imports,
        "note-folders.json": home.note_folders,
        "reminders": home.reminders,
        "given": home.given,
    }


def pack(home: Home, bundle: Path, owner: str) -> BundleManifest:
    """Write a bundle of a home, whether or not a daemon uses it.

    Raises FileExistsError: there is a file of that name; StoreUnavailable: the database cannot be
    copied; OSError: the bundle cannot be written; nothing is left of it.
    """
    with _workshop(home) as folder:
        copy = folder / _DATABASE
        with closing(SqliteStore(home.database, read_only=True)) as store:
            store.backup(copy)
            with store.read() as reader:
                events = reader.totals().events
        root = str(home.root)
        manifest = BundleManifest(version=__version__, home=root, owner=owner, events=events)
        descriptor = os.open(bundle, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with (
                os.fdopen(descriptor, "wb") as file,
                tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as packed,
            ):
                said = msgspec.json.encode(manifest)
                entry = tarfile.TarInfo(MANIFEST)
                entry.size, entry.mode = len(said), 0o600
                packed.addfile(entry, io.BytesIO(said))
                for name, path in {_DATABASE: copy, **_parts(home)}.items():
                    if path.is_file():
                        packed.add(path.resolve(), arcname=name, recursive=False)
        except BaseException:
            bundle.unlink()
            raise
        settle(bundle.absolute().parent)
    return manifest


def restore(home: Home, source: Path, *, replaces: bool, stamp: str) -> Restored:
    """Put what a bundle, a copy of the database or an export holds in place; the home is held.

    Settings and other files that are there stay; what was purged since goes when the daemon starts.
    With `replaces` it takes the place of a memory, of which `stamp` names a copy. Raises BadInput:
    it is none of these, is damaged, or there is a memory already; StoreUnavailable: the database in
    it is damaged, or newer than this observer. All is checked before anything of the home moves.
    """
    with _workshop(home) as folder:
        manifest = _unpacked(source, folder)
        database = folder / _DATABASE
        if (found := check_copy(database)) != "ok":
            raise StoreUnavailable(f"the database in {source} is damaged: {found}", hint=_OTHER)
        # It is brought to this observer's schema.
        with closing(open_owned(database, database.parent)) as store, store.read() as reader:
            manifest = msgspec.structs.replace(manifest, events=reader.totals().events)
        replaced = _kept(home, stamp, replaces=replaces)
        for ending in ("-wal", "-shm", "-newest"):
            home.database.with_name(f"{home.database.name}{ending}").unlink(missing_ok=True)
        database.replace(home.database)
        settle(home.root)
        for name, path in _parts(home).items():
            if (folder / name).exists() and not path.exists():
                (folder / name).replace(path)
    shutil.rmtree(home.index, ignore_errors=True)
    return Restored(manifest=manifest, replaced=replaced)


_OTHER = "restore another copy"
_KINDS = "name a file of observer backup or observer export"


def _unpacked(source: Path, folder: Path) -> BundleManifest:
    with source.open("rb") as file:
        begin = file.read(len(_SQLITE))
        file.seek(0)
        if begin == _SQLITE:
            _copy(file, folder / _DATABASE)
            return BundleManifest()
        if begin.startswith(_GZIP):
            return _from_bundle(file, source, folder)
        if begin.startswith(_JSON):
            _from_export(file, source, folder / _DATABASE)
            return BundleManifest()
    raise BadInput(f"{source} is no backup", hint=_KINDS)


def _from_bundle(file: IO[bytes], source: Path, folder: Path) -> BundleManifest:
    known = {MANIFEST, _DATABASE, *_parts(Home(folder))}
    try:
        with tarfile.open(fileobj=file, mode="r|gz") as packed:
            for entry in packed:
                held = packed.extractfile(entry) if entry.isreg() else None
                if entry.name not in known or held is None:
                    raise BadInput(f"{source} holds {entry.name!r}", hint=_KINDS)
                free = shutil.disk_usage(folder).free - (256 << 20)
                if entry.size > (free if entry.name == _DATABASE else 64 << 20):
                    says = f"{entry.name} has {entry.size:,} bytes"
                    raise BadInput(says, hint="free some disk space")
                _copy(held, folder / entry.name)
        manifest = decode_json((folder / MANIFEST).read_bytes(), BundleManifest)
    except (tarfile.TarError, EOFError, OSError, msgspec.DecodeError) as error:
        raise BadInput(f"{source} is damaged: {error}", hint=_OTHER) from error
    if not (folder / _DATABASE).exists():
        raise BadInput(f"{source} holds no database", hint=_KINDS)
    return manifest


def _copy(source: IO[bytes], target: Path) -> None:
    target.touch(mode=0o600)
    with target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)


class _Line(Value):
    record: str


def _from_export(file: IO[bytes], source: Path, database: Path) -> None:
    """Make a database of exported projects and events; items follow from these."""
    with closing(SqliteStore(database, database.parent)) as store, store.write() as writer:
        number = 0
        while line := file.readline(64 << 20):
            number += 1
            try:
                match decode_json(line, _Line).record:
                    case "project":
                        writer.put_project(decode_json(line, Project))
                    case "event":
                        recorded = decode_json(line, Recorded)
                        writer.append(recorded, stored_ms=recorded.event.at_ms)
                    case "log-end":  # the newest may have been purged
                        writer.continue_after(decode_json(line, LogEnd).last_seq)
            except msgspec.DecodeError as error:
                raise BadInput(f"{source}, line {number}: {error}", hint=_OTHER) from error
        writer.name_unknown_projects()
        rebuild(writer)


def _kept(home: Home, stamp: str, *, replaces: bool) -> str:
    """Keep a copy of the memory that is replaced; return its path, "" where there was none."""
    if not home.database.exists():
        return ""
    with closing(open_owned(home.database, home.backups)) as store:
        with store.read() as reader:
            events = reader.totals().events
        if not events:
            return ""
        if not replaces:
            hint = "add --replace, which keeps a copy of it, or set OBSERVER_HOME"
            raise BadInput(f"there is a memory of {events:,} events in {home.root}", hint=hint)
        copy = home.backups / f"{home.database.stem}-replaced-{stamp}.db"
        store.backup(copy)
    return str(copy)


@contextmanager
def _workshop(home: Home) -> Iterator[Path]:
    folder = home.workshop
    shutil.rmtree(folder, ignore_errors=True)
    make_private(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
