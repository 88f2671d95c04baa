"""The API of note folders: which there are, their files, and what the lines of these state.

Text comes from the disk as it is now; what is listed is what the store knows. What tools took away
lies in a folder of `note-versions` by number: what was done in `change.json`, the rest in `was`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from observer.core.clock import now_ms
from observer.core.disk import create
from observer.core.errors import BadInput, DaemonUnavailable, NotFound, remedy
from observer.core.model import spelling_key
from observer.core.note_file import NoteFile, Relation
from observer.core.paths import Home, make_private
from observer.core.value import Value, decode_json
from observer.notes.folders import tree
from observer.notes.folders.folders import FolderPlace, NoteFolder, NoteFolders
from observer.notes.folders.grammar import Fields, fields_of, parts_of
from observer.notes.folders.tree import NEW
from observer.redaction.redact import redact_text
from observer.store.interface import Store


class SyncReport(Value):
    """What a sync did; `skipped` are files that are not stored, each with the reason.

    `left` are paths that were not read in time, `synced_ms` is when all was last read.
    """

    files: int = 0
    changed: int = 0
    gone: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    project_id: int | None = None
    is_late: bool = False
    left: tuple[str, ...] = ()
    synced_ms: int | None = None


class Keeper(Protocol):
    """Keeps the store like the files of note folders; in any thread."""

    def sync(self, folder: NoteFolder, paths: Sequence[str]) -> None:
        """Store what is at some paths of a folder, and return after the commit."""

    def drop(self, folder: NoteFolder) -> None:
        """Take the notes of a folder out of what is found, and return after the commit."""

    def catch_up(self, folder: NoteFolder, *, within_s: float) -> SyncReport:
        """Store what has changed in a folder, as much as there is time for; raises as `scan`."""


class FileText(Value):
    """A note as it is on the disk: `head + body`, byte for byte, and the frontmatter's fields."""

    path: str
    head: str
    body: str
    fields: Fields
    checksum: str

    @property
    def text(self) -> str:
        """The whole text."""
        return self.head + self.body


class WrittenFile(NamedTuple):
    """A note that was written; `number` is that of the change, by which the old text comes back."""

    file: NoteFile
    number: int | None


class FolderChange(NamedTuple):
    """What became of a folder: where files are now or were left, and the number to undo it by."""

    done: list[str]
    left: list[str]
    number: int | None


KEPT_MS = 30 * 86_400_000
MOST_BYTES = 1 << 30
TIDY_EVERY = 50
"""Changes between two looks at what was kept for long enough."""
_SAID, _WAS = "change.json", "was"


Act = Literal["replaced", "moved", "deleted"]


class NoteChange(Value):
    """What a tool did to a file or folder, once at `path`; `moves` are paths before and after."""

    number: int
    at_ms: int
    act: Act
    folder: str
    path: str
    moves: tuple[tuple[str, str], ...] = ()


