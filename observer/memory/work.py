"""The work on a project as it went: its checks run by run, its branches, and what of it was used.

A given item was used if the same session later fetched it by its id, read or changed a file that it
names, changed a symbol that it names, or ran its command. That proves no cause: the session may
have done so anyway.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from observer.commands.check import CheckIdentity
from observer.commands.check_runs import BELOW, check_results_of, checks_of
from observer.commands.command_line import parse_command_line, simple_commands
from observer.core.events import AnyBody, Command, FileRead, FileWrite, Search
from observer.core.filters import Filters, is_visible
from observer.core.model import Item, Project, Recorded, Session, item_id
from observer.core.own_tools import own_tool_name
from observer.core.text import relative
from observer.core.value import SymbolChanges, decode_json
from observer.local.given import Giving
from observer.observations import project_state
from observer.observations.analysis import analysis_of
from observer.search.recent_sessions import CommandForm, named_in
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

    `is_flaky`: the same check of one commit passed and failed, and no edit nor command that may
    have changed something was recorded between.
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
    """What events of some kinds say of a session, by `parts`, kept for the `most` last sessions."""

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
    """Return the checks of a project with their last runs, what fails now first."""
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
    """Return the branches that a project was worked on lately, the last one first."""
    state = project_state.decode(reader.project_state(project.id))
    sessions = reader.sessions(project_id=project.id, limit=NAMED)
    here = Filters(project_id=project.id)
    found = (
        reader.recent(replace(here, types=(name,)), limit=NAMED) for name in ("turn", "commit")
    )
    turns, commits = ({one.branch: one for one in reversed(items)} for items in found)
    shown = state.branches
    last_ms = {one.branch: one.last_ms for one in reversed(sessions)}
    for one in (*turns.values(), *commits.values()):
        last_ms[one.branch] = max(one.created_ms, last_ms.get(one.branch, 0))
    counts = Counter(one.branch for one in sessions)
    known = [
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
    return sorted(known, key=lambda one: (not one.roots, -one.last_ms))


FETCHES = frozenset({"get_observations", "fetch", "timeline"})
"""Tools of ours that are asked for items by their ids."""
KINDS = ("command", "file-read", "file-write", "search")
MOST = 400
"""Sessions of which it is kept in mind what they did."""
SYMBOL_CHARS = 4
"""A shorter name of a symbol is a word of any text."""
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d{1,18}")


class UsedItem(NamedTuple):
    """An item that was given, and by what act of the session it was used; empty for by none."""

    item: Item
    how: str


class GivenToSession(NamedTuple):
    """What a session was given at once, and what of it that session then used."""

    given: Giving
    session: Session
    items: tuple[UsedItem, ...]


class _Act(NamedTuple):
    """What a later event touched."""

    fetched: frozenset[int] = frozenset()
    files: tuple[str, ...] = ()
    symbols: frozenset[str] = frozenset()
    command: str = ""


class _Given(NamedTuple):
    """An item with its text, and the commands that it is about."""

    item: Item
    text: str
    commands: list[str]


def used(
    reader: StoreReader,
    givings: Iterable[Giving],
    *,
    project: Project | None,
    owner: str,
    limit: int,
) -> list[GivenToSession]:
    """Return what known sessions were given, of a project or all, with what became of each item.

    The first `limit` count; items that are gone are left out.
    """
    runs = ((given, reader.runs(given.client, given.session)) for given in givings)
    numbers = (
        (one, ran.get(project.id, 0) if project else max(ran.values(), default=0))
        for one, ran in runs
    )
    found = ((one, session) for one, number in numbers if (session := reader.session(number)))
    known = list(islice(found, limit))
    ids = dict.fromkeys(number for given, _ in known for number in given.items)
    items = {
        one.id: _Given(one, "\n".join((one.title, one.narrative, *one.facts)), _commands(one))
        for one in reader.items(list(ids))
        if is_visible(one, owner)
    }
    made = []
    for given, session in known:
        later = [act for at_ms, act in _ACTS.of(reader, session) if at_ms >= given.at_ms]
        of_it = [items[number] for number in given.items if number in items]
        uses = tuple(UsedItem(one.item, _how(one, later)) for one in of_it)
        made.append(GivenToSession(given, session, uses))
    return made


def _acts(recorded: Recorded) -> Iterator[tuple[int, _Act]]:
    body: AnyBody = recorded.event.body
    at_ms = recorded.event.at_ms
    where = (recorded.root, recorded.event.cwd)
    if isinstance(body, Search) and own_tool_name(body.tool) in FETCHES:
        yield at_ms, _Act(fetched=frozenset(map(int, _NUMBER.findall(body.query))))
    elif isinstance(body, FileRead):
        yield at_ms, _Act(files=tuple(relative(path, *where) for path in body.paths))
    elif isinstance(body, FileWrite) and not body.error:
        known = body.symbols or SymbolChanges()
        paths = (*known.added, *known.changed, *known.resigned, *known.removed)
        names = {path.rpartition(".")[2] for path in paths}
        long = frozenset(name for name in names if len(name) >= SYMBOL_CHARS)
        yield at_ms, _Act(files=(relative(body.path, *where),), symbols=long)
    elif isinstance(body, Command):
        yield at_ms, _Act(command=body.command)


_ACTS = ReadOnce(KINDS, _acts, most=MOST)


def _how(one: _Given, later: Sequence[_Act]) -> str:
    """Return by which act an item was used, the plainest one; "" for by none."""
    item = one.item
    if any(item.id in act.fetched for act in later):
        return "fetched"
    files = list(dict.fromkeys(path for act in later for path in act.files))
    of_item = {*item.files_modified, *item.files_read} | named_in(one.text, files)
    if touched := next((path for path in files if path in of_item), ""):
        return f"touched {touched}"
    symbols = {name for act in later for name in act.symbols}
    if named := symbols and sorted(symbols.intersection(_WORD.findall(one.text))):
        return f"changed {named[0]}"
    ran = (act.command for act in later if one.commands and act.command)
    if command := next((each for line in ran for each in one.commands if _runs(line, each)), ""):
        return f"ran {command}"
    return ""


def _commands(item: Item) -> list[str]:
    """Return the commands that an item is about: what it ran, or what works in place of another."""
    if item.type == "fix" and item.metadata:
        with suppress(msgspec.MsgspecError):
            return [decode_json(item.metadata, CommandForm).works]
    lines = [fact.removeprefix("$ ") for fact in item.facts if fact.startswith("$ ")]
    return [parse_command_line(line).head for line in lines] if item.type == "command" else []


def _runs(line: str, command: str) -> bool:
    shown = (part.shown for part in simple_commands(line))
    is_in = any(f"{one} ".startswith(f"{command} ") for one in shown)
    return is_in or parse_command_line(line).head == command
