"""One commit out of git's log, taken line by line; memory is bounded whatever it holds."""

from __future__ import annotations

import itertools
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
MOST_SYMBOLS = 30
"""Symbols named of one file; a last entry says that there are more."""
CUT = "[… more]"
DATA = "json"
"""A language of which every line would be a definition: it names nothing here."""
MOST_NAMES = 8
"""Names given of one file."""
MOST_BYTES = 6_000
"""Changed text of one file that is looked at for names, added and removed each."""
MOST_DIGITS = 3
"""Of a name; what has more is a number, a digest or a date."""
_LINE_BYTES = 300
_BRACKETS = "{}()[];, \t\r\f\v"
_HASH = frozenset({"python", "ruby", "shell", "perl", "r", "elixir", "make", "terraform"})
_DASHES = frozenset({"sql", "lua"})
_TEXT = r"""\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_UNSAID = {
    "#": re.compile(rf"{_TEXT}|#[^\n]*", re.DOTALL),
    "--": re.compile(rf"{_TEXT}|--[^\n]*", re.DOTALL),
    "//": re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)|(?m:^[ \t]*\*[^\n]*)", re.DOTALL),
}
"""Comments and texts, by how a comment begins."""


class CommitParser:
    """A commit whose lines are still coming."""

    def __init__(self, header: bytes) -> None:
        self._fields = header_fields(header)
        self._files: list[FilePatch] = []
        self._others = FilePatch(b"", "other")
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
            removed, added, context = hunk.groups()
            self._file.hunk(int(removed or 1), int(added or 1), context)
        elif line.startswith(b"diff --git "):
            self._is_in_hunk = False
            self._file = file = self._next(line.rstrip(b"\n"))
            file.added, file.removed = file.added or 0, file.removed or 0
        elif sign == b":" and b"\t" in line:
            self._add(line.rstrip(b"\n"))
        elif line.startswith(b"Binary files "):
            self._file.added = self._file.removed = None

    def finished(self) -> tuple[int, Commit]:
        """Return (committed_ms, the commit)."""
        commit, parents, author, authored, committed, message = self._fields
        files = [file.change() for file in self._files]
        if self._count > len(files):
            self._others.path = f"[… {self._count - len(files):,} more files]"
            files.append(self._others.change())
        return time_ms(committed), Commit(
            hash=commit,
            subject=message.partition("\n")[0].rstrip(),
            message=message,
            author=author,
            authored_ms=time_ms(authored),
            parents=tuple(parents.split()),
            files=tuple(files),
        )

    def _add(self, line: bytes) -> None:
        self._count += 1
        if len(self._files) == MOST_FILES:
            return
        kind, *names = line.split(b"\t")
        status = _STATUS.get(kind.rpartition(b" ")[2][:1], "other")
        self._files.append(FilePatch(names[-1], status, old=names[0] if len(names) > 1 else b""))

    def _next(self, header: bytes) -> FilePatch:
        """Return the file that a patch begins: they come in the order of the raw entries."""
        for index in range(max(self._at, 0), len(self._files)):
            if header.endswith(self._files[index].ending):
                self._at = index
                return self._files[index]
        return self._others


class FilePatch:
    """One file of a commit: what its patch adds and removes is counted, and named.

    Counts are None until the patch begins, and for binary content. Symbols are functions, classes
    and sections whose defining lines are touched, and those around (named by a hunk) where
    something inside them changes. Names are identifiers in added lines that are not in removed
    ones; the lines are redacted first, so that no value beside a key comes out as a name.
    """

    def __init__(self, name: bytes, status: _Status, *, old: bytes = b"") -> None:
        self.path = unquote_path(name)
        self.ending = b' "b/' + name[1:] if name.startswith(b'"') else b" b/" + name
        self.added: int | None = None
        self.removed: int | None = None
        self._status: _Status = status
        self._old_path = unquote_path(old)
        language = language_of(self.path)
        self._language = "" if language == DATA else language
        self._is_code = bool(self._language) and language not in FLAT
        self._around = ""
        self._symbols: dict[str, None] = {}
        self._lines: dict[bytes, list[bytes]] = {b"+": [], b"-": []}
        self._room = {b"+": MOST_BYTES, b"-": MOST_BYTES}

    def hunk(self, removed: int, added: int, context: bytes) -> None:
        """Take a hunk's header: how many lines it changes, and what they stand in."""
        self.added, self.removed = (self.added or 0) + added, (self.removed or 0) + removed
        if self._language:
            self._around = definition_name(*_unindented(context), self._language)

    def line(self, sign: bytes, text: bytes) -> None:
        """Take a changed line and its sign, ``+`` or ``-``."""
        if self._is_code and self._room[sign] > 0:
            self._room[sign] -= len(text)
            self._lines[sign].append(text[:MOST_BYTES])
        if not self._language or len(self._symbols) > MOST_SYMBOLS:
            return
        shown, indent = _unindented(text)
        if not shown.strip(_BRACKETS):
            return
        name = definition_name(shown, indent, self._language)
        if not name and (indent or self._language in FLAT):
            name = self._around
        self._around = ""
        if name:
            self._symbols[name] = None

    def change(self) -> FileChange:
        """Return the file as it is kept: at most `MOST_SYMBOLS` symbols and `MOST_NAMES` names."""
        symbols = list(self._symbols)
        more = [CUT] if len(symbols) > MOST_SYMBOLS else []
        return FileChange(
            path=self.path,
            status=self._status,
            old_path=self._old_path,
            added=self.added,
            removed=self.removed,
            symbols=(*symbols[:MOST_SYMBOLS], *more),
            names=self._names(),
        )

    def _names(self) -> tuple[str, ...]:
        added, removed = (
            b"\n".join(lines).decode("utf-8", "replace") for lines in self._lines.values()
        )
        if not added:
            return ()
        sign = "#" if self._language in _HASH else "--" if self._language in _DASHES else "//"
        code = _UNSAID[sign].sub(" ", MARKER.sub(" ", redact_text(added)))
        new = (
            name
            for name in dict.fromkeys(IDENTIFIER.findall(code))
            if name not in KEYWORDS
            and sum(map(str.isdigit, name)) <= MOST_DIGITS
            and name not in removed
        )
        return tuple(itertools.islice(new, MOST_NAMES))


def header_fields(header: bytes) -> list[str]:
    """Return the `FIELDS` of a commit's header, the message without blank lines around it."""
    fields = header.split(RECORD)[1 : 1 + len(FIELDS)]
    return [field.decode("utf-8", "replace").strip() for field in fields]


def _unindented(text: bytes) -> tuple[str, int]:
    """Return the beginning of a line without its indentation, and how long that was."""
    line = text[:_LINE_BYTES].decode("utf-8", "replace")
    shown = line.lstrip()
    return shown, len(line) - len(shown)


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
