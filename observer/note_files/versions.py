"""What tools replaced, moved or deleted in note folders: kept in the home, and brought back.

Each change has a number, which names a folder of `note-versions` in the home: `change.json` says
what was done, and `was` is the file or folder from before, unless it was moved. A change is kept
for `KEPT_MS`, and while all of them have `MOST_BYTES`; the latest one is always kept.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from observer.core.errors import BadInput, NotFound, remedy
from observer.core.paths import Home, make_private
from observer.core.value import Value, decode_json
from observer.note_files import tree, writing
from observer.note_files.folders import NoteFolder
from observer.spool.files import create

KEPT_MS = 30 * 86_400_000
MOST_BYTES = 1 << 30
TIDY_EVERY = 50
"""Changes between two looks at what was kept for long enough."""
_SAID, _WAS = "change.json", "was"


Act = Literal["replaced", "moved", "deleted"]


class NoteChange(Value):
    """What a tool did to a file or a folder; `moves` are paths before and after.

    `folder` and `path` say where it was.
    """

    number: int
    at_ms: int
    act: Act
    folder: str
    path: str
    moves: tuple[tuple[str, str], ...] = ()


class NoteVersions:
    """The changes of one home. Safe to share between threads and processes.

    Args:
        home: whose; None where nothing is changed.
        now_ms: the clock.
    """

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

    def keep(self, folder: NoteFolder, path: str, data: bytes, act: Act) -> int:
        """Keep a file that is about to be replaced or deleted; return the change's number."""
        return self._begin(folder, path, act, data=data)[0].number

    def take(self, folder: NoteFolder, path: str) -> int:
        """Take a folder, with all that is in it, out of a note folder; return the change's number.

        Raises:
            BadInput: the system does not let it go; it is where it was.
        """
        change, place = self._begin(folder, path, "deleted")
        try:
            with tree.opened_folder(folder.path, f"{path}/."):  # it is there, and no link
                shutil.move(f"{folder.path}/{path}", place / _WAS)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise tree.refused(path, error) from error
        return change.number

    def moved(self, folder: NoteFolder, path: str, moves: Iterable[tuple[str, str]]) -> int:
        """Note that files or folders have other paths now; return the change's number."""
        return self._begin(folder, path, "moved", moves=tuple(moves))[0].number

    def undo(self, number: int | None = None) -> NoteChange:
        """Bring back what a change took away: that of a number, or the latest one.

        What stands in the place of a replaced file is kept as a change of its own.

        Raises:
            NotFound: there is no such change, or what was moved is not there.
            BadInput: something else has the path by now.
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
                self._put_back(change)
            case "moved":
                for before, now in reversed(change.moves):
                    writing.move(change.folder, now, before)
            case "deleted":
                _bring_back(self._place(change.number) / _WAS, change)
        shutil.rmtree(self._place(change.number), ignore_errors=True)
        return change

    def _put_back(self, change: NoteChange) -> None:
        data = (self._place(change.number) / _WAS).read_bytes()
        expected = writing.NEW
        with suppress(NotFound):
            now, _ = tree.read(change.folder, change.path)
            expected = tree.checksum(now)
            self.keep(NoteFolder(name="", path=change.folder), change.path, now, "replaced")
        writing.write(change.folder, change.path, data, expected=expected)

    def _begin(
        self,
        folder: NoteFolder,
        path: str,
        act: Act,
        *,
        moves: tuple[tuple[str, str], ...] = (),
        data: bytes | None = None,
    ) -> tuple[NoteChange, Path]:
        """Write down a change that is about to happen, or has; return it and its folder."""
        number = max(self._numbers(), default=0) + 1
        if number % TIDY_EVERY == 0:
            self._tidy()
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
                moves=moves,
            )
            create(place / _SAID, msgspec.json.encode(change))
            if data is not None:
                create(place / _WAS, data)
        except OSError as error:
            raise BadInput(
                f"{self._root} cannot be written: {error.strerror}",
                hint=remedy(error, "make it writable"),
            ) from error
        return change, place

    def _numbers(self) -> list[int]:
        if self._root is None or not self._root.is_dir():
            return []
        return sorted(int(each.name) for each in self._root.iterdir() if each.name.isdecimal())

    def _tidy(self) -> None:
        """Delete what was kept for long enough."""
        taken = 0
        for age, change in enumerate(self.all()):
            place = self._place(change.number)
            taken += sum(path.lstat().st_size for path in place.rglob("*"))
            is_old = self._now_ms() - change.at_ms > KEPT_MS
            if age and (is_old or taken > MOST_BYTES):
                shutil.rmtree(place, ignore_errors=True)

    def _place(self, number: int) -> Path:
        if self._root is None:
            raise BadInput("no home keeps what was in note folders")
        return self._root / str(number)


def _bring_back(was: Path, change: NoteChange) -> None:
    path = change.path
    try:
        with tree.opened_folder(change.folder, path, make=True) as (above, name):
            with suppress(FileNotFoundError):
                os.stat(name, dir_fd=above, follow_symlinks=False)
                raise BadInput(
                    f"there is a {path} in {change.folder} again", hint="move that away first"
                )
            shutil.move(was, f"{change.folder}/{path}")
    except OSError as error:
        raise tree.refused(path, error) from error
