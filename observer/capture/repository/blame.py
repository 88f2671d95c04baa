"""Which commits made the lines of a file as they stand, and which touched it last."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from observer.capture.repository.program import ask
from observer.errors import NotFound
from observer.events import Value

UNCOMMITTED = ""
"""Hash of what no commit has taken in yet."""

_NOBODY = "0" * 40
_FORMAT = "--format=%H%x00%an%x00%at%x00%ct%x00%s"
_PLAIN = ("--no-mailmap", "--no-show-signature", "--no-color", "--encoding=UTF-8")


class Origin(Value):
    """A commit that made part of a file. Times are its own; 0 where it is not committed.

    `lines` counts those that it made of the ones asked about. `before_ms` is when the file was
    committed last before it, 0 for never: what made this commit happened since then.
    """

    hash: str
    subject: str = ""
    author: str = ""
    authored_ms: int = 0
    committed_ms: int = 0
    before_ms: int = 0
    lines: int = 0


def blamed(root: str, path: str, *, first: int, last: int) -> list[Origin]:
    """Return the commits behind some lines of a file as it is on the disk, newest first.

    Args:
        root: the work tree.
        path: the file, relative to it.
        first: first line, from 1.
        last: last line, included.

    Raises:
        NotFound: git does not know the file, or it has no such line; or there is no git.
    """
    told = ask(
        root, "blame", "--porcelain", "-w", "-M", f"-L{first},{last}", "--end-of-options", path
    )
    if told is None:
        raise NotFound(
            f"git knows no line {first} of {path}", hint="name a committed file and a line of it"
        )
    counts: dict[str, int] = {}
    for line in told.split("\n"):
        if not line.startswith("\t") and len(words := line.split(" ")) in {3, 4}:
            commit = words[0]
            if len(commit) == len(_NOBODY) and words[1].isdecimal():
                counts[commit] = counts.get(commit, 0) + 1
    origins = [_origin(root, path, commit, count) for commit, count in counts.items()]
    return sorted(origins, key=_age)


def touched(root: str, path: str, *, limit: int) -> list[Origin]:
    """Return the last commits that touched a file, under earlier names too, newest first.

    Raises:
        NotFound: no commit knows it; or there is no git.
    """
    found = list(_log(root, "HEAD", path, limit=limit + 1))
    if not found:
        raise NotFound(f"git knows no file {path}", hint="name a committed file")
    since = [each.committed_ms for each in found[1:]] + [0]
    return [replace(one, before_ms=then) for one, then in zip(found, since, strict=True)][:limit]


def _origin(root: str, path: str, commit: str, lines: int) -> Origin:
    """Ask for a commit, and for the one before it that touched the file."""
    if commit == _NOBODY:
        newest = next(_log(root, "HEAD", path), None)
        before_ms = newest.committed_ms if newest else 0
        return Origin(hash=UNCOMMITTED, lines=lines, before_ms=before_ms)
    told = _log(root, commit, path)
    one = next(told)
    before_ms = next((each.committed_ms for each in told), 0)
    return replace(one, before_ms=before_ms, lines=lines)


def _log(root: str, commit: str, path: str, *, limit: int = 2) -> Iterator[Origin]:
    words = (f"-{limit}", "--follow", _FORMAT, *_PLAIN, commit, "--", path)
    told = ask(root, "--literal-pathspecs", "log", *words)
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


def _age(origin: Origin) -> tuple[bool, int]:
    return origin.hash != UNCOMMITTED, -origin.committed_ms