class NoteVersions:
    """The changes of one home. Safe to share between threads and processes."""

    def __init__(self, home: Home | None, now_ms: Callable[[], int]) -> None:
        self._root = home.note_versions if home else None
        self._now_ms = now_ms

    def all(self) -> list[NoteChange]:
        """Return the changes that can be undone, the latest first."""
        found = []
        for place in map(self._place, reversed(self._numbers())):
            # One that is half written, or being deleted, cannot be undone.
            with suppress(OSError, msgspec.DecodeError):
                change = decode_json((place / _SAID).read_bytes(), NoteChange)
                if change.moves or os.path.lexists(place / _WAS):
                    found.append(change)
        return found

    def take(self, folder: NoteFolder, path: str) -> int:
        """Take a folder out of a note folder; return the change's number. Raises: BadInput."""
        change = self.keep(folder, path, "deleted")
        place = self._place(change.number)
        try:
            with tree.opened_folder(folder.path, f"{path}/."):  # it is there, and no link
                shutil.move(f"{folder.path}/{path}", place / _WAS)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise tree.refused(path, error) from error
        return change.number

    def undo(self, number: int | None = None) -> NoteChange:
        """Bring back what a change took away: that of a number, or the latest one.

        What stands in its place is kept as a change of its own. Raises: NotFound, BadInput.
        """
        known = self.all()
        change = next((each for each in known if number in {None, each.number}), None)
        if change is None:
            raise NotFound(
                "no such change of a note folder" if known else "nothing to undo in note folders",
                hint="list them with: observer note folder history",
            )
        match change.act:
            case "replaced":
                data = (self._place(change.number) / _WAS).read_bytes()
                expected = NEW
                with suppress(NotFound):
                    now, _ = tree.read(change.folder, change.path)
                    expected = tree.checksum(now)
                    of = NoteFolder(name="", path=change.folder)
                    self.keep(of, change.path, "replaced", data=now)
                tree.write(change.folder, change.path, data, expected=expected)
            case "moved":
                for before, after in reversed(change.moves):
                    tree.move(change.folder, after, before)
            case "deleted":
                self._bring_back(change)
        shutil.rmtree(self._place(change.number), ignore_errors=True)
        return change

    def keep(
        self,
        folder: NoteFolder,
        path: str,
        act: Act,
        *,
        moves: Sequence[tuple[str, str]] = (),
        data: bytes | None = None,
    ) -> NoteChange:
        """Note a change about to be made, with the file that it takes away. Raises: BadInput."""
        number = max(self._numbers(), default=0) + 1
        taken = 0
        for age, old in enumerate(self.all() if number % TIDY_EVERY == 0 else ()):
            place = self._place(old.number)
            taken += sum(path.lstat().st_size for path in place.rglob("*"))
            is_old = self._now_ms() - old.at_ms > KEPT_MS
            if age and (is_old or taken > MOST_BYTES):
                shutil.rmtree(place, ignore_errors=True)
        try:
            make_private(self._place(number).parent)
            while True:
                with suppress(FileExistsError):
                    self._place(number).mkdir(mode=0o700)
                    break
                number += 1
            place = self._place(number)
            change = NoteChange(
                number=number,
                at_ms=self._now_ms(),
                act=act,
                folder=folder.path,
                path=path,
                moves=tuple(moves),
            )
            create(place / _SAID, msgspec.json.encode(change))
            if data is not None:
                create(place / _WAS, data)
        except OSError as error:
            raise BadInput(
                f"{self._root} cannot be written: {error.strerror}",
                hint=remedy(error, "make it writable"),
            ) from error
        return change

    def _numbers(self) -> list[int]:
        there = self._root.iterdir() if self._root and self._root.is_dir() else ()
        return sorted(int(each.name) for each in there if each.name.isdecimal())

    def _bring_back(self, change: NoteChange) -> None:
        path = change.path
        try:
            with tree.opened_folder(change.folder, path, make=True) as (above, name):
                with suppress(FileNotFoundError):
                    os.stat(name, dir_fd=above, follow_symlinks=False)
                    raise BadInput(
                        f"there is a {path} in {change.folder} again", hint="move that away first"
                    )
                shutil.move(self._place(change.number) / _WAS, f"{change.folder}/{path}")
        except OSError as error:
            raise tree.refused(path, error) from error

    def _place(self, number: int) -> Path:
        if self._root is None:
            raise BadInput("no home keeps what was in note folders")
        return self._root / str(number)


