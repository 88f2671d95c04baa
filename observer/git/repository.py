"""The repository around a folder, found without running git; its configuration; its safe mirror.

Unlike git, `find_repository` takes no bare repository inside a work tree, nor `core.worktree`. git
never sees the repository's own configuration: `mirror` makes a stand-in for the folder that
`GIT_COMMON_DIR` names, of links to objects and refs and what only describes the format.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.core.paths import FileStamp, file_stamp, home, make_private, open_plain, read_head
from observer.git.launch import WAIT_S, GitTimeout, ask, environment

MOST_BYTES = 1 << 20
"""Read of one file."""

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_QUOTABLE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

_BOOLEAN = re.compile(r"(?i)true|false|yes|no|on|off|0|1")
_FORMAT = {
    "core.repositoryformatversion": re.compile("[01]"),
    "core.bare": _BOOLEAN,
    "core.filemode": _BOOLEAN,
    "core.symlinks": _BOOLEAN,
    "core.ignorecase": _BOOLEAN,
    "core.precomposeunicode": _BOOLEAN,
    "core.trustctime": _BOOLEAN,
    "core.checkstat": re.compile("(?i)default|minimal"),
    "core.autocrlf": re.compile("(?i)true|false|input|yes|no|on|off|0|1"),
    "core.eol": re.compile("(?i)lf|crlf|native"),
    "core.sparsecheckout": _BOOLEAN,
    "core.sparsecheckoutcone": _BOOLEAN,
    "index.sparse": _BOOLEAN,
    "extensions.objectformat": re.compile("sha1|sha256"),
    "extensions.refstorage": re.compile("files|reftable"),
}
"""What git may know of a repository, and the values that it may have."""
_HARMLESS = frozenset(
    {"noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees"}
)
"""Extensions of the format that reading can do without."""


class Setting(NamedTuple):
    """One entry; section and key in lower case, the value None where only the key is given."""

    section: str
    subsection: str
    key: str
    value: str | None

    @property
    def name(self) -> str:
        """The name in full, as ``git config --list`` prints it."""
        return ".".join(filter(None, (self.section, self.subsection, self.key)))


def read_config(path: str) -> str:
    """Return the text of a small file, "" if it is missing or not a plain file."""
    try:
        with open(open_plain(Path(path), os.O_RDONLY), "rb") as file:
            size = min(os.fstat(file.fileno()).st_size, MOST_BYTES)
            return file.read(size).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""


def parse_config(text: str) -> Iterator[Setting]:
    """Yield a file's entries in order, as git-config(1) says; what is invalid is left out."""
    section = subsection = ""
    position, end = 0, len(text)
    while position < end:
        if text[position] in " \t\r\n\ufeff":
            position += 1
        elif found := _SECTION.match(text, position):
            section, _, rest = found[1].lower().partition(".")
            subsection = rest if found[2] is None else _QUOTABLE.sub(r"\1", found[2])
            position = found.end()
        elif section and (found := _KEY.match(text, position)):
            value, position = _value(text, found.end()) if found[2] else (None, found.end())
            yield Setting(section, subsection, found[1].lower(), value)
            position = position if found[2] else _line_end(text, position)
        else:
            position = _line_end(text, position)


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _value(text: str, position: int) -> tuple[str, int]:
    found: list[str] = []
    kept = 0
    is_quoted = False
    while position < len(text) and (char := text[position]) != "\n":
        position += 1
        if char == "\\":
            escaped = text[position : position + 2]
            position += 2 if escaped == "\r\n" else 1
            if escaped[:1] not in "\r\n":  # nor at the end
                found.append(_ESCAPES.get(escaped[0], escaped[0]))
        elif char == '"':
            is_quoted = not is_quoted
        elif char in "#;" and not is_quoted:
            position = _line_end(text, position) - 1
            break
        elif is_quoted or not char.isspace():
            found.append(char)
        elif found:
            found.append(char)
            continue
        kept = len(found)
    return "".join(found[:kept]), position


