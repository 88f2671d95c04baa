"""Imports that the daemon carries out in the background: what was asked, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from observer.core.paths import Home, read_plain
from observer.core.value import Value, decode_json
from observer.importers.plan import Choice
from observer.importers.source import SessionSource
from observer.spool.files import replace


class QueuedSource(Value):
    """A source, and the files or folders of which its sessions are imported."""

    name: str
    paths: tuple[str, ...]


class QueuedImport(Value):
    """An import in the background: what was chosen, the sessions to read, how many are stored."""

    sources: tuple[QueuedSource, ...]
    since_ms: int = 0
    project: str = ""
    sessions: int = 0
    done: int = 0

    def choices(
        self, sources: Mapping[str, SessionSource]
    ) -> Iterator[tuple[SessionSource, Choice]]:
        """Yield the sources that are still known, and what was chosen of each."""
        for one in self.sources:
            if one.name in sources:
                paths = tuple(path for each in one.paths if (path := Path(each)).exists())
                if paths:
                    yield sources[one.name], Choice(paths, self.since_ms, self.project)


def queue(home: Home, asked: QueuedImport) -> None:
    """Keep an import for the daemon, or how far it is; it takes the place of the one before."""
    replace(home.importing, msgspec.json.encode(asked))


def queued(home: Home) -> QueuedImport | None:
    """Return the import that is not finished yet; None without one, or with one that is damaged."""
    try:
        return decode_json(read_plain(home.importing), QueuedImport)
    except (OSError, ValueError):  # it is asked for again, which stores nothing twice
        return None


def drop(home: Home) -> bool:
    """Take the import in the background as finished, or given up; False if there was none."""
    try:
        home.importing.unlink()
    except FileNotFoundError:
        return False
    return True
