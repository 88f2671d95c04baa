"""The policy of a root: its file, cached until that changes, and how long events are kept.

A policy only asks for retention: the user's settings decide. What settles other events (commits,
the begin and end of sessions) stays as long as the longest of them.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from threading import Lock
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from observer.core.config import RETAINED, Settings
from observer.core.model import Place, Project
from observer.core.paths import is_inside
from observer.core.routes import SAID
from observer.core.value import Value
from observer.projects import main_folder

_Match = Callable[[str], re.Match[str] | None]
_ANY_DEPTH = "**"


class PathPattern:
    """A glob relative to the root of a work tree.

    `*`, `?` and `[a-z]` stay within one folder; `**` stands for any number of folders. A pattern
    without a slash before its end matches at any depth; with one at its end folders only. What
    matches a folder matches everything below it. Case counts. Raises: ValueError (what is wrong).
    """

    def __init__(self, text: str) -> None:
        names = [name for name in text.split("/") if name not in {"", "."}]
        if problem := _problem_with(text, names):
            raise ValueError(problem)
        if "/" not in text.rstrip("/"):
            names.insert(0, _ANY_DEPTH)
        if names[-1] == _ANY_DEPTH:
            names[-1] = "*"  # `docs/**` is what is in docs, not docs itself
        steps = tuple(None if name == _ANY_DEPTH else _matcher(name) for name in names)
        self._folder = (*steps, None)
        self._file = (*steps, _matcher("*"), None) if text.endswith("/") else self._folder

    def matches(self, names: Sequence[str], *, is_folder: bool = False) -> bool:
        """Return True if a path, by the names along it, or a folder around it matches."""
        steps = self._folder if is_folder else self._file
        at = step = 0
        resume: tuple[int, int] | None = None
        while at < len(names):
            match = steps[step] if step < len(steps) else (lambda _: None)
            if match is None:
                step += 1
                resume = (at, step)
            elif match(names[at]):
                at, step = at + 1, step + 1
            elif resume:
                at, step = resume[0] + 1, resume[1]
                resume = (at, step)
            else:
                return False
        return all(match is None for match in steps[step:])


def _problem_with(text: str, names: Sequence[str]) -> str:
    if text.startswith("!"):
        return "no pattern can bring back what another one excludes"
    if ".." in names:
        return "it leads out of the repository"
    if "\\" in text or not text.isprintable():
        return "backslashes and control characters are not supported"
    return "" if names else "it names nothing"


@lru_cache(maxsize=1024)
def _matcher(name: str) -> _Match:
    # What `translate` makes has atomic groups: no name can make it backtrack without end.
    return re.compile(translate(name)).match


FILE = ".observer.toml"
MOST_BYTES = 32 << 10

KINDS = (
    *("prompt", "reply", "file-write", "file-read", "command", "search", "delegation"),
    *("tool-use", "commit", "custom", "output"),
)
"""What `never` may name: kinds of events, and `output`, the output of commands and tools."""

MOST_PATTERNS = 200
MOST_KNOWN = 4096
PATH_CHARACTERS = 4096
"""No file has a longer path."""

_LINE = re.compile(r"at line (\d+)")
_KEY = re.compile(r" - at `\$\.(\w+)")

_EXPECTED = {
    "exclude": f"a list of at most {MOST_PATTERNS} patterns, each of at most 256 characters",
    "never": "a list of kinds",
    "retention_days": "a number of days from 1 to 36,500",
    "name": "of at most 40 letters, digits, dots, hyphens and underscores",
    "sharing": '"all" or "none"',
}
"""What each key must be."""


class _Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file."""

    exclude: Annotated[
        tuple[Annotated[str, Meta(max_length=256)], ...], Meta(max_length=MOST_PATTERNS)
    ] = ()
    never: frozenset[str] = frozenset()
    retention_days: Annotated[int, Meta(ge=1, le=36_500)] | None = None
    # What a repository may be called where repositories are kept: neither escapes nor sentences.
    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,39}\Z")] = ""
    sharing: Literal["all", "none"] = "all"


