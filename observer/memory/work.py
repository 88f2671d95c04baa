"""The work on a project as it went: its checks run by run, and the branches that it was on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from observer.commands.check import CheckIdentity
from observer.commands.check_runs import BELOW, check_results_of, checks_of
from observer.commands.command_line import simple_commands
from observer.core.events import Command, FileWrite
from observer.core.filters import Filters
from observer.core.model import Item, Project, Recorded, Session, item_id
from observer.observations import project_state
from observer.observations.analysis import analysis_of
from observer.store.reader import StoreReader

SESSIONS = 30
"""Newest sessions of a project whose runs of checks are looked at."""
RUNS = 30
"""Newest runs of one check that are shown."""
CHECKS = 12
NAMED = 200
"""Newest turns, commits and sessions of a project, each, by which its branches are known."""

Part = TypeVar("Part")


class CheckRun(NamedTuple):
    """A run of a check that its outcome proves; `item` may be part of another one by now."""

    at_ms: int
    item: int
    is_ok: bool


class CheckHistory(NamedTuple):
    """The last runs of a checker in a folder, oldest first.

    `is_flaky` if the same check of the same commit passed and failed, and no change was recorded
    between these runs: neither an edit nor a command that may have changed something.
    """

    name: str
    runs: tuple[CheckRun, ...]
    is_flaky: bool


class Branch(NamedTuple):
    """A branch that was worked on; `roots` are the work trees in which it is checked out."""

    name: str
    last_ms: int
    sessions: int
    turn: Item | None
    commit: Item | None
    roots: tuple[str, ...]


class _Step(NamedTuple):
    """A run of `check`, or where that is None a change; `place` is its tree, branch and commit."""

    at_ms: int
    seq: int
    place: tuple[str, str, str]
    check: CheckIdentity | None = None
    is_ok: bool = False


class ReadOnce(Generic[Part]):
    """What events of some kinds say of a session, kept by all that changes with it.

    Args:
        kinds: of the events.
        parts: returns what one of them says.
        most: sessions that are kept.
    """

    def __init__(
        self, kinds: Sequence[str], parts: Callable[[Recorded], Iterable[Part]], *, most: int
    ) -> None:
        self._kinds = kinds
        self._parts = parts
        self._most = most
        self._known: dict[tuple[str, int, int, int], tuple[Part, ...]] = {}

    def of(self, reader: StoreReader, session: Session) -> tuple[Part, ...]:
        """Return what is said of a session, kind by kind, of each the oldest first."""
        key = (reader.epoch(), session.id, session.last_ms, session.events)
        if key not in self._known:
            while len(self._known) >= self._most:
                self._known.pop(next(iter(self._known)), None)
            found = (
                reader.recorded_near(session.id, from_ms=0, to_ms=session.last_ms, kind=kind)
                for kind in self._kinds
            )
            self._known[key] = tuple(
                part for some in found for one in some for part in self._parts(one)
            )
        return self._known[key]


def check_histories(reader: StoreReader, project_id: int) -> list[CheckHistory]:
    """Return the checks of a project with their last runs, what fails now first.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    sessions = reader.sessions(project_id=project_id, limit=SESSIONS)
    found = [step for one in sessions for step in _STEPS.of(reader, one)]
    steps = sorted(found, key=lambda step: (step.at_ms, step.seq))
    names: defaultdict[str, list[_Step]] = defaultdict(list)
    for step in steps:
        if step.check:
            names[_name(step.check)].append(step)
    flaky = {_name(check) for check in _both_ways(steps)}
    shown = [
        CheckHistory(
            name=name,
            runs=tuple(CheckRun(one.at_ms, item_id(one.seq), one.is_ok) for one in ran[-RUNS:]),
            is_flaky=name in flaky,
        )
        for name, ran in names.items()
    ]
    return sorted(shown, key=lambda one: (one.runs[-1].is_ok, -one.runs[-1].at_ms))[:CHECKS]


def _name(check: CheckIdentity) -> str:
    """Return a check as it is called, and where it runs; of a script of a package how it is run."""
    script = check.base.removeprefix("script ")
    name = f"{check.tool} run {script}" if script != check.base else check.base
    return f"{name}{BELOW}{check.folder})" if check.folder else name


def _both_ways(steps: Iterable[_Step]) -> Iterator[CheckIdentity]:
    """Yield the checks of which two runs ended apart though nothing had changed between them."""
    changes: Counter[str] = Counter()
    last: dict[CheckIdentity, tuple[object, bool]] = {}
    for step in steps:
        root = step.place[0]
        if step.check is None:
            changes[root] += 1
            continue
        world = (step.place, changes[root])
        before, was_ok = last.get(step.check, (None, step.is_ok))
        if before == world and was_ok != step.is_ok:
            yield step.check
        last[step.check] = (world, step.is_ok)


def _of(recorded: Recorded) -> Iterator[_Step]:
    event, place = recorded.event, (recorded.root, recorded.branch, recorded.commit)
    body = event.body
    change = _Step(event.at_ms, recorded.seq, place)
    if isinstance(body, FileWrite) and not body.error:
        yield change
    if not isinstance(body, Command):
        return
    ran = {each.place: each.check for each in checks_of(body.command, recorded.root, event.cwd)}
    parts = enumerate(simple_commands(body.command))
    if any(
        not part.looks and part.words[0] != "cd" and (number not in ran or ran[number].is_fixer)
        for number, part in parts
    ):
        yield change
    own = {check for check in ran.values() if not check.is_fixer}
    if own:
        result = analysis_of(recorded).result
        ended = check_results_of(body, result, root=recorded.root, cwd=event.cwd, tasks={})
        failed = own.intersection(ended.failed)
        yield from (
            change._replace(check=one, is_ok=True) for one in own.intersection(ended.passed)
        )
        if len(failed) == 1:  # else nobody knows which of them it was
            yield change._replace(check=failed.pop())


_STEPS = ReadOnce(("command", "file-write"), _of, most=10 * SESSIONS)


def branches(reader: StoreReader, project: Project) -> list[Branch]:
    """Return the branches that a project was worked on lately, the last one first.

    Raises:
        StoreUnavailable: the state of the project is damaged, or of another version.
    """
    state = project_state.decode(reader.project_state(project.id))
    sessions = reader.sessions(project_id=project.id, limit=NAMED)
    turns, commits = (
        _newest(reader.recent(Filters(project_id=project.id, types=(name,)), limit=NAMED))
        for name in ("turn", "commit")
    )
    shown = state.branches
    last_ms = {one.branch: one.last_ms for one in reversed(sessions)}
    for one in (*turns.values(), *commits.values()):
        last_ms[one.branch] = max(one.created_ms, last_ms.get(one.branch, 0))
    counts = Counter(one.branch for one in sessions)
    found = [
        Branch(
            name=name,
            last_ms=last_ms.get(name, 0),
            sessions=counts[name],
            turn=turns.get(name),
            commit=commits.get(name),
            roots=tuple(root for root in project.roots if shown.get(root) == name),
        )
        for name in {*last_ms, *shown.values()}
        if name
    ]
    return sorted(found, key=lambda one: (not one.roots, -one.last_ms))


def _newest(items: Sequence[Item]) -> dict[str, Item]:
    """Return the newest item of each branch of some that are newest first."""
    return {one.branch: one for one in reversed(items)}
