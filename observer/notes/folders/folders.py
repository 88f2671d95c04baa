"""Which folders of this user are note folders, whose their notes are, and what must not be stored.

The list is a JSON file in the home, which a purge, a rebuild and a restored backup leave alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

import msgspec

from observer.core.disk import locked, replace
from observer.core.errors import BadInput, ConfigInvalid, NotFound, ObserverError, remedy
from observer.core.model import Place, Project
from observer.core.paths import Home, is_inside, make_private, read_head, read_plain
from observer.core.value import Value, decode_json
from observer.git.blame import last_commits, trunk_times
from observer.git.process import uncommitted_paths
from observer.notes.folders import tree
from observer.notes.folders.grammar import permalink_of
from observer.notes.values import free_name
from observer.projects import PlaceCache, match_project, missing_roots, new_project
from observer.projects.policy import Policies
from observer.projects.policy.apply import Exclusion
from observer.projects.policy.policies import PathPattern
from observer.store.writer import Writer

NAME_CHARS = 100
_SYSTEM, _MEMORY = ("/proc", "/sys", "/dev"), "/dev/shm/"  # noqa: S108 - named, not written to
"""What the kernel shows there are no files of a person's: some never end, some block a reader.
Folders in shared memory are ordinary ones."""


class NoteFolder(Value):
    """A folder with notes. `path` is absolute and real; `name` is unique.

    `project` is the uuid of that of the notes; empty for that of the git work tree around, if any.
    """

    name: str
    path: str
    project: str = ""


class FolderList(msgspec.Struct):
    """The note folders, by name, and the name of that meant where none is named, or ""."""

    folders: tuple[NoteFolder, ...] = ()
    default: str = ""

    def named(self, name: str) -> NoteFolder:
        """Return a note folder by its name or its path. Raises: NotFound (there is none)."""
        real = name
        with suppress(OSError, ValueError):
            real = os.path.realpath(name)
        for each in self.folders:
            if each.name == name or each.path in {name, real}:
                return each
        names = [each.name for each in self.folders]
        near = ", ".join(get_close_matches(name[:200], names, n=3) or names[:3])
        meant = f"name one, such as {near}; " if near else ""
        raise NotFound(
            f"no note folder {name[:200]!r}", hint=f"{meant}observer note folder lists them"
        )


class NoteFolders:
    """The list of note folders of a home, if there is one; shared by threads and processes."""

    def __init__(self, home: Home | None) -> None:
        self._home = home

    def all(self) -> tuple[NoteFolder, ...]:
        """Return the note folders, by name. Raises: ConfigInvalid (the list cannot be read)."""
        return self.read().folders

    def named(self, name: str) -> NoteFolder:
        """Return a note folder by its name or its path. Raises: NotFound (there is none)."""
        return self.read().named(name)

    def read(self) -> FolderList:
        """Return the list as it is now; raises as `all`."""
        if self._home is None:
            return FolderList()
        try:
            return decode_json(read_plain(self._home.note_folders), FolderList)
        except FileNotFoundError:
            return FolderList()
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigInvalid(
                f"{self._home.note_folders} cannot be read: {error}",
                hint="mend it, or remove it and add the folders again",
            ) from error

    def add(self, path: str, *, name: str = "", project: str = "") -> NoteFolder:
        """Add a folder, or return it if it is one already. Raises: BadInput."""
        if not path:
            raise BadInput("the folder has no name", hint="name the folder that holds the notes")
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError) as error:
            raise BadInput(f"there is no folder {path!r}", hint="make it first") from error
        if not Path(real).is_dir():
            raise BadInput(f"{path!r} is not a folder", hint="name the folder that it is in")
        with self._changing() as listed:
            for each in listed.folders:
                if each.path == real and name in {"", each.name}:
                    return each
            _check_place(real, listed.folders, self._home)
            made = NoteFolder(name=_free(name, real, listed.folders), path=real, project=project)
            listed.folders += (made,)
        return made

    def remove(self, name: str) -> NoteFolder:
        """Remove a folder from the list, and return it; files stay. Raises: NotFound."""
        with self._changing() as listed:
            gone = listed.named(name)
            listed.folders = tuple(each for each in listed.folders if each != gone)
        return gone

    def set_default(self, name: str) -> str:
        """Set the folder that is meant where none is named, "" for none. Raises: NotFound."""
        with self._changing() as listed:
            listed.default = listed.named(name).name if name else ""
        return listed.default

    @contextmanager
    def _changing(self) -> Iterator[FolderList]:
        if self._home is None:
            raise BadInput("no home keeps note folders here")
        file = self._home.note_folders
        try:
            make_private(self._home.root)
            with locked(file.with_name(f"{file.name}.lock")):
                listed = self.read()
                yield listed
                listed.folders = tuple(sorted(listed.folders, key=lambda each: each.name))
                if listed.default not in {each.name for each in listed.folders}:
                    listed.default = ""
                replace(file, msgspec.json.format(msgspec.json.encode(listed), indent=2))
        except OSError as error:
            raise ConfigInvalid(
                f"{file} cannot be written: {error.strerror}",
                hint=remedy(error, "make its folder writable"),
            ) from error


def _check_place(real: str, known: Sequence[NoteFolder], home: Home | None) -> None:
    ours = os.path.realpath(home.root) if home else real
    if any(is_inside(real, each) for each in _SYSTEM) and not real.startswith(_MEMORY):
        problem = "is the system's, and holds no notes"
    elif is_inside(os.path.realpath(Path.home()), real):
        problem = "is a home as a whole"
    elif is_inside(real, ours) or is_inside(ours, real):
        problem = "holds observer's own files"
    else:
        problem = ""
    if problem:
        raise BadInput(f"{real} {problem}", hint="name the folder that holds the notes")
    for each in known:
        if is_inside(real, each.path) or is_inside(each.path, real):
            raise BadInput(
                f"{real} and the note folder {each.path} are one inside the other",
                hint=f"remove that one first: observer note folder remove {each.name}",
            )


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
    return free_name(base, taken)


IGNORE = ".gitignore"
IGNORE_BYTES = 65_536
MANY = 20
"""From so many files on git is asked once about all of the folder."""
TRUNK = 1_000
"""Commits among which the last before a time is looked for."""
GIT_WAIT_S = 5.0
"""Nobody waits for it but the thread that reads files."""


class FolderPlace:
    """Where one note folder lies. Safe to share between threads."""

    def __init__(
        self, folder: NoteFolder, *, exclude: Sequence[str], now_ms: Callable[[], int]
    ) -> None:
        self._folder = folder
        self._exclusion = Exclusion(exclude)
        self._policies = Policies()
        self._places = PlaceCache()
        self._now_ms = now_ms
        self._known_commits: tuple[str, Mapping[str, str]] = ("", {})
        self._ignored: tuple[tuple[int, int], list[tuple[bool, PathPattern]]] = ((0, 0), [])

    def now(self) -> Place:
        """Return the work tree around the folder, with its branch and commit as of now."""
        return self._places.at(self._folder.path)

    def excluding(self, place: Place, path: str) -> str:
        """Return why nothing of a file must be stored; "" if nothing is against it."""
        whole = f"{self._folder.path}/{path}"
        if self._exclusion.folders and self._exclusion.holds(whole):
            return "left out by the setting exclude"
        policy = self._policies.of(place)
        if policy.problem:
            return "the repository's .observer.toml cannot be used"
        inside = whole[len(place.root) :].lstrip("/") if is_inside(whole, place.root) else ""
        return "left out by the repository's .observer.toml" if policy.excludes(inside) else ""

    def commits(
        self, place: Place, files: Mapping[str, int], *, projects: Sequence[Project]
    ) -> Mapping[str, str]:
        """Return the commit as of which each file says what it says; unknown ones are left out.

        `files` are paths with when they were modified, in ms. That is the last commit that changed
        a file; of one not committed so, the last one before it was written.
        """
        if not files:
            return {}
        # The work tree of the project that the notes belong to, unless they are in it.
        roots = [
            root for each in projects if each.uuid == self._folder.project for root in each.roots
        ]
        if any(is_inside(self._folder.path, root) for root in roots):
            roots = []
        try:
            if root := next(filter(os.path.isdir, roots), ""):
                return _last_before(root, files)
            if place.commit and is_inside(self._folder.path, place.root):
                return self._commits_here(place, files)
        except ObserverError:  # git does not answer
            return {}
        return {}

    def _commits_here(self, place: Place, files: Mapping[str, int]) -> Mapping[str, str]:
        above = self._folder.path[len(place.root) :].strip("/")
        named = {path: f"{above}/{path}".lstrip("/") for path in files}
        changed = uncommitted_paths(place.root, list(named.values()), wait_s=GIT_WAIT_S)
        if changed is None:
            return {}
        committed = [whole for whole in named.values() if whole not in changed]
        known: Mapping[str, str] = {}
        if len(committed) >= MANY:  # those of the whole folder, kept for the next
            if self._known_commits[0] != place.commit:
                self._known_commits = (place.commit, last_commits(place.root, [above or "."]))
            known = self._known_commits[1]
        elif committed:
            known = last_commits(place.root, committed)
        made = {
            path: known[whole]
            for path, whole in named.items()
            if whole in known and whole not in changed
        }
        others = {path: at_ms for path, at_ms in files.items() if path not in made}
        return made | (_last_before(place.root, others) if others else {})

    def ignoring(self) -> Callable[..., bool]:
        """Return what says of a path and `is_folder` whether `.gitignore` names it, as of now."""
        patterns: list[tuple[bool, PathPattern]] = []
        file = f"{self._folder.path}/{IGNORE}"
        with suppress(OSError):
            found = os.lstat(file)
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp != self._ignored[0]:
                text = read_head(file, IGNORE_BYTES).decode("utf-8", "replace")
                for line in map(str.strip, text.splitlines()):
                    with suppress(ValueError):  # it is no pattern
                        if line and line[0] != "#":
                            patterns.append((line[0] != "!", PathPattern(line.removeprefix("!"))))
                self._ignored = (stamp, patterns)
            patterns = self._ignored[1]

        def ignores(path: str, *, is_folder: bool) -> bool:
            is_ignored = False
            names = PurePosixPath(path).parts if patterns else ()
            for is_meant, pattern in patterns:
                if is_ignored != is_meant and pattern.matches(names, is_folder=is_folder):
                    is_ignored = is_meant
            return is_ignored

        return ignores

    def project_id(self, writer: Writer) -> int | None:
        """Return the project of the folder's notes, made if it is new; None for no project."""
        known = writer.projects()
        if self._folder.project:
            named = (project.id for project in known if project.uuid == self._folder.project)
            return next(named, None)
        place = self.now()
        if not place.git:
            return None
        if found := match_project(place, known, gone=missing_roots(place, known)):
            return found.id
        made = new_project(place, id=max(each.id for each in known) + 1, at_ms=self._now_ms())
        writer.put_project(made)
        return made.id


