"""The policy in force at a root, cached until its file changes, and how long events are kept.

Retention goes by type, by repository, and by what had to make room. A policy only asks for it: the
user's settings decide. Notes and what was done to them
never expire. What settles other events (commits, the begin and end of sessions) stays as long as
the longest of them: without a commit its edits would count as not committed.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

import msgspec

from observer.core.config import RETAINED, Settings
from observer.core.model import Place, Project
from observer.core.paths import is_inside
from observer.policy.parse import FILE, MOST_BYTES, Policy, parse_policy, unusable_policy
from observer.projects.identity import main_folder

MOST_ROOTS = 512

_NONE = Policy()
_Stamp = tuple[int, int, int, int, int]


class Policies:
    """Looks policies up; a look that finds nothing new is one `lstat`. Thread-safe.

    The file is read as it lies in the work tree, committed or not, like `.gitignore`. A linked
    work tree without one has the policy of its main work tree. Folders below a root have none of
    their own. The file is never followed as a link, nor opened where it is not a plain file.
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
        return unusable_policy(
            root, f"it is {kind}", hint="put a plain file in its place, or remove it"
        )
    try:
        # What takes its place now must not be waited for, nor lead elsewhere.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with open(os.open(f"{root}/{FILE}", flags), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return _unreadable(root, error)
    if len(data) > MOST_BYTES:
        return unusable_policy(
            root, f"it is larger than {MOST_BYTES:,} bytes", hint="make it smaller"
        )
    return parse_policy(data, root)


def _unreadable(root: str, error: OSError) -> Policy:
    return unusable_policy(
        root, f"it cannot be read: {error.strerror}", hint="make it readable for you"
    )


DAY_MS = 86_400_000
FOR_EVER = 1 << 40
"""Days: longer than any clock reaches back."""
ON_PURPOSE = frozenset(
    ("remember", "revise", "approve", "forget", "undo", "enriched", "triage")
)  # fmt: skip
_TOOLS = frozenset(("command", "file-write", "file-read", "search", "tool-use"))


class Retention:
    """What is too old to be kept, by whole days (UTC): nothing expires between two midnights.

    Args:
        settings: days by type, and by repositories, which can only shorten.
        dropped: by type the time before which everything had to make room.
    """

    def __init__(self, settings: Settings, dropped: Mapping[str, int] | None = None) -> None:
        pairs = (one.split("=") for one in settings.retention_by_type)
        self._own = {name: int(days) for name, days in pairs}
        self._days = settings.retention_days
        self._by_folder = days_by_folder(settings)
        self._dropped = dropped or {}

    def is_expired(self, kind: str, at_ms: int, *, now_ms: int, at_most: int) -> bool:
        """Return True if an event is older than is kept; `at_most` are the days of its project.

        An intent is of the kind of what it intends.
        """
        if kind in ON_PURPOSE:
            return False
        if at_ms < self._dropped.get(kind, 0):
            return True
        return at_ms < _midnight(now_ms) - self.days(kind, at_most=at_most) * DAY_MS

    def days(self, kind: str, *, at_most: int = FOR_EVER) -> int:
        """Return for how many days events of a type are kept, `FOR_EVER` for ever."""
        if kind in RETAINED:
            return min(self._own.get(kind, self._days) or FOR_EVER, at_most)
        if kind == "outcome":  # whose intent is gone
            return min(self.days(name, at_most=at_most) for name in _TOOLS)
        return max(self.days(name, at_most=at_most) for name in RETAINED)

    def before_ms(self, now_ms: int, *, at_most: Iterable[int] = ()) -> int:
        """Return a time from which on nothing is expired, whatever it is."""
        shortest = min((self.days(name) for name in RETAINED), default=FOR_EVER)
        shortest = min(shortest, *at_most, FOR_EVER)
        return max(_midnight(now_ms) - shortest * DAY_MS, *self._dropped.values(), 0)

    def of_project(self, project: Project) -> int:
        """Return for how many days what was captured in a project's work trees is kept, at most."""
        return self.of_folders(*project.roots, *map(main_folder, project.common_dirs))

    def of_folders(self, *roots: str) -> int:
        """Return for how many days what was captured in any of some roots is kept, at most."""
        return min((self._by_folder.get(root) or FOR_EVER for root in roots), default=FOR_EVER)


def days_by_folder(settings: Settings) -> dict[str, int]:
    """Return for how many days at most what was captured is kept, by the root of a repository."""
    pairs = (one.rpartition("=") for one in settings.retention_by_folder)
    return {root.rstrip("/"): int(days) for root, _, days in pairs}


def asked_for(policies: Policies, roots: Iterable[str], settings: Settings) -> str:
    """Return what policies ask to delete and the user has not agreed to; empty for nothing.

    It is a limit as `observer config set` takes it, together with what was agreed before.
    """
    agreed = days_by_folder(settings)
    asked = ((root, policies.at(root).retention_days) for root in sorted(roots))
    more = {root: days for root, days in asked if days and agreed.get(root, FOR_EVER) > days}
    wanted = (f"{root}={days}" for root, days in (agreed | more).items())
    return shlex.join(("retention_by_folder", *wanted)) if more else ""


def _midnight(now_ms: int) -> int:
    return now_ms - now_ms % DAY_MS