def safe_config(settings: Iterable[Setting]) -> str:
    """Return the configuration that git gets: the format of the repository, and nothing else.

    An unknown extension of the format is named as such, so that git refuses to misread it.
    """
    kept: dict[str, str] = {}
    for setting in settings:
        name, value = setting.name, "true" if setting.value is None else setting.value
        if name in _FORMAT and _FORMAT[name].fullmatch(value):
            kept[name] = value
        elif (
            setting.section == "extensions"
            and setting.key not in _HARMLESS
            and kept.get("core.repositoryformatversion", "0") != "0"
        ):
            kept["extensions.unknown-to-observer"] = "true"
    lines = (
        f"[{name.partition('.')[0]}]\n\t{name.partition('.')[2]} = {kept[name]}\n" for name in kept
    )
    return "".join(lines)


def is_partial_clone(settings: Iterable[Setting]) -> bool:
    """Return True if a clone is partial: it lacks objects, and fetches them when needed."""
    return any(
        setting.section == "remote"
        and setting.key == "promisor"
        and (setting.value is None or setting.value.lower() in {"true", "yes", "on", "1"})
        for setting in settings
    )


CACHE_S = 60.0
"""For so long the user's exceptions of ownership are not asked for again."""

_COMMANDS = frozenset({"config", "rev-parse", "version"})
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def run_as_user(
    words: Sequence[str], *, folder: str, environ: Mapping[str, str], wait_s: float = WAIT_S
) -> subprocess.CompletedProcess[bytes]:
    """Run git as the user has it configured, for questions about the configuration itself.

    The first word is one of a few commands that run nothing. Raises: NotFound (no git, no answer).
    """
    if words[0] not in _COMMANDS:
        raise ValueError(f"git {words[0]} may run what a repository names")
    kept = {name: environ[name] for name in _KEPT if name in environ}
    ours = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    given = environment(environ) | kept | ours
    try:
        return ask(("-C", folder, *words), environ=given, wait_s=wait_s)
    except GitTimeout as error:
        raise NotFound(f"git {words[0]} does not answer in {folder}") from error


def user_setting(name: str, *options: str) -> list[str]:
    """Return a setting's values in the user's and the system's configuration. Raises: NotFound."""
    values: list[str] = []
    for level in ("--system", "--global"):
        words = ("config", level, "--includes", *options, "-z", "--get-all", name)
        done = run_as_user(words, folder="/", environ=os.environ)
        values += os.fsdecode(done.stdout).split("\0")[:-1]
    return values


def is_safe_directory(root: str) -> bool:
    """Return True if the user trusts another owner's folder, by git-config(1), safe.directory."""
    is_safe = False
    for value in _exceptions(int(time.monotonic() / CACHE_S)):
        if not value:
            is_safe = False
        elif (
            value == "*"
            or os.path.realpath(value) == root
            or (value.endswith("/*") and root.startswith(value[:-1]))
        ):
            is_safe = True
    return is_safe


@lru_cache(maxsize=1)
def _exceptions(_: int) -> list[str]:
    try:
        return user_setting("safe.directory", "--type=path")
    except NotFound:
        return []


_LINE_BYTES = 8192
_GITFILE = "gitdir:"


class NoRepository(NotFound):
    """There is no repository around a folder, or one in which git is not run."""


class ForeignRepository(NoRepository):
    """There is one, which belongs to another user."""


class Repository(NamedTuple):
    """A repository on the disk; all paths are real ones.

    `root` is the work tree, or the repository itself if it is bare. A linked work tree has a
    `git_dir` of its own and shares the `common_dir`. `owned` are the paths whose owner counts.
    """

    root: str
    git_dir: str
    common_dir: str
    owned: tuple[str, ...]


def find_repository(folder: str) -> Repository | None:
    """Return the repository around an existing folder, whoever owns it; ValueError for no path."""
    bare = ""
    real = Path(os.path.realpath(folder))
    for level in map(str, (real, *real.parents)):
        entry = os.path.join(level, ".git")
        git_dir, is_broken = _git_dir_at(entry)
        if git_dir:
            common_dir = _common_dir(git_dir)
            return Repository(level, git_dir, common_dir, (level, entry, git_dir, common_dir))
        if is_broken:
            return None
        if not bare and os.path.basename(level) != ".git" and _is_git_dir(level):
            bare = level
    return Repository(bare, bare, _common_dir(bare), (bare,)) if bare else None


