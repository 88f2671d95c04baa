"""Which folders of this user are note folders: a list in the home, a JSON file.

It is a setting, no memory: a purge, a rebuild and a restored backup leave it alone.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

import msgspec

from observer.core.errors import BadInput, ConfigInvalid, NotFound, remedy
from observer.core.paths import Home, is_inside, make_private, read_plain
from observer.core.value import Value, decode_json
from observer.note_files.grammar import permalink_of
from observer.spool.files import replace

NAME_CHARS = 100
_SYSTEM, _MEMORY = ("/proc", "/sys", "/dev"), "/dev/shm/"  # noqa: S108 - named, not written to
"""What the kernel shows there are no files of a person's: some never end, some block a reader.
Folders in shared memory are ordinary ones."""


class NoteFolder(Value):
    """A folder with notes. `path` is absolute and real; `name` is unique.

    `project` is the uuid of the project that the notes belong to; empty for that of the git work
    tree around the folder, or none where there is none.
    """

    name: str
    path: str
    project: str = ""


class _Listed(Value):
    folders: tuple[NoteFolder, ...] = ()
    default: str = ""


class NoteFolders:
    """The list of note folders of a home. Safe to share between threads and processes.

    Args:
        home: whose; None where there are no note folders, and none can be added.
    """

    def __init__(self, home: Home | None) -> None:
        self._home = home

    def all(self) -> tuple[NoteFolder, ...]:
        """Return the note folders, by name.

        Raises:
            ConfigInvalid: the list cannot be read.
        """
        return self._read().folders

    def default(self) -> str:
        """Return the name of the note folder that is meant where none is named; empty for none.

        Raises:
            ConfigInvalid: as `all`.
        """
        return self._read().default

    def _read(self) -> _Listed:
        if self._home is None:
            return _Listed()
        try:
            return decode_json(read_plain(self._home.note_folders), _Listed)
        except FileNotFoundError:
            return _Listed()
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigInvalid(
                f"{self._home.note_folders} cannot be read: {error}",
                hint="mend it, or remove it and add the folders again",
            ) from error

    def named(self, name: str) -> NoteFolder:
        """Return a note folder by its name or its path.

        Raises:
            NotFound: there is none.
        """
        return _named(self.all(), name)

    def add(self, path: str, *, name: str = "", project: str = "") -> NoteFolder:
        """Add a folder, or return it if it is one already.

        Raises:
            BadInput: it is no folder, lies in another note folder or around one, or in the home;
                it is the user's home as a whole, or the system's; the name is taken.
        """
        if not path:
            raise BadInput("the folder has no name", hint="name the folder that holds the notes")
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError) as error:
            raise BadInput(f"there is no folder {path!r}", hint="make it first") from error
        if not Path(real).is_dir():
            raise BadInput(f"{path!r} is not a folder", hint="name the folder that it is in")
        with self._changing() as change:
            for each in change.before:
                if each.path == real and name in {"", each.name}:
                    return each
            change.check_place(real)
            made = NoteFolder(name=_free(name, real, change.before), path=real, project=project)
            change.after = (*change.before, made)
        return made

    def remove(self, name: str) -> NoteFolder:
        """Remove a folder from the list, and return it; its files stay as they are.

        Raises:
            NotFound: there is none of that name or path.
        """
        with self._changing() as change:
            gone = _named(change.before, name)
            change.after = tuple(each for each in change.before if each != gone)
        return gone

    def set_default(self, name: str) -> str:
        """Set the note folder that is meant where none is named, empty for none; return its name.

        Raises:
            NotFound: there is none of that name or path.
        """
        with self._changing() as change:
            change.default = _named(change.before, name).name if name else ""
        return change.default

    @contextmanager
    def _changing(self) -> Iterator[_Change]:
        """Keep other processes from changing the list meanwhile, and write what it becomes."""
        if self._home is None:
            raise BadInput("no home keeps note folders here")
        file = self._home.note_folders
        try:
            make_private(self._home.root)
            lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                changing = _Change(os.path.realpath(self._home.root), self._read())
                yield changing
                folders = tuple(sorted(changing.after, key=lambda each: each.name))
                is_there = changing.default in {each.name for each in folders}
                listed = _Listed(folders=folders, default=changing.default if is_there else "")
                replace(file, msgspec.json.format(msgspec.json.encode(listed), indent=2))
            finally:
                os.close(lock)
        except OSError as error:
            raise ConfigInvalid(
                f"{file} cannot be written: {error.strerror}",
                hint=remedy(error, "make its folder writable"),
            ) from error


class _Change:
    """The list before a change, and what is to become of it."""

    def __init__(self, home: str, listed: _Listed) -> None:
        self.home = home
        self.before = self.after = listed.folders
        self.default = listed.default

    def check_place(self, real: str) -> None:
        if any(is_inside(real, each) for each in _SYSTEM) and not real.startswith(_MEMORY):
            raise BadInput(
                f"{real} is the system's, and holds no notes",
                hint="name the folder that holds the notes",
            )
        if is_inside(os.path.realpath(Path.home()), real):
            raise BadInput(
                f"{real} is a home as a whole", hint="name the folder in it that holds the notes"
            )
        if is_inside(real, self.home) or is_inside(self.home, real):
            raise BadInput(
                f"{real} holds observer's own files", hint="name the folder that holds the notes"
            )
        for each in self.before:
            if is_inside(real, each.path) or is_inside(each.path, real):
                raise BadInput(
                    f"{real} and the note folder {each.path} are one inside the other",
                    hint=f"remove that one first: observer note folder remove {each.name}",
                )


def _named(known: Sequence[NoteFolder], name: str) -> NoteFolder:
    real = name
    with suppress(OSError, ValueError):
        real = os.path.realpath(name)
    for each in known:
        if each.name == name or each.path in {name, real}:
            return each
    names = [each.name for each in known]
    near = get_close_matches(name[:200], names, n=3) or names[:3]
    meant = f"name one, such as {', '.join(near)}; " if near else ""
    raise NotFound(f"no note folder {name[:200]!r}", hint=f"{meant}observer note folder lists them")


def _free(name: str, path: str, known: Sequence[NoteFolder]) -> str:
    taken = {each.name for each in known}
    if name:
        if permalink_of(name) != name or "/" in name or len(name) > NAME_CHARS:
            raise BadInput(
                f"{name[:NAME_CHARS]!r} cannot name a note folder",
                hint="use lower-case letters, digits and hyphens",
            )
        if name in taken:
            raise BadInput(f"another note folder is called {name!r}", hint="use another name")
        return name
    base = permalink_of(Path(path).name.replace("/", "-"))[:NAME_CHARS] or "notes"
    number = 1
    while (free := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    return free
