"""Keeps the notes of note folders like their files: by a scan, then by what the kernel says."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from observer.core.clock import now_ms
from observer.core.errors import NotFound
from observer.core.paths import is_inside
from observer.core.text import counted
from observer.ingest.projection import Embedder
from observer.notes.folders.folders import IGNORE, NoteFolder, NoteFolders
from observer.notes.folders.note_files import SyncReport
from observer.notes.folders.sync import FolderSync
from observer.notes.folders.tree import is_note
from observer.serve.inotify import FolderWatch, WatchLost, WatchRefused, most_folders, watch_folders
from observer.serve.worker import Services, Watcher
from observer.tools.status import NotedFolder

log = logging.getLogger(__name__)

STEP_MS = 100  # changes of files within this time are taken up together
SCAN_S = 60.0  # how often folders are scanned that the kernel does not watch, or that are not there
MANY = 1_000  # from so many changed files on the folder is scanned instead
NAMED = 3  # files that are not stored and are named; the others are counted
REST = 0.25  # seconds of pause for each second of work, so that others have the processor


class NoteFolderWorker(Watcher):
    """Follows the note folders; `on_noted` hears, in any thread, whose notes changed."""

    def __init__(
        self,
        services: Services,
        *,
        on_noted: Callable[[Iterable[int | None]], None],
        embedder: Embedder | None = None,
    ) -> None:
        super().__init__("note folders", services)
        self._listed = NoteFolders(self._home)
        self._on_noted = on_noted
        self._embedder = embedder
        self._syncs: dict[NoteFolder, FolderSync] = {}
        self._skipped: dict[str, tuple[tuple[str, str], ...]] = {}
        self._due: set[NoteFolder] = set()
        self._closed: dict[NoteFolder, NotFound] = {}
        self._watch: FolderWatch | None = None
        self._watched: frozenset[str] = frozenset()
        self._folders: dict[NoteFolder, list[str]] = {}
        self._next_scan_s = 0.0
        self._is_first = True

    def look(self) -> None:
        """Note that the list of folders may have changed; in any thread."""
        self._call.set()

    def shown(self) -> tuple[NotedFolder, ...]:
        """Return the folders, their notes, and what of them is not stored; in any thread."""
        with self._store.read() as reader:
            notes = reader.noted_folders()
        return tuple(
            NotedFolder(
                name=each.name,
                path=each.path,
                notes=notes.get(each.path, 0),
                files=known.progress.files if known.progress else None,
                unread=len(known.progress.left) if known.progress else 0,
                skipped_files=len(skipped),
                skipped=tuple(f"{path} ({reason})" for path, reason in skipped[:NAMED]),
            )
            for each, known in list(self._syncs.items())
            for skipped in [self._skipped.get(each.path, ())]
        )

    def sync(self, folder: NoteFolder, paths: Sequence[str]) -> None:
        """See `Keeper.sync`."""
        self._report(folder, self._followed(folder).sync(paths))

    def drop(self, folder: NoteFolder) -> None:
        """See `Keeper.drop`."""
        dropped = (self._syncs.pop(folder, None) or self._sync_of(folder)).drop()
        self._skipped.pop(folder.path, None)
        self._folders.pop(folder, None)
        self._closed.pop(folder, None)
        self._due.discard(folder)
        self._on_noted(dropped)

    def catch_up(self, folder: NoteFolder, *, within_s: float) -> SyncReport:
        """See `Keeper.catch_up`; what is left is read soon after."""
        done = self._followed(folder).catch_up(within_s=within_s, is_over=self._over.is_set)
        self._report(folder, done)
        if done.is_late:
            self._due.add(folder)
            self._call.set()
        return done

    async def run(self) -> None:
        """Follow the folders until cancelled."""
        try:
            await super().run()
        finally:
            self._thread.shutdown(wait=False)

    def _work(self) -> None:
        were_closed = bool(self._closed)
        self._follow_list()
        if time.monotonic() >= self._next_scan_s:
            self._due.update(each for each in list(self._syncs) if each not in self._folders)
            self._next_scan_s = time.monotonic() + SCAN_S
        self._scan_due()
        if closed := list(self._closed.values()):
            more = f"; {counted(len(closed) - 1, 'more folder')}" * (len(closed) > 1)
            self._health.degrade(self._part, f"{closed[0]}{more}")
        elif were_closed:
            self._health.recover(self._part)
        self._wait()
        if not self._closed:
            self._health.recover(self._part)

    def _follow_list(self) -> None:
        # Known before listed: a folder may be added, and its notes read, meanwhile.
        known, stored = list(self._syncs), []
        if self._is_first:
            with self._store.read() as reader:
                stored = [NoteFolder(name="", path=path) for path in reader.noted_folders()]
        listed = self._listed.all()
        paths = {each.path for each in listed}
        known += [each for each in stored if each.path not in paths]
        self._is_first = False
        for folder in known:
            if folder not in listed:
                self.drop(folder)
        for folder in listed:
            self._followed(folder)

    def _followed(self, folder: NoteFolder) -> FolderSync:
        """Return what keeps a folder, which is scanned soon if it is new; in any thread."""
        if known := self._syncs.get(folder):
            return known
        made = self._syncs.setdefault(folder, self._sync_of(folder))
        self._due.add(folder)
        self._call.set()
        return made

    def _scan_due(self) -> None:
        due = list(self._due)
        for folder in due:  # what was found in it may be closed now, and could not be watched
            self._folders.pop(folder, None)
        for folder in due:
            self._due.discard(folder)
            known = self._followed(folder)
            try:
                # Watched before it is scanned, so that nothing changes unseen between them.
                self._folders[folder] = known.walk().folders
                self._rewatch()
                self._report(folder, known.scan(go_on=self._rest))
            except NotFound as error:
                self._closed[folder] = error
            else:
                self._closed.pop(folder, None)

    def _rewatch(self) -> None:
        wanted = frozenset(
            f"{folder.path}/{below}".rstrip("/")
            for folder, found in list(self._folders.items())
            for below in found
        )
        if wanted == self._watched and self._watch:
            return
        before, self._watch, self._watched = self._watch, None, frozenset()
        if before:
            before.close()
        if not wanted:
            return
        if len(wanted) > most_folders():
            self._folders.clear()
            raise WatchRefused(f"{len(wanted):,} folders are too many to watch")
        try:
            self._watch = watch_folders(sorted(wanted), step_ms=STEP_MS)
            self._watched = wanted
        except (WatchLost, WatchRefused):
            self._folders.clear()  # they are scanned now and then
            raise

    def _wait(self) -> None:
        wait_s = max(self._next_scan_s - time.monotonic(), 0.0)
        changed: set[str] = set()
        try:
            if self._watch:
                changed = self._watch.wait(self._call, wait_ms=int(wait_s * 1000))
            else:
                self._call.wait(wait_s)
        except WatchLost as error:
            log.info("note folders are watched anew: %s", error)
            self._watch, self._watched = None, frozenset()
            self._due.update(self._syncs)
            self._over.wait(1.0)
            return
        finally:
            self._call.clear()
        for folder, known in list(self._syncs.items()):
            self._take_up(folder, known, changed)

    def _take_up(self, folder: NoteFolder, known: FolderSync, changed: Iterable[str]) -> None:
        paths = []
        for path in changed:
            if not is_inside(path, folder.path):
                continue
            below = os.path.relpath(path, folder.path)
            if below in {".", IGNORE} or path in self._watched or Path(path).is_dir():
                is_hidden = any(name[0] == "." for name in below.split("/") if name != ".")
                if below == IGNORE or not is_hidden:
                    self._due.add(folder)
            elif is_note(below):
                paths.append(below)
        if len(paths) > MANY:
            self._due.add(folder)
        elif paths:
            self._report(folder, known.sync(paths, go_on=self._rest))

    def _report(self, folder: NoteFolder, report: SyncReport) -> None:
        if report.changed or report.gone:
            self._on_noted({report.project_id})
        self._skipped[folder.path] = report.skipped

    def _sync_of(self, folder: NoteFolder) -> FolderSync:
        return FolderSync(
            self._store,
            partial(self._writer.write, self._store),
            folder,
            exclude=self._settings.exclude,
            now_ms=now_ms,
            embedder=self._embedder,
        )

    def _rest(self, worked_s: float) -> bool:
        """Leave the processor to others; return False if the daemon stops: the next one goes on."""
        return not self._over.wait(REST * worked_s)
