"""The names that a patch brings into a file: what is in its added lines and not in removed ones.

They say what a commit is about where its subject does not. The lines pass the redaction first: a
value that was added beside a key must not come out as a name.
"""

from __future__ import annotations

from observer.capture.redact import redact_text
from observer.capture.repository.symbols import DATA
from observer.capture.secrets import MARKER
from observer.languages import FLAT, IDENTIFIER, KEYWORDS, language_of
from observer.syntax import code_of

MOST_NAMES = 8
"""Names told of one file."""
MOST_BYTES = 6_000
"""Changed text of one file that is looked at, added and removed each."""
MOST_DIGITS = 3
"""Of a name; what has more is a number, a digest or a date."""


class Names:
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
        code = code_of(MARKER.sub(" ", redact_text(added)), self._language)
        found = dict.fromkeys(IDENTIFIER.findall(code))
        new = (name for name in found if _tells(name) and name not in removed)
        return tuple(name for _, name in zip(range(MOST_NAMES), new, strict=False))

    def _text(self, sign: bytes) -> str:
        return b"\n".join(self._lines[sign]).decode("utf-8", "replace")


def _tells(name: str) -> bool:
    return name not in KEYWORDS and sum(map(str.isdigit, name)) <= MOST_DIGITS