def refusal(repository: Repository) -> str:
    """Return why git is not run in a repository, "" if it is.

    As root, the user behind sudo is an owner too. Source: git-config(1), safe.directory.
    """
    allowed = {os.geteuid()}
    if allowed == {0} and (behind := os.environ.get("SUDO_UID", "")).isdigit():
        allowed.add(int(behind))
    for path in repository.owned:
        owner = os.lstat(path).st_uid
        if owner not in allowed:
            return f"{path} belongs to another user (uid {owner})"
    return ""


def read_first_line(path: str) -> str:
    """Return the first line of a small file without its end, "" if it cannot be read."""
    try:
        return os.fsdecode(read_head(path, _LINE_BYTES).partition(b"\n")[0])
    except OSError:
        return ""


def _git_dir_at(entry: str) -> tuple[str, bool]:
    """Return the repository that `.git` is or names, and whether it names none."""
    try:
        mode = os.stat(entry).st_mode
    except OSError:
        return "", False
    if stat.S_ISDIR(mode):
        return (os.path.realpath(entry) if _is_git_dir(entry) else ""), False
    if not stat.S_ISREG(mode):
        return "", True
    line = read_first_line(entry)
    if not line.startswith(_GITFILE):
        return "", True
    named = os.path.realpath(os.path.join(os.path.dirname(entry), line[len(_GITFILE) :].strip()))
    return (named, False) if _is_git_dir(named) else ("", True)


def _common_dir(git_dir: str) -> str:
    shared = read_first_line(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _is_git_dir(folder: str) -> bool:
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    shared = _common_dir(folder)
    return all(os.path.isdir(os.path.join(shared, part)) for part in ("objects", "refs"))


_LINKED = ("HEAD", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
_EXCLUDE = "info/exclude"
_WHOSE = "git_dir"
"""A link to what the folder stands in for; git does not know it."""

_known: dict[tuple[str, str], tuple[tuple[FileStamp, FileStamp], str]] = {}


def mirror(repository: Repository) -> str:
    """Return the stand-in of a repository, up to date. Raises: OSError (it cannot be written)."""
    stamps = (
        file_stamp(f"{repository.common_dir}/config"),
        file_stamp(f"{repository.git_dir}/config.worktree"),
    )
    above = str(home().run)
    key = (above, repository.git_dir)
    if (known := _known.get(key)) and known[0] == stamps and os.path.exists(f"{known[1]}/config"):
        return known[1]
    folder = _made(repository, above, safe_config(repository_settings(repository)))
    _known[key] = (stamps, folder)
    return folder


def repository_settings(repository: Repository) -> list[Setting]:
    """Return what the repository's own configuration says, that of its work tree last."""
    found = list(parse_config(read_config(f"{repository.common_dir}/config")))
    if any(setting.name == "extensions.worktreeconfig" for setting in found):
        found += parse_config(read_config(f"{repository.git_dir}/config.worktree"))
    return found


def _made(repository: Repository, above: str, text: str) -> str:
    name = hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:32]
    if not home().root.is_dir():  # to look at a repository makes no home
        return _filled(Path(_spare(), name), repository, text)
    try:
        make_private(Path(above))
        beside = make_private(Path(above, "git"))
        for one in beside.iterdir():
            if (one / _WHOSE).is_symlink() and not (one / _WHOSE).exists():  # what it was for
                shutil.rmtree(one, ignore_errors=True)
        return _filled(beside / name, repository, text)
    except OSError:  # the home cannot be written, but git can still be read
        return _filled(Path(_spare(), name), repository, text)


def _filled(folder: Path, repository: Repository, text: str) -> str:
    make_private(folder)
    make_private(folder / "info")
    _link(folder / _WHOSE, repository.git_dir)
    for entry in _LINKED:
        _link(folder / entry, f"{repository.common_dir}/{entry}")
    _link(folder / _EXCLUDE, f"{repository.common_dir}/{_EXCLUDE}")
    _replace(folder / "config", lambda spare: spare.write_text(text, encoding="utf-8"))
    return str(folder)


@cache
def _spare() -> str:
    folder = tempfile.mkdtemp(prefix="observer-git-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _link(path: Path, target: str) -> None:
    try:
        path.symlink_to(target)
    except FileExistsError:
        if os.readlink(path) != target:
            _replace(path, lambda spare: spare.symlink_to(target))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside a path, then put it there: another process may be reading."""
    spare = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    write(spare)
    spare.replace(path)