class PolicyProblem(Value):
    """Why a policy cannot be used: the file, its line (0 for the whole), and what to do."""

    path: str
    found: str
    hint: str
    line: int = 0

    def __str__(self) -> str:
        """Return where it is and what was found there."""
        return f"{self.path}{f', line {self.line}' if self.line else ''}: {self.found}"


class Policy(_Written, frozen=True, kw_only=True):
    """What is in force in one work tree; the empty one restricts nothing.

    Patterns count from `root`, the work tree. After `retention_days` captured events may be
    deleted; None leaves it to the user's settings. A `name` of "" leaves the folder's; `sharing`
    of "none" keeps what was captured from language models and other projects. Where there is a
    `problem` nothing is recorded of the work tree: what it was to keep out is unknown.
    """

    root: str = ""
    problem: PolicyProblem | None = None

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Return True if nothing is recorded of a file, named by its path from the root."""
        return bool(self.excluding(path, is_folder=is_folder))

    def excluding(self, path: str, *, is_folder: bool = False) -> str:
        """Return the first pattern that excludes a path, "" if none does."""
        if not self.exclude or len(path) > PATH_CHARACTERS:
            return ""
        return _excluding(self.exclude, path, is_folder)


@lru_cache(maxsize=MOST_KNOWN)  # outputs name the same files again and again
def _excluding(patterns: tuple[str, ...], path: str, is_folder: bool) -> str:  # noqa: FBT001 - a key
    names = [name for name in path.split("/") if name not in {"", "."}]
    found = (one for one in patterns if _pattern(one).matches(names, is_folder=is_folder))
    return next(found, "")


_pattern = lru_cache(maxsize=1024)(PathPattern)


def parse_policy(data: bytes, root: str) -> Policy:
    """Return the policy that a file's bytes state; one with a `problem` if they state none."""
    path = f"{root}/{FILE}"
    try:
        text = data.decode()
        values = tomllib.loads(text)
    except UnicodeDecodeError:
        return unusable_policy(root, "it is not valid UTF-8", hint=f"save {path} as UTF-8")
    except RecursionError:
        return unusable_policy(root, "it is nested too deeply", hint=f"correct {path}")
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        return unusable_policy(
            root, "it is not valid TOML", hint="correct or remove that line", line=line
        )
    return _checked(values, text, root)


def unusable_policy(root: str, found: str, *, hint: str, line: int = 0) -> Policy:
    """Return the policy of a file that cannot be used."""
    problem = PolicyProblem(path=f"{root}/{FILE}", found=found, hint=hint, line=line)
    return Policy(root=root, problem=problem)


def _checked(values: dict[str, Any], text: str, root: str) -> Policy:
    try:
        written = msgspec.convert(values, _Written)
    except msgspec.ValidationError as error:
        unknown = [key for key in values if key not in _EXPECTED]
        at = _KEY.search(str(error))
        key = at[1] if at else unknown[0]
        if expected := _EXPECTED.get(key):
            found, hint = f"{key} must be {expected}", f"correct {key}"
        else:
            found = f"the key {_shown(key)} is unknown"
            hint = f"the keys are {', '.join(_EXPECTED)}"
        return unusable_policy(root, found, hint=hint, line=_line_of(key, text))
    for kind in sorted(written.never.difference(KINDS)):
        hint = f"the kinds are {', '.join(KINDS)}"
        found = f"never: {_shown(kind)} is not a kind of event"
        return unusable_policy(root, found, hint=hint, line=_line_of(kind, text, quoted=True))
    for pattern in written.exclude:
        try:
            PathPattern(pattern)
        except ValueError as error:
            found = f"exclude: {_shown(pattern)} cannot be used: {error}"
            line = _line_of(pattern, text, quoted=True)
            return unusable_policy(root, found, hint="correct or remove that pattern", line=line)
    return Policy(root=root, **msgspec.structs.asdict(written))


