"""Writes of note files: whole or not at all, and never over what somebody else wrote meanwhile.

A draft is written and synced beside the file under a hidden name. Where the system can, both then
change places in one step, and back if what was replaced is not what was expected. What lost is kept
beside the file under a hidden name. Elsewhere hard links, or a check and a rename, have to do.

What tools replaced, moved or deleted is kept under a number, a folder of `note-versions`:
`change.json` says what was done, `was` is what was there. A change is kept for `KEPT_MS`, and while
all of them have `MOST_BYTES`; the latest one is always kept.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from observer.core.disk import create
from observer.core.errors import BadInput, NoteConflict, NotFound, remedy
from observer.core.paths import Home, flush, make_private
from observer.core.value import Value, decode_json
from observer.notes.folders import tree
from observer.notes.folders.folders import NoteFolder

NEW = ""
"""The checksum that is expected where no file must be."""
MODE = 0o644
_NOREPLACE, _EXCHANGE = 1, 2
"""Source: RENAME_NOREPLACE and RENAME_EXCHANGE of renameat2(2)."""
_ONE_WRITER = threading.Lock()
"""Two that change places with one file would mistake each other for its editor."""
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK})
_DRAFT = re.compile(r"\.(?P<name>.+)\.observer-[0-9a-f]{12}\.(?:tmp|was-(?P<was>[0-9a-f]{12}))")
"""A draft, and one that changes places with a file, which is then the file as it was."""


def write(folder: str, path: str, data: bytes, *, expected: str) -> str:
    """Write a file of a note folder, and return its checksum; missing folders are made.

    `expected` is the checksum of what is replaced, `NEW` where no file must be. Raises:
    NoteConflict (`data` is kept beside it), BadInput (it cannot be written, is a link, too large).
    """
    if len(data) > tree.LARGEST_BYTES:
        raise BadInput(f"{path} would be larger than {tree.LARGEST_BYTES >> 20} MiB")
    try:
        with _ONE_WRITER, tree.opened_folder(folder, path, make=True) as (above, name):
            _replace(above, name, path, data, expected)
            flush(above)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise tree.refused(path, error) from error
        raise BadInput(
            f"{path} cannot be written: {error.strerror}",
            hint=remedy(error, "make the folder writable"),
        ) from error
    return tree.checksum(data)


def remove(folder: str, path: str, *, expected: str) -> None:
    """Delete a file. Raises: NoteConflict (it is another one, and stays), NotFound, BadInput."""
    data, _ = tree.read(folder, path)
    if tree.checksum(data) != expected:
        raise NoteConflict(f"{path} was changed meanwhile", hint="read it again first")
    try:
        with tree.opened_folder(folder, path) as (above, name):
            os.unlink(name, dir_fd=above)
            flush(above)
    except OSError as error:
        raise tree.refused(path, error) from error


def move(folder: str, path: str, target: str) -> None:
    """Give a file another path; folders are made. Raises: BadInput (it is taken), NotFound."""
    try:
        with (
            tree.opened_folder(folder, path) as (above, name),
            tree.opened_folder(folder, target, make=True) as (below, new_name),
        ):
            _take_name(above, name, below, new_name)
            flush(above)
    except FileExistsError as error:
        raise BadInput(f"there is a file {target} already", hint="choose another path") from error
    except OSError as error:
        raise tree.refused(path, error) from error


def move_folder(folder: str, path: str, target: str) -> list[tuple[str, str]]:
    """Give a folder another path, with all that is in it; return the paths before and after.

    Into a folder that is there it goes one by one; what has its name there already stays. Raises:
    BadInput (a file is there, or it lies in itself), NotFound.
    """
    try:
        move(folder, path, target)
    except BadInput:
        inner = [tree.names_in(folder, each) for each in (path, target)]
        if None in inner:
            raise
        moved = []
        for name in inner[0] or ():
            with suppress(BadInput):
                moved += move_folder(folder, f"{path}/{name}", f"{target}/{name}")
        with suppress(OSError), tree.opened_folder(folder, path) as (above, name):
            os.rmdir(name, dir_fd=above)
        return moved
    return [(path, target)]


def is_draft(path: str) -> bool:
    """Return True if a file is called like the draft of a writer."""
    return _DRAFT.fullmatch(path.rpartition("/")[2]) is not None


def remove_drafts(folder: str, paths: Iterable[str], *, before_s: float) -> None:
    """Remove old drafts that killed writers left; what somebody wrote meanwhile is kept."""
    for path in paths:
        with suppress(OSError), tree.opened_folder(folder, path) as (above, name):
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
            is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
            if not is_own or found.st_ctime >= before_s or not (draft := _DRAFT.fullmatch(name)):
                continue
            data = _read(above, name)
            if draft["was"] and not tree.checksum(data).startswith(draft["was"]):
                _keep(above, draft["name"], data)
            os.unlink(name, dir_fd=above)


def _replace(above: int, name: str, path: str, data: bytes, expected: str) -> None:
    mode = _check(above, name, path, data, expected)
    draft = f".{_short(name)}.observer-{secrets.token_hex(6)}.tmp"
    os.close(_written(above, draft, data, mode))
    try:
        if expected == NEW:
            _take_name(above, draft, above, name)
            return
        swapped = f"{draft.removesuffix('tmp')}was-{expected[:12]}"
        os.rename(draft, swapped, src_dir_fd=above, dst_dir_fd=above)
        draft = swapped
        if not _renamed(above, draft, above, name, _EXCHANGE):
            os.rename(draft, name, src_dir_fd=above, dst_dir_fd=above)
        elif tree.checksum(_read(above, draft)) != expected:
            _renamed(above, draft, above, name, _EXCHANGE)
            if _read(above, draft) != data:  # somebody wrote once more meanwhile
                _keep(above, name, _read(above, draft))
            raise _conflict(above, name, path, data)
    except FileExistsError as error:
        raise _conflict(above, name, path, data) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=above)


def _take_name(above: int, name: str, below: int, new_name: str) -> None:
    """Give a file a name that nothing has, as best the file system can, else FileExistsError."""
    if _renamed(above, name, below, new_name, _NOREPLACE):
        flush(below)
        return
    try:
        os.link(name, new_name, src_dir_fd=above, dst_dir_fd=below, follow_symlinks=False)
        flush(below)
        os.unlink(name, dir_fd=above)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        # The name is taken by an empty file, which nobody else replaces unseen.
        os.close(_written(below, new_name, b"", MODE))
        os.rename(name, new_name, src_dir_fd=above, dst_dir_fd=below)
        flush(below)


def _check(above: int, name: str, path: str, data: bytes, expected: str) -> int:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above)
    except FileNotFoundError as error:
        if expected == NEW:
            return MODE
        raise _conflict(above, name, path, data) from error
    with os.fdopen(handle, "rb") as file:
        if expected == NEW or tree.checksum(file.read(tree.LARGEST_BYTES + 1)) != expected:
            raise _conflict(above, name, path, data)
        return os.fstat(handle).st_mode & 0o7777


def _conflict(above: int, name: str, path: str, data: bytes) -> NoteConflict:
    """Keep what lost, and return the error that names it."""
    kept = _keep(above, name, data)
    return NoteConflict(
        f"{path} was changed meanwhile",
        hint=f"read it again, then repeat the change; what was to be written is kept as {kept}",
    )


def _keep(above: int, name: str, data: bytes) -> str:
    """Write what lost beside the file under a hidden name, and return that."""
    kept = f".{_short(name)}.conflict-{tree.checksum(data)[:12]}"
    with suppress(FileExistsError):
        os.close(_written(above, kept, data, MODE))
    return kept


def _short(name: str) -> str:
    """Return a name to which something can be added: names have 255 bytes at most."""
    return name.encode()[:200].decode(errors="ignore")


def _written(above: int, name: str, data: bytes, mode: int) -> int:
    handle = os.open(
        name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=above
    )
    try:
        os.fchmod(handle, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        flush(handle)
    except OSError:
        os.close(handle)
        os.unlink(name, dir_fd=above)
        raise
    return handle


def _read(above: int, name: str) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=above), "rb") as file:
        return file.read(tree.LARGEST_BYTES + 1)


def _renamed(above: int, name: str, below: int, new_name: str, flag: int) -> bool:
    """Rename a file as a flag says, in one step; False where the system cannot, else OSError."""
    rename = _renameat2()
    if rename is None:
        return False
    if rename(above, os.fsencode(name), below, os.fsencode(new_name), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), new_name)


@cache
def _renameat2() -> Any:  # noqa: ANN401 - a foreign function, or None
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # not Linux, or an old library
        return None


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
                write(change.folder, change.path, data, expected=expected)
            case "moved":
                for before, after in reversed(change.moves):
                    move(change.folder, after, before)
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
        """Note a change that is about to be made, with the file that it takes away, if it does.

        Raises: BadInput (it cannot be kept).
        """
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
        if self._root is None or not self._root.is_dir():
            return []
        return sorted(int(each.name) for each in self._root.iterdir() if each.name.isdecimal())

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
