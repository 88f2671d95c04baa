"""Asking git about a repository and its work tree: the same answer whatever is configured.

git gets a stand-in for the repository's configuration (`mirror`), no transport, none of git's
variables from our environment and a time limit. Needs git 2.32 or newer.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from observer.core.errors import NotFound, ObserverError
from observer.git.launch import (
    PART_BYTES,
    WAIT_S,
    GitProcess,
    GitTimeout,
    environment,
    launch,
)
from observer.git.repository import (
    ForeignRepository,
    NoRepository,
    Repository,
    find_repository,
    is_safe_directory,
    mirror,
    refusal,
    user_setting,
)

LINE_BYTES = 8192
"""Longest part of a line of a patch that is looked at."""
RECORD_BYTES = 4 << 20
"""Longest part of a commit's header and message that is kept."""
REST_S = 600.0
"""A repository in which git did not answer in time is left alone for so long."""

_SCRIPT_CONTEXT = (
    r"!^[ \t]*(if|for|while|switch|catch|return|else|do|with|await|throw|new)[^A-Za-z0-9_$]"
    "\n"
    r"^[ \t]*((export[ \t]+)?(default[ \t]+|declare[ \t]+|abstract[ \t]+|async[ \t]+)*"
    r"(function|class|interface|type|enum|namespace)[ \t*].*)$"
    "\n"
    r"^((export[ \t]+)?(const|let|var)[ \t].*(=>|function).*)$"
    "\n"
    r"^([ \t]+((static|async|get|set|public|private|protected|override)[ \t]+)*"
    r"[#A-Za-z_$][A-Za-z0-9_$]*[ \t]*\(.*\{[ \t]*)$"
)
"""Where a function begins in JavaScript and TypeScript, which git has no pattern for."""

