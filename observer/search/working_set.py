"""The working set of a project: the files that work concentrates on, and the checks that work here.

Both are derived from the last sessions. A file counts by how many sessions read or wrote it,
recent ones more, and by the newest commits, whoever made them; that predicts more of the files that
a session needs than the tail of `git log` does.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from observer.code.languages import language_of
from observer.core.filters import Filters
from observer.core.model import Item, Session, item_id
from observer.core.text import named
from observer.core.value import decode_json
from observer.observations import session_state
from observer.observations.fix_text import ALTERNATIVE
from observer.observations.session_state import SessionState
from observer.shell import command_line
from observer.shell.check_tools import checker_of
from observer.shell.fixers import rewrites
from observer.store.interface import StoreReader

SESSIONS = 40
"""Sessions that are looked at, the last active ones: the share of older ones is under 2 %."""
COMMITS = 40
MOST_FILES = 60
"""Files that are named. The 60 most frequent held 74 % of the files that a session touched in its
first 20 tool calls, 40 held 65 %, 20 held 52 % (88 of 98 real sessions of one repository)."""
DECAY = 0.9
"""What a session counts less than the next younger one."""
WRITTEN_WEIGHT = 2.0
"""What a write counts more than a read."""
COMMIT_WEIGHT, COMMIT_DECAY = 0.7, 0.95
"""What the file that was committed last counts, and each one before it less."""
FORMS = 40
"""Newest fixes by another form of a command that are looked at."""
MOST_CHECKS = 4
CHECK_CHARS = 100
_COMMON = frozenset({"package-lock.json", "yarn.lock", "bun.lock", "pnpm-lock.yaml", "uv.lock"})
"""Files that tools write; nobody reads them."""
_PROSE = frozenset({"css", "ini", "json", "markdown", "restructuredtext", "toml", "yaml"})
"""Languages whose symbols are headings, selectors and keys."""


class SessionWork(NamedTuple):
    """A session as far as the working set goes."""

    session: Session
    summary: Item
    state: SessionState


class WorkingCheck(NamedTuple):
    """A check that passed here: its command line, what it said last, and in which session."""

    command: str
    said: str
    work: SessionWork


class CommandForm(msgspec.Struct, frozen=True):
    """A form of a command that could not run here, the one that did, and how often it was met."""

    failed: str
    works: str
    times: int = 1


def recent_work(reader: StoreReader, project_id: int) -> list[SessionWork]:
    """Return the last sessions of a project that did something, the last active first.

    Raises:
        StoreUnavailable: a session's state is of another version; a rebuild makes it anew.
    """
    sessions = reader.sessions(project_id=project_id, limit=SESSIONS)
    ids = [item_id(session.id, "summary") for session in sessions]
    summaries = {item.id: item for item in reader.items(ids)}
    return [
        SessionWork(session, summary, session_state.decode(session.state))
        for session, summary in zip(sessions, map(summaries.get, ids), strict=True)
        if summary
    ]


def frequent_files(reader: StoreReader, project_id: int, works: Sequence[SessionWork]) -> list[str]:
    """Return the files of a project by how much of its recent work they had part in.

    Paths are relative to the project's root; those outside of it are left out.
    """
    filters = Filters(project_id=project_id, types=("commit",))
    commits = reader.recent(filters, limit=COMMITS)
    weights: dict[str, float] = defaultdict(float)
    for age, work in enumerate(works):
        for path in {*work.summary.files_read, *work.summary.files_modified}:
            weights[path] += DECAY**age
        for path in set(work.summary.files_modified):
            weights[path] += WRITTEN_WEIGHT * DECAY**age
    committed = dict.fromkeys(path for commit in commits for path in commit.files_modified)
    for place, path in enumerate(committed):
        weights[path] += COMMIT_WEIGHT * COMMIT_DECAY**place
    # Sorted by name first, so that equal weights keep their order from one session to the next.
    inside = sorted(path for path in weights if _is_of_work(path))
    return sorted(inside, key=lambda path: -weights[path])


def working_checks(works: Sequence[SessionWork]) -> list[WorkingCheck]:
    """Return the commands that test, check and build here: of each kind the one used most.

    One that does several of these at once is there only for a kind that no other does.
    """
    weights: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    last: dict[str, WorkingCheck] = {}
    for age, work in enumerate(works):
        for command, ran in work.state.commands.items():
            kinds = _kinds(command) if ran.ok and ran.is_check else ()
            if kinds:
                weights[kinds][command] += ran.runs * DECAY**age
                last.setdefault(command, WorkingCheck(command, ran.said, work))
    # Of two that were used alike, the shorter one checks more.
    best = {
        kinds: max(of.items(), key=lambda pair: (pair[1], -len(pair[0])))
        for kinds, of in weights.items()
    }
    chosen: list[str] = []
    covered: set[str] = set()
    for kinds in sorted(best, key=lambda kinds: (len(kinds), -best[kinds][1])):
        if not covered.issuperset(kinds):
            chosen.append(best[kinds][0])
            covered.update(kinds)
    return [last[command] for command in chosen[:MOST_CHECKS]]


def working_forms(reader: StoreReader, project_id: int) -> list[Item]:
    """Return the fixes that say which form of a command works here, the most often met first."""
    filters = Filters(project_id=project_id, types=("fix",), categories=(ALTERNATIVE,))
    known = ((form_of(item), item) for item in reader.recent(filters, limit=FORMS))
    met = [(form.times, item.id, item) for form, item in known if form and form.times > 1]
    return [item for *_, item in sorted(met, key=lambda each: each[:2], reverse=True)]


def form_of(item: Item) -> CommandForm | None:
    """Return which form of a command works instead of which; None for another item."""
    try:
        return decode_json(item.metadata, CommandForm) if item.metadata else None
    except msgspec.DecodeError:
        return None


def dense(paths: Iterable[str]) -> str:
    """Return files folder by folder, in the order in which they come first.

    ``src/api: a.ts b.ts · README.md · web: c.tsx``. A name that several of them have keeps its
    folder's name, so that each is known by its last two parts.
    """
    paths = list(paths)
    names = Counter(map(posixpath.basename, paths))
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, name = posixpath.split(path)
        if names[name] > 1 and folder:
            above, last = posixpath.split(folder)
            folder, name = above, f"{last}/{name}"
        folders.setdefault(folder and named(folder), []).append(named(name))
    return " · ".join(
        f"{folder}: {' '.join(names)}" if folder else " ".join(names)
        for folder, names in folders.items()
    )


def frequent_symbols(works: Sequence[SessionWork]) -> list[str]:
    """Return the symbols of code that sessions changed, by how many did, younger ones more."""
    weights: dict[str, float] = defaultdict(float)
    for age, work in enumerate(works):
        written = (
            touched
            for path, touched in work.state.files.items()
            if touched.writes and _is_of_code(path)
        )
        for symbol in {symbol for touched in written for symbol in touched.symbols}:
            weights[symbol] += DECAY**age
    return sorted(sorted(weights), key=lambda symbol: -weights[symbol])


def _is_of_work(path: str) -> bool:
    is_inside = not path.startswith(("/", "../", "~"))
    return is_inside and posixpath.basename(path) not in _COMMON


def _is_of_code(path: str) -> bool:
    return language_of(path) not in {"", *_PROSE}


@lru_cache(maxsize=4096)
def _kinds(command: str) -> tuple[str, ...]:
    """Return what a command line judges, nothing if it does anything else as well."""
    if len(command) > CHECK_CHARS:
        return ()
    parts = [part for part in command_line.simple_commands(command) if part.words[0] != "cd"]
    judges = [None if rewrites(part) else checker_of(part.words) for part in parts]
    kinds = sorted({judge.kind for judge in judges if judge})
    return tuple(kinds) if all(judges) else ()
