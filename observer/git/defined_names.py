"""Names that a patch touches or brings in: definitions, and identifiers of its added lines.

`ChangedSymbols` collects the functions, classes and sections whose defining lines a patch touches.
A hunk names its surroundings (the nearest definition above) and shows changed lines. A changed
definition always counts; the surroundings count only if the hunk changes something inside them: a
function added behind another does not change that other.

`AddedNames` collects identifiers in the added lines that are not in the removed ones: they say what
a commit is about where its subject does not. The lines are redacted first: a value added beside a
key must not come out as a name.
"""

from __future__ import annotations

from observer.code import strip_comments
from observer.code.languages import FLAT, IDENTIFIER, KEYWORDS, definition_name, language_of
from observer.redaction.redact import redact_text
from observer.redaction.secrets import MARKER

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
        code = strip_comments(MARKER.sub(" ", redact_text(added)), self._language)
        found = dict.fromkeys(IDENTIFIER.findall(code))
        new = (name for name in found if _is_informative(name) and name not in removed)
        return tuple(name for _, name in zip(range(MOST_NAMES), new, strict=False))

    def _text(self, sign: bytes) -> str:
        return b"\n".join(self._lines[sign]).decode("utf-8", "replace")


def _is_informative(name: str) -> bool:
    return name not in KEYWORDS and sum(map(str.isdigit, name)) <= MOST_DIGITS