def _last_before(root: str, files: Mapping[str, int]) -> dict[str, str]:
    """Return the last commit before the time of each file; the oldest known one is before all."""
    trunk = trunk_times(root, at_most=1)
    if trunk and min(files.values()) < trunk[0][0]:
        trunk = trunk_times(root, at_most=TRUNK)
    if not trunk:
        return {}
    return {
        path: next((commit for made_ms, commit in trunk if made_ms <= at_ms), trunk[-1][1])
        for path, at_ms in files.items()
    }


def places_holding(
    folders: Sequence[NoteFolder],
    text: re.Pattern[bytes],
    *,
    exclude: Sequence[str],
    now_ms: Callable[[], int],
) -> Iterator[str]:
    """Yield where a text stands in notes: `PATH:LINE`, or the path alone that holds it itself.

    Why a folder is not there is yielded too; what is not stored is left out.
    """
    for folder in folders:
        place = FolderPlace(folder, exclude=exclude, now_ms=now_ms)
        try:
            found = tree.walk(folder.path, ignores=place.ignoring()).files
        except NotFound as error:
            yield error.message
            continue
        around = place.now()
        for path in found:
            if place.excluding(around, path):
                continue
            try:
                data, _ = tree.read(folder.path, path)
            except (NotFound, BadInput):  # it went meanwhile, and is not stored
                continue
            whole = f"{folder.path}/{path}"
            if text.search(os.fsencode(path)):
                yield whole
            lines = (data.count(b"\n", 0, one.start()) + 1 for one in text.finditer(data))
            yield from (f"{whole}:{line}" for line in dict.fromkeys(lines))