def _shown(text: str) -> str:
    """Return a text of the file so that a terminal and a reader take it as quoted."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _line_of(text: str, within: str, *, quoted: bool = False) -> int:
    """Return the first line with a key, or a string in quotes; 0 if it is written otherwise."""
    wanted = rf"""["']{re.escape(text)}["']""" if quoted else rf"""^\s*["']?{re.escape(text)}\b"""
    return next(
        (number for number, line in enumerate(within.splitlines(), 1) if re.search(wanted, line)), 0
    )


MOST_ROOTS = 512

_NONE = Policy()
_Stamp = tuple[int, int, int, int, int]


class Policies:
    """Looks policies up; a look that finds nothing new is one `lstat`. Thread-safe.

    The file counts as it lies in the work tree, committed or not; a linked work tree without one
    has that of its main work tree. It is never followed as a link, nor opened if not a plain file.
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
        stamp = (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
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
        """Return projects kept to themselves, by a policy or a broken one, but the one here."""
        return frozenset(
            project.id
            for project in projects
            if not any(is_inside(here, root) for root in project.roots)
            and any(one.problem or one.sharing == "none" for one in map(self.at, project.roots))
        )

    def roots(self) -> list[str]:
        """Return the folders in which a policy was found when it was last looked for."""
        with self._lock:
            return list(self._known)


def _read(root: str, found: os.stat_result) -> Policy:
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a plain file"
        hint = "put a plain file in its place, or remove it"
        return unusable_policy(root, f"it is {kind}", hint=hint)
    try:
        # What takes its place now must not be waited for, nor lead elsewhere.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with open(os.open(f"{root}/{FILE}", flags), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return _unreadable(root, error)
    if len(data) > MOST_BYTES:
        found_size = f"it is larger than {MOST_BYTES:,} bytes"
        return unusable_policy(root, found_size, hint="make it smaller")
    return parse_policy(data, root)


def _unreadable(root: str, error: OSError) -> Policy:
    found = f"it cannot be read: {error.strerror}"
    return unusable_policy(root, found, hint="make it readable for you")


DAY_MS = 86_400_000
FOR_EVER = 1 << 40
"""Days: longer than any clock reaches back."""
_TOOLS = frozenset(("command", "file-write", "file-read", "search", "tool-use"))


class Retention:
    """What is too old to be kept, by whole UTC days, and, by type, before when it was `dropped`."""

    def __init__(self, settings: Settings, dropped: Mapping[str, int] | None = None) -> None:
        pairs = (one.split("=") for one in settings.retention_by_type)
        self._own = {name: int(days) for name, days in pairs}
        self._days = settings.retention_days
        self._by_folder = days_by_folder(settings)
        self._dropped = dropped or {}

    def is_expired(self, kind: str, at_ms: int, *, now_ms: int, at_most: int) -> bool:
        """Return True if an event is older than kept; `at_most` are its project's days."""
        if kind in SAID:
            return False
        if at_ms < self._dropped.get(kind, 0):
            return True
        return at_ms < now_ms - now_ms % DAY_MS - self.days(kind, at_most=at_most) * DAY_MS

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
        return max(now_ms - now_ms % DAY_MS - shortest * DAY_MS, *self._dropped.values(), 0)

    def of_folders(self, *roots: str) -> int:
        """Return for how many days what was captured in any of some roots is kept, at most."""
        return min((self._by_folder.get(root) or FOR_EVER for root in roots), default=FOR_EVER)


def days_by_folder(settings: Settings) -> dict[str, int]:
    """Return for how many days at most what was captured is kept, by the root of a repository."""
    pairs = (one.rpartition("=") for one in settings.retention_by_folder)
    return {root.rstrip("/"): int(days) for root, _, days in pairs}


def asked_for(policies: Policies, roots: Iterable[str], settings: Settings) -> str:
    """Return what policies ask to delete beyond what was agreed, for `observer config set`."""
    agreed = days_by_folder(settings)
    asked = ((root, policies.at(root).retention_days) for root in sorted(roots))
    more = {root: days for root, days in asked if days and agreed.get(root, FOR_EVER) > days}
    wanted = (f"{root}={days}" for root, days in (agreed | more).items())
    return shlex.join(("retention_by_folder", *wanted)) if more else ""
