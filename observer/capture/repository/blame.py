"""Which commits made the lines of a file as they stand, and which touched it last."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from observer.capture.repository.patch import unquoted
from observer.errors import NotFound
from observer.events import Value
from observer.git.process import ask

UNCOMMITTED = ""
"""Hash of what no commit has taken in yet."""

_FORMAT = "--format=%H%x00%an%x00%at%x00%ct%x00%s"
_LINE = re.compile(r"([0-9a-f]{40,64}) \d+ \d+")
_FILE = "filename "
_PLAIN = ("--no-mailmap", "--no-show-signature", "--no-color", "--encoding=UTF-8")


class Origin(Value):
    """A commit that made part of a file. Times are its own; 0 where it is not committed.

    `path` is what the file was called then, empty where nobody asked. `lines` counts those that it
    made of the ones asked about. `before_ms` is when the file was committed last before it, 0 for
    never: what made this commit happened since then.
    """

    hash: str
    path: str = ""
    subject: str = ""
    author: str = ""
    authored_ms: int = 0
    committed_ms: int = 0
    before_ms: int = 0
    lines: int = 0


def blamed(root: str, path: str, *, first: int, last: int) -> list[Origin]:
    """Return the commits behind some lines of a file as it is on the disk, newest first.

    Their `before_ms` is not known yet: `placed` asks for it.

    Args:
        root: the work tree.
        path: the file, relative to it.
        first: first line, from 1.
        last: last line, included.

    Raises:
        NotFound: git does not know the file, or it has no such line; or there is no git.
    """
    told = ask(root, "blame", "--porcelain", "-w", "-M", f"-L{first},{last}", "--", path)
    if told is None:
        raise NotFound(
            f"git knows no line {first} of {path}", hint="name a committed file and a line of it"
        )
    counts: dict[str, int] = {}
    paths: dict[str, str] = {}
    commit = ""
    for line in told.split("\n"):
        if found := _LINE.match(line):
            # What no commit has taken in bears a hash of zeros.
            commit = found[1] if found[1].strip("0") else UNCOMMITTED
            counts[commit] = counts.get(commit, 0) + 1
        elif line.startswith(_FILE):
            paths.setdefault(commit, unquoted(line.removeprefix(_FILE).encode()))
    uncommitted = [Origin(hash=UNCOMMITTED, path=path, lines=counts.pop(UNCOMMITTED, 0))]
    commits = _log(root, "--no-walk=unsorted", *counts, "--") if counts else ()
    made = [replace(one, path=paths[one.hash], lines=counts[one.hash]) for one in commits]
    made.sort(key=lambda one: -one.committed_ms)
    return [one for one in uncommitted if one.lines] + made


def placed(root: str, origin: Origin) -> Origin:
    """Return one of `blamed` with its `before_ms`."""
    commits = _log(root, "-2", "--follow", origin.hash or "HEAD", "--", origin.path)
    times = [one.committed_ms for one in commits if one.hash != origin.hash]
    return replace(origin, before_ms=times[0] if times else 0)


def touched(root: str, path: str, *, limit: int) -> list[Origin]:
    """Return the last commits that touched a file, under earlier names too, newest first.

    Raises:
        NotFound: no commit knows it; or there is no git.
    """
    found = list(_log(root, f"-{limit + 1}", "--follow", "HEAD", "--", path))
    if not found:
        raise NotFound(f"git knows no file {path}", hint="name a committed file")
    since = [each.committed_ms for each in found[1:]] + [0]
    return [replace(one, before_ms=then) for one, then in zip(found, since, strict=True)][:limit]


def _log(root: str, *words: str) -> Iterator[Origin]:
    told = ask(root, "--literal-pathspecs", "log", _FORMAT, *_PLAIN, *words)
    return map(_read, told.split("\n") if told else ())


def _read(line: str) -> Origin:
    commit, author, authored_s, committed_s, subject = line.split("\0", 4)
    return Origin(
        hash=commit,
        subject=subject,
        author=author,
        authored_ms=int(authored_s) * 1000,
        committed_ms=int(committed_s) * 1000,
    )
