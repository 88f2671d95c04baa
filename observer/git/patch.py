"""One commit out of git's log: header, raw entries, then the patch, taken line by line.

Memory is bounded whatever the commit holds: at most `MOST_FILES` files are kept, the rest is
counted in one last entry.

`ChangedSymbols` collects the functions, classes and sections whose defining lines a patch touches.
A hunk names its surroundings (the nearest definition above) and shows changed lines. A changed
definition always counts; the surroundings count only if the hunk changes something inside them: a
function added behind another does not change that other.

`AddedNames` collects identifiers in the added lines that are not in the removed ones: they say what
a commit is about where its subject does not. The lines are redacted first: a value added beside a
key must not come out as a name.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from observer.code.languages import FLAT, IDENTIFIER, KEYWORDS, definition_name, language_of
from observer.core.events import Commit, FileChange
from observer.redaction.redact import redact_text
from observer.redaction.shapes import MARKER

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
        """Return the file that a patch begins: they come in the order of the raw entries."""
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


MOST_SYMBOLS = 30
"""Symbols named of one file; a last entry says that there are more."""
CUT = "[… more]"

DATA = "json"
"""A language of which every line would be a definition: it names nothing here."""
_LINE_BYTES = 300
_BRACKETS = "{}()[];, \t\r\f\v"


class ChangedSymbols:
    """Collects the names of one file's patch, in order, each once."""

    def __init__(self, path: str) -> None:
        language = language_of(path)
        self._language = "" if language == DATA else language
        self._around = ""
        self._names: dict[str, None] = {}

    @property
    def is_done(self) -> bool:
        """Whether further lines cannot add a name."""
        return not self._language or len(self._names) > MOST_SYMBOLS

    def hunk(self, context: bytes) -> None:
        """Take the surroundings that a hunk's header names."""
        if self._language:
            self._around = definition_name(*_unindented(context), self._language)

    def line(self, text: bytes) -> None:
        """Take a changed line, without its sign."""
        shown, indent = _unindented(text)
        if not self._language or not shown.strip(_BRACKETS):
            return
        name = definition_name(shown, indent, self._language)
        if not name and (indent or self._language in FLAT):
            name = self._around
        self._around = ""
        if name:
            self._names[name] = None

    def names(self) -> tuple[str, ...]:
        """Return at most `MOST_SYMBOLS` names; one more entry says that there are others."""
        found = list(self._names)
        return (*found[:MOST_SYMBOLS], CUT) if len(found) > MOST_SYMBOLS else tuple(found)


def _unindented(text: bytes) -> tuple[str, int]:
    """Return the beginning of a line without its indentation, and how long that was."""
    line = text[:_LINE_BYTES].decode("utf-8", "replace")
    shown = line.lstrip()
    return shown, len(line) - len(shown)


_HASH = frozenset({"python", "ruby", "shell", "perl", "r", "elixir", "make", "terraform"})
_DASHES = frozenset({"sql", "lua"})
_TEXT = r"""\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_UNSAID = {
    "#": re.compile(rf"{_TEXT}|#[^\n]*", re.DOTALL),
    "--": re.compile(rf"{_TEXT}|--[^\n]*", re.DOTALL),
    "//": re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)|(?m:^[ \t]*\*[^\n]*)", re.DOTALL),
}
"""Comments and texts, by how a comment begins."""
MOST_NAMES = 8
"""Names given of one file."""
MOST_BYTES = 6_000
"""Changed text of one file that is looked at, added and removed each."""
MOST_DIGITS = 3
"""Of a name; what has more is a number, a digest or a date."""


class AddedNames:
    """Collects the changed lines of one file's patch."""

    def __init__(self, path: str) -> None:
        language = language_of(path)
        self._language = language
        self._is_code = bool(language) and language not in FLAT and language != DATA
        self._lines: dict[bytes, list[bytes]] = {b"+": [], b"-": []}
        self._room = {b"+": MOST_BYTES, b"-": MOST_BYTES}

    def line(self, sign: bytes, text: bytes) -> None:
        """Take a changed line and its sign, ``+`` or ``-``."""
        if self._is_code and self._room[sign] > 0:
            self._room[sign] -= len(text)
            self._lines[sign].append(text[:MOST_BYTES])

    def names(self) -> tuple[str, ...]:
        """Return at most `MOST_NAMES` names, in the order in which they first stand."""
        added, removed = self._text(b"+"), self._text(b"-")
        if not added:
            return ()
        sign = "#" if self._language in _HASH else "--" if self._language in _DASHES else "//"
        code = _UNSAID[sign].sub(" ", MARKER.sub(" ", redact_text(added)))
        found = dict.fromkeys(IDENTIFIER.findall(code))
        new = (
            name
            for name in found
            if name not in KEYWORDS
            and sum(map(str.isdigit, name)) <= MOST_DIGITS
            and name not in removed
        )
        return tuple(name for _, name in zip(range(MOST_NAMES), new, strict=False))

    def _text(self, sign: bytes) -> str:
        return b"\n".join(self._lines[sign]).decode("utf-8", "replace")