_SETTINGS = {
    "core.attributesFile": str(Path(__file__).with_name("attributes")),
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "diff.observer-script.xfuncname": _SCRIPT_CONTEXT,
    "diff.observer-section.xfuncname": r"^[ \t]*(\[.*\].*)$",
    "protocol.allow": "never",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # or a partial clone would fetch what it lacks
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_log = logging.getLogger(__name__)
_stalled: dict[str, float] = {}
_refused: set[str] = set()


def git_output(root: str, *words: str, wait_s: float = WAIT_S) -> str | None:
    """Return what git printed, without the last newline; None if it failed. Raises: NotFound."""
    try:
        with git_at(root)(words, wait_s=wait_s) as git:
            answer, code = git.all(), git.code()
    except NoRepository:
        return None
    except GitTimeout as error:
        raise _stall(root, error, is_patient=wait_s >= WAIT_S) from error
    return answer.decode("utf-8", "replace").rstrip("\n") if code == 0 else None


def stream_lines(root: str, words: Sequence[str], *, record: bytes, fields: int) -> Iterator[bytes]:
    """Yield the lines git prints, each cut at `LINE_BYTES`, without holding more than one.

    A record is yielded as a whole, up to `RECORD_BYTES`: from a line that begins with `record` to
    that with the last of its `fields`, each ended by `record`. Raises: NotFound (git does not
    answer), ObserverError (git failed; what was yielded before is right but not all).
    """
    with tempfile.TemporaryFile() as stderr:
        with git_at(root)(words, errors=stderr) as git:
            try:
                yield from _lines(git.stdout, record, fields)
                code = git.code()
            except GitTimeout as error:
                raise _stall(root, error) from error
        if code:
            stderr.seek(0)
            said = stderr.read(LINE_BYTES).decode("utf-8", "replace").strip().splitlines()
            raise ObserverError(
                f"git cannot read {root}: {said[-1] if said else 'no reason given'}",
                hint="try: git fsck",
            )


def _lines(stream: IO[bytes], record: bytes, fields: int) -> Iterator[bytes]:
    while line := stream.readline(LINE_BYTES):
        if line.startswith(record):
            parts = [line]
            size = len(line)
            missing = fields + 1 - line.count(record)
            while missing > 0 and (line := stream.readline(LINE_BYTES)):
                size += len(line)
                ends = line.count(record)
                parts.append(line if size <= RECORD_BYTES else record * ends)
                missing -= ends
            yield b"".join(parts)
            continue
        yield line
        while not line.endswith(b"\n") and (line := stream.readline(LINE_BYTES)):
            pass


def git_at(root: str) -> Callable[..., GitProcess]:
    """Return what starts git for a folder of a repository, with words and options of `launch`.

    Raises: NoRepository (none in which git is run), NotFound (git did not answer here lately).
    """
    if _stalled.get(root, 0.0) > time.monotonic():
        raise NotFound(f"git did not answer in {root} lately", hint="try: git status")
    repository = repository_at(root)
    try:  # where it is, so that it is not looked for again
        located = {"GIT_DIR": repository.git_dir, "GIT_COMMON_DIR": mirror(repository)}
    except OSError as error:
        raise NotFound(
            f"git cannot be run safely: {error.filename}: {error.strerror}",
            hint="make a folder for temporary files writable",
        ) from error
    if repository.root != repository.git_dir:  # it is not bare
        located["GIT_WORK_TREE"] = repository.root
    environ = environment(os.environ) | _ENVIRONMENT | located

    def start(words: Sequence[str], **options: Any) -> GitProcess:  # noqa: ANN401
        words = ("--no-pager", "-C", root, *words)
        return launch(words, settings=_SETTINGS, environ=environ, **options)

    return start


def repository_at(root: str) -> Repository:
    """Return the repository around a folder. Raises: NoRepository, ForeignRepository."""
    try:
        found = find_repository(root) if root else None  # not the current folder, as git does
        refused = refusal(found) if found else ""
    except (OSError, ValueError) as error:
        raise NoRepository(f"no such repository: {error}") from error
    if found is None:
        raise NoRepository(f"no git repository at {root}", hint="name a folder of one")
    if refused and not is_safe_directory(found.root):
        if found.root not in _refused:
            _refused.add(found.root)
            said = "git is not run in %s: %s; events there are kept without it"
            _log.warning(said, found.root, refused)
        raise ForeignRepository(
            f"git is not run in {found.root}: {refused}",
            hint=f"if you trust it: git config --global --add safe.directory {found.root}",
        )
    return found


def _stall(root: str, error: GitTimeout, *, is_patient: bool = True) -> NotFound:
    if is_patient:
        _stalled[root] = time.monotonic() + REST_S
    return NotFound(f"git does not answer in {root}: {error}", hint="try: git status")


MOST_BYTES = 1 << 20
"""Of one file; larger ones are data."""
MOST_NAME_CHARS = 10_000
"""Longer than any path; a name that does not fit into a pipe would wait for git to read it."""


class Blob(NamedTuple):
    """What git keeps under a name, of a `kind` (blob, commit, tree); no `data` if too large."""

    id: str
    kind: str
    data: bytes | None


class Blobs(AbstractContextManager["Blobs"]):
    """Reads what is called so in git (a hash, or ``commit:path``) with one process.

    `failure` is why there is nothing (more) to read. Raises: NotFound (no answer lately).
    """

    def __init__(self, root: str, *, most_bytes: int = MOST_BYTES) -> None:
        self.failure: NotFound | None = None
        self._most_bytes = most_bytes
        from observer.git.command import SafeGit  # noqa: PLC0415 - 15 ms, for who reads objects

        try:
            self._git = SafeGit(git_at(root))
        except NoRepository as error:  # nothing is called anything there
            self.failure = error

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def close(self, failure: NotFound | None = None) -> None:
        """End the process."""
        if self.failure is None:
            self.failure = failure or NotFound("closed")
            self._git.clear_cache()

    def get(self, name: str) -> Blob | None:
        """Return what is called so; None if there is nothing, or git does not answer."""
        if self.failure or "\n" in name or "\0" in name or len(name) > MOST_NAME_CHARS:
            return None
        try:
            found, kind, size, stream = self._git.stream_object_data(name)
            if size <= self._most_bytes:
                return Blob(found, kind, stream.read())
            while stream.read(PART_BYTES):
                pass
            return Blob(found, kind, None)
        except (OSError, ValueError):  # missing, ambiguous, the end
            return None
        except NotFound as error:  # after that nobody would know what an answer is about
            self.close(error)
            return None


def existing(root: str, names: Iterable[str]) -> frozenset[str]:
    """Return which names, also shortened ones, are those of objects here. Raises: NotFound."""
    with Blobs(root, most_bytes=0) as blobs:
        return frozenset(name for name in names if blobs.get(name))


STATUS_S = 1.0
"""As long as git may take; named files cost it 5 to 20 ms even in a large repository."""


def uncommitted_paths(
    root: str, paths: Sequence[str], *, wait_s: float = STATUS_S
) -> frozenset[str] | None:
    """Return those of the paths, relative to `root`, that no commit holds as they are.

    What git ignores, or never heard of before it was deleted, is none of them. None if git does not
    say: it is not installed, there is no repository, or it took too long.
    """
    asked = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    words = ("--literal-pathspecs", *asked, "--ignore-submodules=all", "--", *paths)
    try:
        answer = git_output(root, *words, wait_s=wait_s)
    except NotFound:
        return None
    if answer is None:
        return None
    # Each record is two letters, a blank, and the path.
    return frozenset(record[3:] for record in answer.split("\0")[:-1])


FileStatus = Literal["changed", "gone", "new"]

MOST_PATHS = 100
"""Paths that git is asked about by name; of more it lists all, which then is faster."""

_STANDINGS: dict[str, FileStatus] = {"C": "changed", "R": "gone", "?": "new"}
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


def is_under_way(root: str) -> bool:
    """Return True while a rebase, merge, pick or revert is not finished. Raises: NotFound."""
    git_dir = Path(repository_at(root).git_dir)
    return any((git_dir / name).exists() for name in _UNDER_WAY)


class WorkTree:
    """A checkout, and git's view of its files; changes nothing. Raises: NotFound (no answer)."""

    def __init__(self, root: str) -> None:
        self.root = root
        repository = repository_at(root)
        self._git_dir = Path(repository.git_dir)
        self._common_dir = Path(repository.common_dir)
        excludes = user_setting("core.excludesFile", "--type=path")
        self._settings = ["-c", f"core.excludesFile={excludes[-1]}"] if excludes else []

    def changed_files(self, paths: Sequence[str] = ()) -> dict[str, FileStatus]:
        """Return files, of all or some paths, that differ from the index or are new to it."""
        named = () if len(paths) > MOST_PATHS else paths
        answer = self._listed("-t", "-m", "-d", "-o", "--exclude-standard", "--", *named)
        found: dict[str, FileStatus] = {}
        for line in answer:
            standing = _STANDINGS.get(line[:1])
            # A deleted file is listed twice, as changed too.
            if standing and found.get(line[2:]) != "gone":
                found[line[2:]] = standing
        return found

    def ignored_folders(self) -> frozenset[str]:
        """Return the outermost folders of which git ignores everything."""
        answer = self._listed("-o", "-i", "--exclude-standard", "--directory")
        return frozenset(line[:-1] for line in answer if line.endswith("/"))

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those paths that git ignores, but names that it would quote. Raises: NotFound."""
        asked = (*self._settings, "check-ignore", "--", *paths)
        answer = git_output(self.root, *asked) if paths else None
        return answer.split("\n") if answer else []

    def is_tracked(self, path: str) -> bool:
        """Return True if git knows the file, or a file in the folder."""
        return bool(self._listed("--", path))

    def staged(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return files as they are in the index; those it lacks, or too large, are left out."""
        with Blobs(self.root) as blobs:
            found = {path: blobs.get(f":{path}") for path in paths}
        return {path: blob.data for path, blob in found.items() if blob and blob.data is not None}

    @property
    def is_locked(self) -> bool:
        """Whether git is about to change the index, and perhaps files."""
        return os.path.exists(self._git_dir / "index.lock")

    def index_changed_ms(self) -> int:
        """Return when git last changed the index: by checkout, reset, add, commit …; 0 if never."""
        return _mtime_ms(self._git_dir / "index")

    def has_own_writes(self, *, since_ms: int) -> bool:
        """Return True if git itself wrote differing files: in a conflict, or from a stash."""
        if any((self._git_dir / name).exists() for name in _UNDER_WAY):
            return self.index_changed_ms() >= since_ms
        return _mtime_ms(self._common_dir / "refs") >= since_ms

    def _listed(self, *words: str) -> list[str]:
        asked = ("--literal-pathspecs", *self._settings, "ls-files", "-z", *words)
        return (git_output(self.root, *asked) or "").split("\0")[:-1]


def _mtime_ms(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0
