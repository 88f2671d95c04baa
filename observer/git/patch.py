"""One commit out of git's log: header, raw entries, then the patch, taken line by line.

Memory is bounded whatever the commit holds: at most `MOST_FILES` files are kept, the rest is
counted in one last entry.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from observer.core.events import Commit, FileChange
from observer.git.defined_names import AddedNames, ChangedSymbols

MOST_FILES = 500
"""Files named of one commit; a last entry counts the others."""
RECORD = b"\0"
"""What a header begins with and ends each field with; no line of a patch begins with it."""
FIELDS = ("H", "P", "an", "at", "ct", "B")
"""git's letters of the fields that a header holds."""

_LATEST_S = 253_402_300_799  # the year 9999; later times are a clock's mistake
_HUNK = re.compile(rb"@@ -\d+(?:,(\d{1,18}))? \+\d+(?:,(\d{1,18}))? @@ ?(.*)")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_Status: TypeAlias = Literal["added", "modified", "deleted", "renamed", "copied", "other"]
_STATUS: dict[bytes, _Status] = {
    b"A": "added",
    b"M": "modified",
    b"D": "deleted",
    b"R": "renamed",
    b"C": "copied",
}


class CommitParser:
    """A commit whose lines are still coming."""

    def __init__(self, header: bytes) -> None:
        fields = header.split(RECORD)[1 : 1 + len(FIELDS)]
        texts = [field.decode("utf-8", "replace") for field in fields]
        self._hash, parents, self._author, self._authored, self._committed, message = texts
        self._parents = tuple(parents.split())
        self._message = message.strip()
        self._files: list[_File] = []
        self._others = _File(b"", "other")
        self._count = 0
        self._at = -1
        self._file = self._others
        self._is_in_hunk = False

    def take(self, line: bytes) -> None:
        """Take the next line of the commit."""
        sign = line[:1]
        if self._is_in_hunk and sign in (b"+", b"-"):
            self._file.line(sign, line[1:].rstrip(b"\r\n"))
        elif sign == b"@" and (hunk := _HUNK.match(line)):
            self._is_in_hunk = True
            self._file.hunk(hunk)
        elif line.startswith(b"diff --git "):
            self._is_in_hunk = False
            self._file = self._next(line.rstrip(b"\n"))
            self._file.begin()
        elif sign == b":" and b"\t" in line:
            self._add(line.rstrip(b"\n"))
        elif line.startswith(b"Binary files "):
            self._file.added = self._file.removed = None

    def finished(self) -> tuple[int, Commit]:
        """Return (committed_ms, the commit)."""
        files = [file.change() for file in self._files]
        if self._count > len(files):
            self._others.path = f"[… {self._count - len(files):,} more files]"
            files.append(self._others.change())
        return time_ms(self._committed), Commit(
            hash=self._hash,
            subject=self._message.partition("\n")[0].rstrip(),
            message=self._message,
            author=self._author,
            authored_ms=time_ms(self._authored),
            parents=self._parents,
            files=tuple(files),
        )

    def _add(self, line: bytes) -> None:
        self._count += 1
        if len(self._files) == MOST_FILES:
            return
        kind, *names = line.split(b"\t")
        status = _STATUS.get(kind.rpartition(b" ")[2][:1], "other")
        self._files.append(_File(names[-1], status, old=names[0] if len(names) > 1 else b""))

    def _next(self, header: bytes) -> _File:
        """Return the file that a patch begins: the next, or the same again when its type changed.

        Raw entries and patches come in one order, so the search ends at once.
        """
        for index in range(max(self._at, 0), len(self._files)):
            if header.endswith(self._files[index].ending):
                self._at = index
                return self._files[index]
        return self._others


class _File:
    """One file of a commit: counts are None until its patch begins, and for binary content."""

    def __init__(self, name: bytes, status: _Status, *, old: bytes = b"") -> None:
        self.path = unquote_path(name)
        self.ending = b' "b/' + name[1:] if name.startswith(b'"') else b" b/" + name
        self.added: int | None = None
        self.removed: int | None = None
        self.symbols = ChangedSymbols(self.path)
        self.names = AddedNames(self.path)
        self._status: _Status = status
        self._old_path = unquote_path(old)

    def begin(self) -> None:
        self.added, self.removed = self.added or 0, self.removed or 0

    def hunk(self, header: re.Match[bytes]) -> None:
        removed, added, context = header.groups()
        self.added = (self.added or 0) + int(added or 1)
        self.removed = (self.removed or 0) + int(removed or 1)
        self.symbols.hunk(context)

    def line(self, sign: bytes, text: bytes) -> None:
        self.names.line(sign, text)
        if not self.symbols.is_done:
            self.symbols.line(text)

    def change(self) -> FileChange:
        return FileChange(
            path=self.path,
            status=self._status,
            old_path=self._old_path,
            added=self.added,
            removed=self.removed,
            symbols=self.symbols.names(),
            names=self.names.names(),
        )


def unquote_path(name: bytes) -> str:
    """Undo git's quoting of names with quotes, backslashes or control characters."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    return name.decode("utf-8", "replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF if len(code) == 3 else _ESCAPES.get(code[0], code[0])])


def time_ms(seconds: str) -> int:
    """Return a time of git in milliseconds, 0 if it is none, at most the year 9999."""
    known = seconds if seconds.isdecimal() else "0"
    return min(int(known[:20]), _LATEST_S) * 1000
