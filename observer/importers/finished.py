"""Which sessions were imported whole, and from files of which state, so that none is read again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from observer.core import json_text
from observer.spool.files import replace


class FinishedImports:
    """Fingerprints of imported sessions by their sources and ids.

    Without the file, or with one that is damaged, everything is imported again, which stores
    nothing twice.

    Args:
        file: where they are kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, dict[str, str]] = {}
        with suppress(OSError, ValueError, RecursionError):
            said = json_text.load(file.read_bytes())
            if isinstance(said, dict):
                self._known = {name: one for name, one in said.items() if isinstance(one, dict)}

    def holds(self, source: str, session: str, fingerprint: str) -> bool:
        """Return True if a session was imported from files that have not changed since."""
        return self._known.get(source, {}).get(session) == fingerprint

    def names(self, source: str) -> frozenset[str]:
        """Return the ids of what was imported from a source, whether or not it has changed."""
        return frozenset(self._known.get(source, ()))

    def add(self, source: str, fingerprints: Mapping[str, str]) -> None:
        """Keep that sessions were imported; they are given by their ids."""
        self._known.setdefault(source, {}).update(fingerprints)
        replace(self._file, json_text.dump(self._known))
