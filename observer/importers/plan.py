"""What an import would bring: the sessions that a source has, and which of them are to be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from observer.core.paths import Home, is_inside
from observer.importers.finished import FinishedImports
from observer.importers.jsonl import Problems
from observer.importers.source import FoundSession, SessionSource
from observer.importers.work_trees import known_roots, placed, work_trees
from observer.store.database import SqliteStore


class Choice(NamedTuple):
    """Which sessions are imported: those of files, since a time, in a folder."""

    paths: tuple[Path, ...] = ()
    since_ms: int = 0
    project: str = ""


class Plan(NamedTuple):
    """What was found of a source: all sessions, those in the memory, those that are to be read.

    `paths` are the folders and files where it was looked.
    """

    source: SessionSource
    paths: tuple[Path, ...]
    found: list[FoundSession]
    known: int
    new: list[FoundSession]
    problems: Problems


def plan_import(
    home: Home,
    sources: Iterable[SessionSource],
    choice: Choice,
    finished: FinishedImports,
    environ: Mapping[str, str],
) -> list[Plan]:
    """Return what an import would bring, of those sources that have something.

    Those that look in work trees come after those that name some.
    """
    roots = known_roots(home)
    plans = []
    for source in sources:
        paths = choice.paths or source.paths(environ, sorted(roots))
        plans.append(plan_source(home, source, choice._replace(paths=paths), finished, roots))
        roots |= work_trees(one.folder for one in plans[-1].found)
    return [plan for plan in plans if plan.found]


def plan_source(
    home: Home,
    source: SessionSource,
    choice: Choice,
    finished: FinishedImports,
    roots: Collection[str] = (),
) -> Plan:
    """Return what an import of one source would bring, from the chosen paths alone.

    `roots` are those of projects, beside the ones in the memory.
    """
    problems = Problems()
    there = source.find(choice.paths, problems)
    if any(one.folder and not one.folder.startswith("/") for one in there):
        known = known_roots(home).union(roots)
        there = [placed(one, known) for one in there]
    found = [
        one
        for one in there
        if one.last_ms >= choice.since_ms
        and (not choice.project or is_inside(one.folder, choice.project))
    ]
    recorded = _recorded(home, source, [one.id for one in found], finished)
    new = [
        one
        for one in found
        if not (one.id in recorded and finished.holds(source.name, one.id, one.fingerprint()))
    ]
    return Plan(source, choice.paths, found, len(recorded), new, problems)


def _recorded(
    home: Home, source: SessionSource, names: Sequence[str], finished: FinishedImports
) -> frozenset[str]:
    """Return those of which something is in the memory."""
    if not home.database.exists():
        return frozenset()
    if not source.is_of_sessions:
        return finished.names(source.name) & frozenset(names)
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        return frozenset(one for one in names if reader.session_called(one))


def size_of(sessions: Iterable[FoundSession]) -> int:
    """Return the bytes of sessions' files."""
    return sum(one.size_bytes for one in sessions)
