"""The files of a note folder, without ever leaving it: no link is followed, no `..` leads out.

Hidden files and folders do not exist here. A write never replaces what somebody else wrote
meanwhile: where the system can, file and hidden draft change places in one step, and back if what
was replaced is not what was expected. What lost is kept beside the file under a hidden name.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple

from observer.core.errors import BadInput, NoteConflict, NotFound, remedy
from observer.core.paths import flush

ENDS = (".md", ".markdown")
LARGEST_BYTES = 2 << 20
"""A larger file is no note that somebody reads."""
PATH_BYTES = 1_000
NAME_BYTES = 255

_REFUSED = {errno.EACCES, errno.EPERM}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class FileStat(NamedTuple):
    """What the file system says of a file."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int


class Skipped(NamedTuple):
    """A file that is not read as a note, and why."""

    path: str
    reason: str


def stem_of(path: str) -> str:
    """Return the name of a file without its folder and its ending."""
    return path.rpartition("/")[2].rpartition(".")[0]


def is_note(path: str) -> bool:
    """Return True if a path inside a folder may be a note: Markdown, and nothing of it hidden."""
    return path.lower().endswith(ENDS) and path[0] != "." and "/." not in path


def check_path(path: str) -> str:
    """Return a path in a note folder as it is stored. Raises: BadInput (it leads out, is none)."""
    names = path.replace("\\", "/").split("/")
    plain = [name for name in names if name not in {"", "."}]
    if path.startswith("/") or ".." in plain or not plain or "\0" in path:
        raise BadInput(f"{path[:200]!r} is not a path inside the folder", hint="leave `..` out")
    if any(name[0] == "." for name in plain):
        raise BadInput(f"{path[:200]!r} is hidden", hint="hidden files are left alone")
    try:
        is_long = (
            len(os.fsencode(path)) > PATH_BYTES
            or max(len(name.encode()) for name in plain) > NAME_BYTES
        )
    except UnicodeEncodeError as error:
        raise BadInput(f"{path[:200]!r} is not valid UTF-8") from error
    if is_long or not "".join(plain).isprintable():
        raise BadInput(f"{path[:200]!r} cannot name a file", hint="use a shorter, printable name")
    return "/".join(plain)


def read(folder: str, path: str) -> tuple[bytes, FileStat]:
    """Return a file's bytes, and what the file system says of it.

    Raises: NotFound, BadInput (it is a link, no plain file, too large, or cannot be read).
    """
    try:
        with opened_folder(folder, path) as (above, name):
            handle = os.open(name, _FILE, dir_fd=above)
    except OSError as error:
        raise refused(path, error) from error
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise BadInput(f"{path} is not a plain file", hint="name a file; list what is there")
    with os.fdopen(handle, "rb") as file:
        if found.st_size > LARGEST_BYTES:
            raise BadInput(f"{path} is larger than {LARGEST_BYTES >> 20} MiB", hint="split it")
        try:
            data = file.read(LARGEST_BYTES + 1)
        except OSError as error:
            raise refused(path, error) from error
        return data, stat_of(found)


def refused(path: str, error: OSError) -> NotFound | BadInput:
    """Return what to raise for a file that the system did not open."""
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return NotFound(f"no file {path}", hint="list what is there")
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return BadInput(f"{path} is a symbolic link", hint="links are not followed")
    return BadInput(f"{path}: {error.strerror}", hint=remedy(error, "make it readable"))