class NoteFiles:
    """The note folders of one home; safe to share between threads.

    Without a `keeper` it only reads; `min_similarity` is the least score of what meaning finds.
    """

    def __init__(
        self,
        store: Store,
        home: Home | None = None,
        *,
        keeper: Keeper | None = None,
        min_similarity: float = 0.0,
    ) -> None:
        self.store = store
        self.listed = NoteFolders(home)
        self._keeper = keeper
        self.min_similarity = min_similarity
        self.versions = NoteVersions(home, now_ms)

    def remove(self, name: str) -> NoteFolder:
        """Let a note folder be none any more; its files stay. Raises: NotFound."""
        gone = self.listed.remove(name)
        if self._keeper is not None:
            self._keeper.drop(gone)
        return gone

    def counts(self) -> Mapping[str, int]:
        """Return how many notes each note folder has, by its path."""
        with self.store.read() as reader:
            return reader.noted_folders()

    def list(self, folder: NoteFolder, *, under: str = "") -> Sequence[NoteFile]:
        """Return the files of a note folder, or of a folder inside it, by path."""
        with self.store.read() as reader:
            files = reader.note_files(folder.path)
        return [file for file in files if not under or tree.is_below(file.path, [under])]

    def others(self, folder: NoteFolder, *, under: str = "", depth: int = 1) -> Mapping[str, int]:
        """Return the files that are no notes, as they are on the disk; see `tree.other_files`."""
        place = FolderPlace(folder, exclude=(), now_ms=now_ms)
        return tree.other_files(folder.path, under, depth=depth, ignores=place.ignoring())

    def at(self, folder: NoteFolder, path: str) -> NoteFile | None:
        """Return what is known of the file at a path."""
        with self.store.read() as reader:
            return reader.note_file_at(folder.path, path)

    def called(self, name: str, *, folder: NoteFolder | None = None) -> Sequence[NoteFile]:
        """Return files by permalink, path, title or alias, in this order; nothing that is near."""
        with self.store.read() as reader:
            return reader.note_files_called(name, folder=folder.path if folder else None)

    def beside(self, folder: NoteFolder, path: str) -> Sequence[str]:
        """Return the notes on the disk, known or not, that a path names in whatever spelling."""
        key = name_key(path)
        above = path.rpartition("/")[0]
        with (
            suppress(OSError, ValueError),
            tree.opened_folder(folder.path, path) as (handle, _),
            os.scandir(handle) as entries,
        ):
            found = sorted(f"{above}/{entry.name}".lstrip("/") for entry in entries)
            return [each for each in found if tree.is_note(each) and name_key(each) == key]
        return []

    def catch_up(self, folder: NoteFolder, *, within_s: float) -> SyncReport:
        """Take up what has changed on the disk; see `Keeper.catch_up`, nothing without one."""
        if self._keeper is None:
            return SyncReport()
        return self._keeper.catch_up(folder, within_s=within_s)

    def sync(self, folder: NoteFolder, paths: Sequence[str]) -> None:
        """Take up the files at some paths. Raises: DaemonUnavailable (this process only reads)."""
        self._writing().sync(folder, paths)

    def targets(self, folder: NoteFolder, relations: Iterable[Relation]) -> Mapping[str, NoteFile]:
        """Return the notes that relations name, by their targets; unknown ones are left out."""
        found: dict[str, NoteFile] = {}
        with self.store.read() as reader:
            for target in dict.fromkeys(each.target for each in relations):
                name = target.partition("|")[0].partition("#")[0].strip().removesuffix(".md")
                files = reader.note_files_called(name, folder=folder.path)
                if not files and "/" in name:
                    files = reader.note_files_called(name.rpartition("/")[2], folder=folder.path)
                if files:
                    found[target] = files[0]
        return found

    def read(self, folder: NoteFolder, path: str) -> FileText:
        """Return a note as it is on the disk. Raises: NotFound, BadInput (no plain file)."""
        plain = tree.check_path(path)
        data, _ = tree.read(folder.path, plain)
        try:
            head, source, body = parts_of(data.decode())
        except UnicodeDecodeError as error:
            raise BadInput(f"{path} is not valid UTF-8", hint="save it as UTF-8") from error
        fields = (fields_of(source) if source else None) or {}
        checksum = tree.checksum(data)
        return FileText(path=plain, head=head, body=body, fields=fields, checksum=checksum)

    def write(self, folder: NoteFolder, path: str, text: str, *, expected: str) -> WrittenFile:
        """Write a note whole, and return it once it can be found.

        `path` ends in `.md`; `expected` is the checksum of what was read, `NEW` where no file must
        be. Raises: NoteConflict (both are kept), BadInput, DaemonUnavailable.
        """
        plain = _note_path(path)
        keeper = self._writing()
        number = self.put(folder, plain, text.encode(), expected=expected)
        keeper.sync(folder, [plain])
        return WrittenFile(self._stored(folder, plain), number)

    def put(self, folder: NoteFolder, path: str, data: bytes, *, expected: str) -> int | None:
        """Write any file whole, as `write`; return the change by which the old one comes back."""
        number = self._keep(folder, path, "replaced", expected) if expected != NEW else None
        tree.write(folder.path, path, data, expected=expected)
        return number

    def move(self, folder: NoteFolder, path: str, target: str) -> NoteFile:
        """Give a note another path; its id stays. Raises: NotFound, BadInput, DaemonUnavailable."""
        plain, new = tree.check_path(path), _note_path(target)
        keeper = self._writing()
        tree.move(folder.path, plain, new)
        self.versions.keep(folder, plain, "moved", moves=[(plain, new)])
        keeper.sync(folder, [plain, new])
        return self._stored(folder, new)

    def delete(self, folder: NoteFolder, path: str, *, expected: str) -> None:
        """Delete a note's file. Raises: NotFound, NoteConflict, BadInput, DaemonUnavailable."""
        plain = tree.check_path(path)
        keeper = self._writing()
        self._keep(folder, plain, "deleted", expected)
        tree.remove(folder.path, plain, expected=expected)
        keeper.sync(folder, [plain])

    def move_folder(self, folder: NoteFolder, path: str, target: str) -> FolderChange:
        """Give a folder another path, with all that is in it, as `tree.move_folder`.

        Raises: NotFound, BadInput, DaemonUnavailable (this process only reads).
        """
        plain, new = self._folder_at(folder, path), tree.check_path(target)
        if tree.is_below(new, [plain]) or new == plain:
            raise BadInput(f"{new} is {plain}, or lies in it", hint="name another path")
        before = tree.all_files(folder.path, plain)
        moves = tree.move_folder(folder.path, plain, new)
        number = self.versions.keep(folder, plain, "moved", moves=moves).number if moves else None
        left = tree.all_files(folder.path, plain)
        done = [f"{new}{each[len(plain) :]}" for each in before if each not in set(left)]
        self._writing().sync(folder, [each for each in (*before, *done) if tree.is_note(each)])
        return FolderChange(done, left, number)

    def delete_folder(self, folder: NoteFolder, path: str) -> tuple[Sequence[str], int]:
        """Take a folder out, for `versions` to have; return the paths, and the change's number.

        Raises: NotFound, BadInput (the system does not let it go), DaemonUnavailable.
        """
        plain = self._folder_at(folder, path)
        before = tree.all_files(folder.path, plain)
        number = self.versions.take(folder, plain)
        self._writing().sync(folder, [each for each in before if tree.is_note(each)])
        return before, number

    def _folder_at(self, folder: NoteFolder, path: str) -> str:
        self._writing()
        plain = tree.check_path(path)
        if tree.names_in(folder.path, plain) is None:
            raise NotFound(f"no folder {plain[:200]}", hint="list what is there")
        return plain

    def _keep(self, folder: NoteFolder, path: str, act: Act, expected: str) -> int | None:
        """Keep a file as it is, unless it is another one than expected: then it stays."""
        data, _ = tree.read(folder.path, path)
        if tree.checksum(data) != expected:
            return None
        return self.versions.keep(folder, path, act, data=data).number

    def _writing(self) -> Keeper:
        if self._keeper is None:
            raise DaemonUnavailable("this process only reads", hint="run: observer up")
        return self._keeper

    def _stored(self, folder: NoteFolder, path: str) -> NoteFile:
        if file := self.at(folder, path):
            return file
        raise BadInput(
            f"{path} is written, but nothing of it may be stored",
            hint="see why with: observer note folder",
        )


def name_key(path: str) -> str:
    """Return what the file names of a note have in common, whatever their spelling."""
    return spelling_key(tree.stem_of(path))


def _note_path(path: str) -> str:
    plain = tree.check_path(path)
    if not tree.is_note(plain):
        raise BadInput(f"{path} is not the name of a note", hint="end it in .md")
    if redact_text(plain) != plain:
        raise BadInput("the name of that note holds a secret", hint="give it another name")
    return plain
