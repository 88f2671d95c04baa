"""Keeping the store like a note folder: after a scan of all of it, or of paths that changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.model import Place
from observer.core.note_file import NoteFile
from observer.ingest.projection import Embedder
from observer.notes.folders import tree
from observer.notes.folders.folders import FolderPlace, NoteFolder
from observer.notes.folders.items import (
    RACY_NS,
    Batch,
    NoteParser,
    ParsedNote,
    ReadFile,
    Text,
    parsed,
    put_gone,
)
from observer.notes.folders.note_files import SyncReport
from observer.redaction.redact import redact_text
from observer.staleness.worktree_sync import names_files
from observer.store.interface import Store
from observer.store.writer import Writer

OLD_DRAFT_S = 3_600
"""No writer takes that long over a file."""
BATCH = 200
"""Files of one transaction: others write in between."""

Write = Callable[[Callable[[Writer], None]], None]
"""Runs something in a write transaction, and returns after the commit."""


Stats = dict[str, tree.FileStat | None]
"""What is known of files by path; None where they have to be read again."""
GoOn = Callable[[float], bool]
"""Called after each batch with the seconds that it took; False ends the work there."""


class _Batch(NamedTuple):
    """Files of one transaction: `texts` are those of `read` that have to be parsed."""

    place: Place
    read: list[ReadFile]
    texts: list[Text]
    missing: list[str]

    def take(self, notes: Iterable[ParsedNote]) -> None:
        """Give it the notes that its texts are, in their order."""
        known = {path: note for (_, path), note in zip(self.texts, notes, strict=True)}
        self.read[:] = [each._replace(note=known.get(each.path)) for each in self.read]


class FolderSync:
    """Keeps the notes of one folder like its files. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        write: Write,
        folder: NoteFolder,
        *,
        exclude: Sequence[str],
        now_ms: Callable[[], int],
        embedder: Embedder | None = None,
    ) -> None:
        self._store = store
        self._write = write
        self._root = folder.path
        self._place = FolderPlace(folder, exclude=exclude, now_ms=now_ms)
        self._now_ms = now_ms
        self._embedder = embedder
        self._is_dropped = False
        self._lock = threading.Lock()
        self._scanning = threading.Lock()
        self._odd: dict[str, str] = {}
        self._skipped: dict[str, str] = {}
        self._project_id: int | None = None
        self._synced_ms: int | None = None
        self._seen: Stats = {}
        self._touched: set[str] = set()
        self.progress: SyncReport | None = None  # of the last scan

    def catch_up(self, *, within_s: float, is_over: Callable[[], bool]) -> SyncReport:
        """Bring the store up to date with all files, in a time at most; raises as `scan`.

        Files that are as they were the last time are not compared with the store.
        """
        until_s = time.monotonic() + within_s
        if not self._scanning.acquire(timeout=within_s):
            return replace(self.progress or SyncReport(), is_late=True)
        try:
            return self._scanned(
                # The next batch takes about as long.
                lambda worked_s: not is_over() and time.monotonic() + worked_s < until_s,
                self._seen or self._stored_stats(),
            )
        finally:
            self._scanning.release()

    def scan(self, *, go_on: GoOn = lambda _: True) -> SyncReport:
        """Bring the store up to date with all files. Raises: NotFound (its notes stay)."""
        with self._scanning:
            return self._scanned(go_on, self._stored_stats())

    def _stored_stats(self) -> Stats:
        """Return what the store knows; what it cannot store is looked at anew."""
        self._skipped = {}
        with self._store.read() as reader:
            files = reader.note_files(self._root)
        return {
            file.path: tree.FileStat(file.size_bytes, file.mtime_ns, file.ctime_ns)
            if file.checksum
            else None
            for file in files
        }

    def _scanned(self, go_on: GoOn, known: Stats) -> SyncReport:
        now_ns = self._now_ms() * 10**6
        touched = frozenset(self._touched)
        known = known | dict.fromkeys(touched)
        found = self.walk()
        before_s = now_ns / 10**9 - OLD_DRAFT_S
        tree.remove_drafts(self._root, found.hidden, before_s=before_s)
        changed = [path for path, stat in found.files.items() if known.get(path) != stat]
        gone = [path for path in known if path not in found.files]
        unread = [path for path in gone if tree.is_below(path, found.unread)]
        left = [*changed, *(path for path in gone if path not in unread)]
        self._odd = {each.path: each.reason for each in found.skipped}

        def noted(worked_s: float) -> bool:
            del left[:BATCH]
            self.progress = self._report(files=len(found.files), left=tuple(left))
            return go_on(worked_s)

        self.progress = self._report(files=len(found.files), left=tuple(left))
        done = self._synced(tuple(left), noted)
        # A file that is so young may change once more and look as it does now.
        old = {path: now_ns - stat.ctime_ns > RACY_NS for path, stat in found.files.items()}
        self._seen = {path: stat if old[path] else None for path, stat in found.files.items()}
        self._seen |= dict.fromkeys([*left, *unread])
        with self._lock:
            self._touched -= touched
        if not left and not unread:
            self._synced_ms = self._now_ms()
            done = replace(done, synced_ms=self._synced_ms)
        self.progress = replace(done, files=len(found.files), is_late=bool(left), left=tuple(left))
        return self.progress

    def walk(self) -> tree.Walk:
        """Return the files and folders that are there. Raises: NotFound (it is not there)."""
        return tree.walk(self._root, ignores=self._place.ignoring())

    def sync(self, paths: Iterable[str], *, go_on: GoOn = lambda _: True) -> SyncReport:
        """Bring the store up to date with some paths, and return after the commit."""
        waiting = tuple(dict.fromkeys(paths))
        with self._lock:
            self._touched.update(waiting)
        return self._synced(waiting, go_on)

    def _synced(self, waiting: Sequence[str], go_on: GoOn) -> SyncReport:
        changed = gone = 0
        with NoteParser(len(waiting)) as parser:
            began_s = time.monotonic()
            for batch in self._batches(waiting, parser):
                with self._lock:
                    done = self._stored(batch)
                changed += done[0]
                gone += done[1]
                if not go_on(time.monotonic() - began_s):
                    break
                began_s = time.monotonic()
        return self._report(changed=changed, gone=gone)

    def _report(self, **counts: Any) -> SyncReport:  # noqa: ANN401 - fields of the report
        skipped = tuple(sorted((self._odd | self._skipped).items()))
        done = SyncReport(skipped=skipped, project_id=self._project_id, **counts)
        return replace(done, synced_ms=self._synced_ms)

    def drop(self) -> frozenset[int | None]:
        """Take all notes of the folder out, for running scans too; return their projects."""
        with self._lock:
            self._is_dropped = True
            with self._store.read() as reader:
                files = reader.note_files(self._root)
                items = reader.items([file.item for file in files])
            for first in range(0, len(files), BATCH):
                batch = files[first : first + BATCH]
                self._write(partial(put_gone, files=batch, now_ms=self._now_ms()))
        return frozenset(item.project_id for item in items)

    def _batches(self, waiting: Sequence[str], parser: NoteParser) -> Iterator[_Batch]:
        """Yield what is at some paths; while a batch is stored, the next one is parsed."""
        before: _Batch | None = None
        for first in range(0, len(waiting), BATCH):
            with self._lock:
                batch = self._looked_at(waiting[first : first + BATCH])
            if before:
                before.take(parser.finish())
            parser.begin(batch.texts)
            if before:
                yield before
            before = batch
        if before:
            before.take(parser.finish())
            yield before

    def _looked_at(self, paths: Sequence[str]) -> _Batch:
        """Read the files at some paths, but not what they say."""
        with self._store.read() as reader:
            known = reader.note_files_like(self._root, paths=paths, checksums=(), permalinks=())
        living = {file.path: file for file in known if file.gone_ms is None}
        batch = _Batch(self._place.now(), [], [], [])
        for path in paths:
            if each := self._read(path, living.get(path), batch.place):
                batch.read.append(each[0])
                if each[1] is not None:
                    batch.texts.append((each[1], path))
            elif path in living:
                batch.missing.append(path)
        return batch

    def _stored(self, batch: _Batch) -> tuple[int, int]:
        """Return how many notes have changed, and how many are gone."""
        read, place = [], batch.place
        for each in batch.read:  # anew if it has changed since
            stat = None
            with suppress(OSError):
                stat = tree.stat_of(Path(self._root, each.path).stat(follow_symlinks=False))
            now, text = (stat != each.stat and self._read(each.path, None, place)) or (each, None)
            # If it is gone, the next look at it finds that.
            read.append(now._replace(note=parsed(text, each.path)) if text is not None else each)
        if self._is_dropped or not (read or batch.missing):
            return 0, 0
        with self._store.read() as reader:
            projects = reader.projects()
        about_code = {
            each.path: each.stat.mtime_ns // 10**6
            for each in read
            if each.note and names_files(f"{each.note.title}\n{each.note.body}")
        }
        commits = self._place.commits(place, about_code, projects=projects)
        batches: list[Batch] = []

        def work(writer: Writer) -> None:
            batches.append(Batch(writer, self._root, now_ms=self._now_ms()))
            self._project_id = self._place.project_id(writer)
            batches[-1].put(
                read,
                batch.missing,
                project_id=self._project_id,
                place=place,
                commits=commits,
                embedder=self._embedder,
            )

        self._write(work)
        return batches[-1].changed, batches[-1].gone

    def _read(
        self, path: str, known: NoteFile | None, place: Place
    ) -> tuple[ReadFile, str | None] | None:
        """Read a file, with its text if it is another; None if there is none that may be stored."""
        shown = redact_text(path)
        self._skipped.pop(shown, None)
        if not tree.is_note(path) or self._place.ignoring()(path, is_folder=False):
            return None
        # The path is kept, to find the file again.
        secret = "its name holds a secret" if shown != path else ""
        if reason := secret or tree.unusable_name(path) or self._place.excluding(place, path):
            self._skipped[shown] = reason
            return None
        try:
            data, stat = tree.read(self._root, path)
            checksum = tree.checksum(data)
            is_known = known is not None and known.checksum == checksum
            return ReadFile(path, stat, checksum, None), None if is_known else data.decode()
        except NotFound:
            return None
        except UnicodeDecodeError:
            self._skipped[path] = "it is not valid UTF-8"
        except BadInput as error:
            self._skipped[path] = error.message
        return None