@contextmanager
def opened_folder(folder: str, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Lend the descriptor of the folder of a path, none on its way a link, and the last name."""
    *above, name = path.split("/")
    handle = os.open(folder, _FOLDER)
    try:
        for each in above:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(each, dir_fd=handle)
            inner = os.open(each, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def checksum(data: bytes) -> str:
    """Return the checksum of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def stat_of(found: os.stat_result) -> FileStat:
    """Return the part of a stat that says whether a file has changed."""
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Walk:
    """What a walk found, by relative paths; `unread` folders could not be listed."""

    def __init__(self) -> None:
        self.files: dict[str, FileStat] = {}
        self.folders: list[str] = []
        self.skipped: list[Skipped] = []
        self.unread: list[str] = []
        self.hidden: list[str] = []


def names_in(folder: str, path: str) -> list[str] | None:
    """Return what is in a folder inside a note folder, hidden or not; None if it is no folder."""
    try:
        with opened_folder(folder, f"{path}/.") as (inside, _), os.scandir(inside) as entries:
            return sorted(entry.name for entry in entries)
    except OSError:
        return None


def all_files(folder: str, under: str) -> list[str]:
    """Return all that is in a folder inside a note folder but folders: hidden, ignored, links."""
    found = []
    for name in names_in(folder, under) or ():
        path = f"{under}/{name}"
        found += [path] if names_in(folder, path) is None else all_files(folder, path)
    return found


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Return True if a path lies in one of some folders."""
    return any(path.startswith(f"{folder}/") for folder in folders)


def walk(folder: str, *, ignores: Callable[..., bool]) -> Walk:
    """Return the notes of a folder but what `ignores(path, is_folder=…)`. Raises: NotFound."""
    found = Walk()
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            entries = sorted(os.scandir(f"{folder}/{here}"), key=lambda entry: entry.name)
        except OSError as error:
            if not here:
                do = "make it readable" if error.errno in _REFUSED else "mount it again"
                raise NotFound(
                    f"the note folder {folder} cannot be read: {error.strerror}",
                    hint=f"{do}, or: observer note folder remove {folder}",
                ) from error
            found.unread.append(here)
            found.skipped.append(Skipped(f"{here}/", str(error.strerror)))
            continue
        found.folders.append(here)
        for entry in entries:
            path = f"{here}/{entry.name}" if here else entry.name
            if entry.name[0] == ".":
                found.hidden.append(path)
            elif not ignores(path, is_folder=entry.is_dir()):
                _take(found, entry, path, waiting)
    return found


def other_files(
    folder: str, under: str, *, depth: int, ignores: Callable[..., bool]
) -> dict[str, int]:
    """Return the files that are no notes, `depth` folders deep, with when they were modified.

    Links, and what is hidden, ignored or has an unusable name, are left out.
    """
    found: dict[str, int] = {}
    with (
        suppress(OSError, ValueError),
        opened_folder(folder, f"{under}/.".lstrip("/")) as (above, _),
        os.scandir(above) as entries,
    ):
        for entry in entries:
            path = f"{under}/{entry.name}" if under else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if unusable_name(path) or ignores(path, is_folder=is_folder):
                continue
            if is_folder and depth > 1:
                found |= other_files(folder, path, depth=depth - 1, ignores=ignores)
            elif entry.is_file(follow_symlinks=False) and not is_note(path):
                found[path] = entry.stat(follow_symlinks=False).st_mtime_ns // 10**6
    return found


def _take(found: Walk, entry: os.DirEntry[str], path: str, waiting: list[str]) -> None:
    try:
        if entry.is_symlink():
            if is_note(path):
                found.skipped.append(Skipped(path, "a symbolic link"))
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(path)
        elif is_note(path) and entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            if reason := unusable_name(path):
                found.skipped.append(Skipped(ascii(path), reason))
            elif status.st_size > LARGEST_BYTES:
                found.skipped.append(Skipped(path, f"larger than {LARGEST_BYTES >> 20} MiB"))
            else:
                found.files[path] = stat_of(status)
    except OSError:  # it went while it was looked at
        return


def unusable_name(path: str) -> str:
    """Return why a path that is there cannot be that of a note, or nothing."""
    is_plain = path.isascii() and path.isprintable() and len(path) < NAME_BYTES
    if is_plain and path[0] != "." and "/." not in path and "\\" not in path:
        return ""
    try:
        check_path(path)
    except BadInput as error:
        return error.hint or "its name is not valid UTF-8"
    return ""


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
    if len(data) > LARGEST_BYTES:
        raise BadInput(f"{path} would be larger than {LARGEST_BYTES >> 20} MiB")
    try:
        with _ONE_WRITER, opened_folder(folder, path, make=True) as (above, name):
            _replace(above, name, path, data, expected)
            flush(above)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refused(path, error) from error
        raise BadInput(
            f"{path} cannot be written: {error.strerror}",
            hint=remedy(error, "make the folder writable"),
        ) from error
    return checksum(data)


def remove(folder: str, path: str, *, expected: str) -> None:
    """Delete a file. Raises: NoteConflict (it is another one, and stays), NotFound, BadInput."""
    data, _ = read(folder, path)
    if checksum(data) != expected:
        raise NoteConflict(f"{path} was changed meanwhile", hint="read it again first")
    try:
        with opened_folder(folder, path) as (above, name):
            os.unlink(name, dir_fd=above)
            flush(above)
    except OSError as error:
        raise refused(path, error) from error


def move(folder: str, path: str, target: str) -> None:
    """Give a file another path; folders are made. Raises: BadInput (it is taken), NotFound."""
    try:
        with (
            opened_folder(folder, path) as (above, name),
            opened_folder(folder, target, make=True) as (below, new_name),
        ):
            _take_name(above, name, below, new_name)
            flush(above)
    except FileExistsError as error:
        raise BadInput(f"there is a file {target} already", hint="choose another path") from error
    except OSError as error:
        raise refused(path, error) from error


def move_folder(folder: str, path: str, target: str) -> list[tuple[str, str]]:
    """Give a folder another path, with all that is in it; return the paths before and after.

    Into a folder that is there it goes one by one. Raises: BadInput (a file is there), NotFound.
    """
    try:
        move(folder, path, target)
    except BadInput:
        inner = [names_in(folder, each) for each in (path, target)]
        if None in inner:
            raise
        moved = []
        for name in inner[0] or ():
            with suppress(BadInput):
                moved += move_folder(folder, f"{path}/{name}", f"{target}/{name}")
        with suppress(OSError), opened_folder(folder, path) as (above, name):
            os.rmdir(name, dir_fd=above)
        return moved
    return [(path, target)]


def remove_drafts(folder: str, paths: Iterable[str], *, before_s: float) -> None:
    """Remove old drafts that killed writers left; what somebody wrote meanwhile is kept."""
    for path in paths:
        if not (draft := _DRAFT.fullmatch(path.rpartition("/")[2])):
            continue
        with suppress(OSError), opened_folder(folder, path) as (above, name):
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
            is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
            if not is_own or found.st_ctime >= before_s:
                continue
            data = _read(above, name)
            if draft["was"] and not checksum(data).startswith(draft["was"]):
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
        elif checksum(_read(above, draft)) != expected:
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
        if expected == NEW or checksum(file.read(LARGEST_BYTES + 1)) != expected:
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
    kept = f".{_short(name)}.conflict-{checksum(data)[:12]}"
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
        return file.read(LARGEST_BYTES + 1)


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
