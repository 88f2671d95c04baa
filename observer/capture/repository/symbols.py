"""The functions, classes and sections that a patch touches, by their defining lines.

A hunk names its surroundings (the nearest definition above) and shows changed lines. A changed
definition counts always. The surroundings count only if the hunk changes something inside them: a
function put behind another does not change that other.
"""

from __future__ import annotations

from observer.languages import FLAT, definition, language_of

MOST_SYMBOLS = 30
"""Symbols named of one file; a last entry says that there are more."""
CUT = "[… more]"

DATA = "json"
"""A language of which every line would be a definition: it names nothing here."""
_LINE_BYTES = 300
_BRACKETS = "{}()[];, \t\r\f\v"


class Symbols:
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
            self._around = definition(*_unindented(context), self._language)

    def line(self, text: bytes) -> None:
        """Take a changed line, without its sign."""
        shown, indent = _unindented(text)
        if not self._language or not shown.strip(_BRACKETS):
            return
        name = definition(shown, indent, self._language)
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
