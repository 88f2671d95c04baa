"""The working set of a project: the files that are likely next, and the checks that work here.

A file counts by how many turns and commits, whoever made them, changed it, recent ones more; that
predicts more of the files that a session needs than the tail of `git log` does.
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
from observer.shell.check import rewrites
from observer.shell.check_tools import checker_of
from observer.store.reader import StoreReader

LATEST = 300
"""Turns and commits that are looked at."""
HALF_LIFE = 8
"""Turns after which what changed a file counts half."""
LASTING, LASTING_HALF_LIFE = 0.1, 60
"""What counts of it beside that, and fades slower: some files are changed again and again. Without,
20 names held 2.6 points less of the files that a session touched first, and 10 names 3.7 less; with
sessions instead of turns as the measure of age, as many in one repository, and in another, of long
sessions, 18 points less."""
COMMITTED = 0.5
"""What a commit of a file counts; a turn that changed it counts 1."""
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
    """Return the files of a project by how much its last turns and commits changed them.

    What sessions changed without a prompt, or merely read, stands behind. Paths are relative to
    the project's root; those outside of it are left out.
    """
    work = Filters(project_id=project_id, types=("turn", "commit"))
    weights: dict[str, float] = defaultdict(float)
    age = 0
    for item in reader.recent(work, limit=LATEST):
        fading = math.exp2(-age / HALF_LIFE) + LASTING * math.exp2(-age / LASTING_HALF_LIFE)
        for path in item.files_modified:
            weights[path] += fading * (COMMITTED if item.type == "commit" else 1)
        age += item.type == "turn"
    # Sorted by name first, so that equal weights keep their order from one session to the next.
    changed = sorted(sorted(weights), key=lambda path: -weights[path])
    summaries = [past.summary for past in pasts]
    others = [path for one in summaries for path in (*one.files_modified, *one.files_read)]
    return [path for path in dict.fromkeys([*changed, *others]) if _is_of_work(path)]


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
