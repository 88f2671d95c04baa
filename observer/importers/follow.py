"""Following sessions while they go on: which of them are to be read again, and when.

The last minute of a session is left to the hooks, so a session that goes on is read once a minute.
What is read is read as a whole: a file that was replaced, cut or packed is like any other, and the
ids of events keep what is known from being stored again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from observer.importers.finished import FinishedImports
from observer.importers.jsonl import Problems
from observer.importers.plan import Plan
from observer.importers.source import FoundSession, SessionSource
from observer.ingest.duplicates import LIVE_MS

LOOK_EVERY_S = 10.0
"""How often the files are looked at."""

_State = tuple[int, int, int]


class Follower:
    """Follows the sessions of one source.

    Args:
        source: whose sessions.
        paths: the files or folders where they are.
        finished: which sessions need not be read while their files stay as they are.
        since_ms: a session that ended before is not followed.
        idle_ms: a session is over so long after what it did last.
    """

    def __init__(
        self,
        source: SessionSource,
        paths: Sequence[Path],
        finished: FinishedImports,
        *,
        since_ms: int,
        idle_ms: int,
    ) -> None:
        self._source = source
        self._finished = finished
        self._paths = tuple(paths)
        self._since_ms = since_ms
        self._idle_ms = idle_ms
        self._files: Mapping[Path, _State] = {}
        self._sessions: dict[str, FoundSession] = {}
        self._read_ms: dict[str, int] = {}
        self._due_ms: dict[str, int] = {}

    def look(self, at_ms: int) -> Plan:
        """Return the sessions that are to be read now; the plan's others are left out.

        A session that goes on is due again a minute later, and once more when it is over.
        """
        problems = Problems()
        files = dict(_states(self._paths))
        changed = {_main(path) for path, one in files.items() if self._files.get(path) != one}
        self._files = files
        for one in self._found(changed, problems) if changed else ():
            is_new = one != self._sessions.get(one.id) and not changed.isdisjoint(one.paths)
            self._sessions[one.id] = one
            if is_new and one.last_ms >= self._since_ms and not self._is_finished(one):
                self._due_ms[one.id] = max(at_ms, self._read_ms.get(one.id, 0) + LIVE_MS)
        due = [self._sessions[name] for name, when_ms in self._due_ms.items() if when_ms <= at_ms]
        for one in due:
            self._taken(one, at_ms)
        return Plan(self._source, self._paths, due, 0, due, problems)

    def _taken(self, session: FoundSession, at_ms: int) -> None:
        del self._due_ms[session.id]
        self._read_ms[session.id] = at_ms
        for after_ms in (LIVE_MS, self._idle_ms):
            if session.last_ms + after_ms > at_ms:
                self._due_ms[session.id] = session.last_ms + after_ms
                return

    def _is_finished(self, session: FoundSession) -> bool:
        return self._finished.holds(self._source.name, session.id, session.fingerprint())

    def _found(self, changed: Collection[Path], problems: Problems) -> list[FoundSession]:
        """Return the sessions that changed files are of; all of them if a file is a new one."""
        known = {path: one for one in self._sessions.values() for path in one.paths}
        suffixes = {path.suffix for path in known}
        named = {path for path in changed if not known or path.suffix in suffixes}
        if not known.keys() >= named:
            return self._source.find(self._paths, problems)
        touched = {one.id: one for path, one in known.items() if path in named}
        paths = [path for one in touched.values() for path in (*one.paths, *one.before)]
        return [one for one in self._source.find(paths, problems) if one.id in touched]


def _main(path: Path) -> Path:
    """Return the database that a write-ahead log is of; any other file itself."""
    return path.with_name(path.name.removesuffix("-wal"))


def _states(paths: Iterable[Path]) -> Iterator[tuple[Path, _State]]:
    """Yield the files below some paths, with what differs once they were written."""
    for path in paths:
        for folder, _, names in (
            os.walk(path) if path.is_dir() else ((path.parent, (), (path.name,)),)
        ):
            for name in names:
                file = Path(folder, name)
                with suppress(OSError):
                    status = file.stat()
                    yield file, (status.st_size, status.st_mtime_ns, status.st_ino)
