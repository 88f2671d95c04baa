"""The working set of a project: the files that are likely next, and the checks that work here.

Both are derived from the last sessions. A file counts by how many sessions and commits, whoever
made them, touched it, recent ones more; that predicts more of the files that a session needs than
the tail of `git log` does.
"""

from __future__ import annotations

import math
import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from observer.core.filters import Filters
from observer.core.model import Item
from observer.core.text import named
from observer.core.value import decode_json
from observer.observations.fix_text import ALTERNATIVE
from observer.search.recent_sessions import PastSession
from observer.shell import command_line
from observer.shell.check_tools import checker_of
from observer.shell.fixers import rewrites
from observer.store.interface import StoreReader

COMMITS = 100
HALF_LIFE = 5
"""Sessions after which what touched a file counts half."""
LASTING, LASTING_HALF_LIFE = 0.2, 30
"""What counts of it beside that, and fades slower: some files are touched again and again. Without,
20 names held 1.4 points less of the files that a session touched first, and 10 names 4.0 less."""
PASSING = 0.5
"""What a read or a commit of a file counts; an edit counts 1."""
DECAY = 0.9
"""What the runs of a check in a session count less than those in the next younger one."""
FORMS = 40
"""Newest fixes by another form of a command that are looked at."""
MOST_CHECKS = 4
CHECK_CHARS = 100
_COMMON = frozenset({"package-lock.json", "yarn.lock", "bun.lock", "pnpm-lock.yaml", "uv.lock"})
"""Files that tools write; nobody reads them."""


class CommandForm(msgspec.Struct, frozen=True):
    """A form of a command that could not run here, the one that did, and how often it was met."""

    failed: str
    works: str
    times: int = 1


def likely_files(reader: StoreReader, project_id: int, pasts: Sequence[PastSession]) -> list[str]:
    """Return the files of a project by how much of its recent work they had part in.

    Paths are relative to the project's root; those outside of it are left out.
    """
    commits = reader.recent(Filters(project_id=project_id, types=("commit",)), limit=COMMITS)
    weights: dict[str, float] = defaultdict(float)
    for age, past in enumerate(pasts):
        edited = set(past.summary.files_modified)
        for path in edited.union(past.summary.files_read):
            weights[path] += _fading(age) * (1 if path in edited else PASSING)
    for commit in commits:
        age = sum(past.session.last_ms > commit.created_ms for past in pasts)
        for path in commit.files_modified:
            weights[path] += _fading(age) * PASSING
    # Sorted by name first, so that equal weights keep their order from one session to the next.
    inside = sorted(path for path in weights if _is_of_work(path))
    return sorted(inside, key=lambda path: -weights[path])


def _fading(age: int) -> float:
    """Return what counts of a session that so many came after."""
    return math.exp2(-age / HALF_LIFE) + LASTING * math.exp2(-age / LASTING_HALF_LIFE)


def working_checks(pasts: Sequence[PastSession]) -> list[str]:
    """Return the commands that test, check and build here: of each kind the one used most.

    One that does several of these at once is there only for a kind that no other does.
    """
    weights: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for age, past in enumerate(pasts):
        for command, ran in past.state.commands.items():
            kinds = _kinds(command) if ran.ok and ran.is_check else ()
            if kinds:
                weights[kinds][command] += ran.runs * DECAY**age
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
    return chosen[:MOST_CHECKS]


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


def dense(paths: Sequence[str], among: Iterable[str] = ()) -> str:
    """Return files folder by folder, in the order in which they come first.

    ``src/api: a.ts b.ts · README.md · web: c.tsx``. A name that several of them have, or of the
    files that they are `among`, keeps its folder's name, so that each is known by its last two
    parts.
    """
    names = Counter(map(posixpath.basename, {*paths, *among}))
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


def _is_of_work(path: str) -> bool:
    is_inside = not path.startswith(("/", "../", "~"))
    return is_inside and posixpath.basename(path) not in _COMMON


@lru_cache(maxsize=4096)
def _kinds(command: str) -> tuple[str, ...]:
    """Return what a command line judges, nothing if it does anything else as well."""
    if len(command) > CHECK_CHARS:
        return ()
    parts = [part for part in command_line.simple_commands(command) if part.words[0] != "cd"]
    judges = [None if rewrites(part) else checker_of(part.words) for part in parts]
    kinds = sorted({judge.kind for judge in judges if judge})
    return tuple(kinds) if all(judges) else ()
