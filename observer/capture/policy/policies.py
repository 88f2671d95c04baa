"""The policy in force at a root: read when its file has changed, and otherwise remembered."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

import msgspec

from observer.capture.policy.parsing import FILE, MOST_BYTES, Policy, parse, refused
from observer.capture.project.identity import main_folder
from observer.model import Place, Project
from observer.paths import is_inside

MOST_ROOTS = 512

_NONE = Policy()
_Stamp = tuple[int, int, int, int, int]


class Policies:
    """Looks policies up; a look that finds nothing new is one `lstat`. Thread-safe.

    The file is read as it lies in the work tree, committed or not, like `.gitignore`. A linked
    work tree without one has the policy of its main work tree. Folders below a root have none of
    their own. The file is never followed as a link, nor opened where it is no plain file.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, tuple[_Stamp, Policy]] = OrderedDict()

    def of(self, place: Place) -> Policy:
        """Return the policy of a place."""
        own = self.at(place.root)
        main = main_folder(place.common_dir)
        if own is not _NONE or main in {"", place.root, place.common_dir}:
            return own
        above = self.at(main)
        return above if above is _NONE else msgspec.structs.replace(above, root=place.root)

    def at(self, root: str) -> Policy:
        """Return the policy whose file is in a folder; one without restrictions if none is."""
        if not root:
            return _NONE
        try:
            found = os.lstat(f"{root}/{FILE}")
        except (FileNotFoundError, NotADirectoryError, ValueError):
            with self._lock:
                self._known.pop(root, None)
            return _NONE
        except OSError as error:
            return _unreadable(root, error)
        stamp = _stamp(found)
        known = self._known.get(root)
        if known and known[0] == stamp:
            return known[1]
        policy = _read(root, found)
        with self._lock:
            self._known[root] = (stamp, policy)
            self._known.move_to_end(root)
            while len(self._known) > MOST_ROOTS:
                self._known.popitem(last=False)
        return policy

    def unshared(self, projects: Iterable[Project], here: str = "") -> frozenset[int]:
        """Return the projects that are kept to themselves, but for the one around a folder.

        One whose policy cannot be used is among them; one whose folders are all gone is not.
        """
        return frozenset(
            project.id
            for project in projects
            if not any(is_inside(here, root) for root in project.roots)
            and any(map(self._is_unshared, project.roots))
        )

    def _is_unshared(self, root: str) -> bool:
        policy = self.at(root)
        return policy.problem is not None or policy.sharing == "none"

    def roots(self) -> list[str]:
        """Return the folders in which a policy was found when it was last looked for."""
        with self._lock:
            return list(self._known)


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(root: str, found: os.stat_result) -> Policy:
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a plain file"
        return refused(root, f"it is {kind}", hint="put a plain file in its place, or remove it")
    try:
        # What takes its place now must not be waited for, nor lead elsewhere.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with open(os.open(f"{root}/{FILE}", flags), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return _unreadable(root, error)
    if len(data) > MOST_BYTES:
        return refused(root, f"it is larger than {MOST_BYTES:,} bytes", hint="make it smaller")
    return parse(data, root)


def _unreadable(root: str, error: OSError) -> Policy:
    return refused(root, f"it cannot be read: {error.strerror}", hint="make it readable for you")
