"""The checks of a project that are red: since when, what clears them, how long they are shown.

One list for a project, over all sessions, clients and work trees: a green run of one client clears
what another left red on the same branch. A failure is dropped when a green run covers it, when
each failing test has passed, when the files that it names are deleted, or when it was not seen for
long. What was changed since, and a later run whose end is unknown, are said: they prove nothing.
Each `after_...` function returns the list anew.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.code.languages import PROSE, language_of
from observer.commands import check, check_runs, command_line
from observer.commands.check import CheckIdentity
from observer.commands.check_runs import CheckResults, Tasks, check_results_of
from observer.commands.command_line import InvocationForm, simple_commands
from observer.commands.ending import NotStarted, exit_code_of, start_failure
from observer.commands.outcome import plain_output
from observer.commands.result import CommandResult
from observer.core.events import Command
from observer.core.model import Recorded
from observer.core.patterns import lazy_pattern
from observer.core.text import distinct, is_within, relative
from observer.core.value import Value

MOST = 24
CHANGED = 24
SESSIONS = 8
FORGOTTEN_MS = 7 * 86_400_000
"""A failure that was not seen for so long is dropped."""
_SAME_SIZE = 0.8
"""Share of a failing run's tests that a run of unknown scope must pass to count as covering it."""
_PLACE = lazy_pattern(r"([^\s:()]+\.\w{1,10})(?::|\()\d+")
_LEAF = lazy_pattern(r"::| > |/")
_PASS = lazy_pattern(
    r"\bPASS(?:ED)?\b|--- PASS|✓|✔|\(pass\)|^\s*ok \d|\.\.\. ok\b|\bok$", re.MULTILINE
)


FILES = 30
"""Most files kept of one output."""
_PATH = re.compile(
    r"(?<![\w@:/.-])(?:[A-Za-z]:)?[\w@~.+()\[\]/\\-]{2,300}?\.[A-Za-z]\w{0,9}(?![\w/\\.-]|\.\w)"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo|go/pkg|usr/lib)/"
)


class OpenFailure(Value):
    """A check that failed when it ran last.

    A pass of any of its `checks` clears it: the command's own, and those that its task ran. `tests`
    are the failing tests that have not passed since, if all are known; `failing` those that the
    output named; `total` is the number of tests run, `place` the file of the only error. `item` is
    its observation, `changed` are the files changed since its last run. `is_unread` holds if it
    was run since and nothing shows how that ended, `is_rewritten` if a formatter or fixer has since
    rewritten what it checks: only its next run shows what is left.
    """

    checks: tuple[CheckIdentity, ...]
    head: str
    root: str
    branch: str
    since_ms: int
    last_ms: int
    item: int
    sessions: tuple[int | None, ...]
    client: str = ""
    runs: int = 1
    said: str = ""
    error: str = ""
    signature: str = ""
    tests: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    total: int = 0
    place: str = ""
    changed: tuple[str, ...] = ()
    is_unread: bool = False
    is_rewritten: bool = False


class EndedCommand(NamedTuple):
    """A command line that ended, in a work tree with a branch; `item` is its observation.

    `runs` are the checks that it proves green or red, `unstarted` is why it did no work.
    """

    recorded: Recorded
    body: Command
    result: CommandResult
    runs: CheckResults
    item: int
    unstarted: NotStarted = NotStarted()
    branch: str = ""

    @property
    def at_ms(self) -> int:
        """When it ended."""
        return self.recorded.event.at_ms

    @property
    def head(self) -> str:
        """The command that failed, else the line's head, and where it ran below the root."""
        return self.runs.head or check_runs.located_head(
            self.body.command, root=self.recorded.root, cwd=self.recorded.event.cwd
        )

    @property
    def forms(self) -> tuple[InvocationForm, ...]:
        """The simple commands of the line that do something."""
        folder = check_runs.folder_of(
            simple_commands(self.body.command), self.recorded.root, self.recorded.event.cwd
        )
        return command_line.forms_of(self.body.command, folder=folder)

    @property
    def has_run(self) -> bool:
        """Whether the program did its work, whatever it found."""
        result = self.result
        is_judged = result.is_check and (result.passed is not None or result.failed is not None)
        return not self.unstarted.reason and (result.ok is not False or is_judged)


def ended_command(
    known: Tasks, recorded: Recorded, body: Command, result: CommandResult, item: int
) -> EndedCommand:
    """Return a command that ended, with what it proves where these tasks are known."""
    root = recorded.root
    runs = check_results_of(body, result, root=root, cwd=recorded.event.cwd, tasks=known)
    return EndedCommand(recorded, body, result, runs, item, _why_unstarted(body, result))


def _why_unstarted(body: Command, result: CommandResult) -> NotStarted:
    """Return why a command could not do its work; an empty reason if it did, or reported tests."""
    if result.is_cut_off:
        return NotStarted(reason="stopped", said=result.first_error)
    is_judged = result.ok is True or result.passed is not None or bool(result.failing)
    if is_judged or body.interrupted:
        return NotStarted()
    return start_failure(body.output, code=exit_code_of(body))


OpenFailures = tuple[OpenFailure, ...]


def after_run(known: OpenFailures, ended: EndedCommand) -> OpenFailures:
    """Return the open failures after a command has ended."""
    left = [kept for one in known if (kept := _after_passes(one, ended)) is not None]
    if ended.runs.failed:
        left = _with_failure(left, ended)
    left = [
        replace(one, changed=(), is_unread=True)
        if one.branch == ended.branch and is_run_by(one, ended.runs.unread)
        else one
        for one in left
    ]
    fresh = [one for one in left if ended.at_ms - one.last_ms <= FORGOTTEN_MS]
    return tuple(fresh[-MOST:])


def after_change(known: OpenFailures, root: str, path: str, *, is_gone: bool) -> OpenFailures:
    """Return the open failures after a file was written, or deleted."""
    if language_of(path) in PROSE:
        return known
    return tuple(
        replace(one, changed=distinct((path, *one.changed), CHANGED)) if one.root == root else one
        for one in known
        if not (is_gone and one.root == root and _is_about(one, [path]))
    )


def after_removal(known: OpenFailures, root: str, paths: Collection[str]) -> OpenFailures:
    """Return the open failures after files or folders were deleted by a command."""
    gone = [path for path in paths if path]
    return tuple(one for one in known if one.root != root or not (gone and _is_about(one, gone)))


def after_switch(known: OpenFailures, root: str, old: str, new: str) -> OpenFailures:
    """Return the open failures after a branch was created at HEAD: they move to it."""
    return tuple(
        replace(one, branch=new) if (one.root, one.branch) == (root, old) else one for one in known
    )


def after_commit(
    known: OpenFailures, branch: str, hooks: Collection[CheckIdentity]
) -> OpenFailures:
    """Return the open failures after a person's commit, without those that its hooks check."""
    return tuple(
        one
        for one in known
        if one.branch != branch
        or not any(check.is_same_checker(hook, red) for hook in hooks for red in one.checks)
    )


def without_work(known: OpenFailures, root: str, branch: str) -> OpenFailures:
    """Return the open failures without those of a work tree whose changes were discarded."""
    return tuple(one for one in known if (one.root, one.branch) != (root, branch))


def is_run_by(one: OpenFailure, ran: Iterable[CheckIdentity]) -> bool:
    """Return True if one of some runs looks at all that a failing check looked at."""
    return any(check.covers(again, red) for again in ran for red in one.checks)


def worth_showing(
    known: OpenFailures, *, now_ms: int, shown: Mapping[str, str]
) -> list[OpenFailure]:
    """Return the failures that probably still hold, newest first, each check once.

    Args:
        known: the open failures of a project.
        now_ms: the present time.
        shown: work tree -> the branch checked out there; failures of other branches are left out.
            If it is empty, no branch is left out.
    """
    found: list[OpenFailure] = []
    for one in sorted(known, key=lambda one: -one.last_ms):
        is_here = not shown or one.branch in shown.values()
        is_known = now_ms - one.last_ms <= FORGOTTEN_MS and not one.is_rewritten
        if is_here and is_known and not any(_overlap(one, other) for other in found):
            found.append(one)
    return found


def _overlap(one: OpenFailure, other: OpenFailure) -> bool:
    pairs = [(a, b) for a in one.checks for b in other.checks]
    return any(check.covers(a, b) or check.covers(b, a) for a, b in pairs)


def _after_passes(one: OpenFailure, ended: EndedCommand) -> OpenFailure | None:
    """Return a failure without the tests that passed; None if it is cleared."""
    if one.branch != ended.branch or not ended.runs.passed:
        return _without_named(one, ended)
    for green in ended.runs.passed:
        if green.is_fixer and not any(red.is_fixer for red in one.checks):
            one = replace(one, is_rewritten=one.is_rewritten or _is_rewritten(one, green))
            continue
        if any(_clears(green, red, one, ended) for red in one.checks):
            return None
        left = _without_covered(one, green, ended)
        if left is None:
            return None
        one = left
    return _without_named(one, ended)


def _clears(
    green: CheckIdentity, red: CheckIdentity, one: OpenFailure, ended: EndedCommand
) -> bool:
    """Return True if a green run covers a red one; if a scope is unknown, test counts decide."""
    passed = ended.result.passed
    is_counted = green.kind in {"test", "all"} and passed is not None and one.total > 0
    is_vague = green.is_guess or green.is_task or red.is_guess or green.folder != red.folder
    if not (is_counted and is_vague):
        return check.clears(green, red)
    is_alike = check.covers(green, red) or (
        check.is_same_checker(green, red)
        and set(green.filters) <= set(red.filters)
        and (red.is_guess or check.is_within_scope(green, red))
    )
    return is_alike and (passed or 0) >= _SAME_SIZE * one.total


def _is_rewritten(one: OpenFailure, green: CheckIdentity) -> bool:
    """Return True if a fixer ran on what the failing check covers."""
    is_at = bool(one.place) and check.selects_test(green, one.place)
    return any(
        check.covers(green, red) or (is_at and check.is_comparable(green, red))
        for red in one.checks
    )


def _without_covered(
    one: OpenFailure, green: CheckIdentity, ended: EndedCommand
) -> OpenFailure | None:
    """Return a failure without the tests that a narrower green run covers; None if none is left."""
    is_known = not (green.is_guess or green.is_task)
    if not is_known or not any(check.is_comparable(green, red) for red in one.checks):
        return one
    if not one.tests:
        is_at = bool(one.place) and not green.filters and check.selects_test(green, one.place)
        return None if is_at else one
    left = tuple(name for name in one.tests if not check.selects_test(green, name, one.place))
    if green.is_of_last_failed and (ended.result.passed or 0) < len(one.tests) - len(left):
        return one
    return replace(one, tests=left) if left else None


def _without_named(one: OpenFailure, ended: EndedCommand) -> OpenFailure | None:
    """Return a failure without the tests that an output names as passed."""
    if not one.tests or one.branch != ended.branch or ended.result.passed is None:
        return one
    left = tuple(name for name in one.tests if not _is_named_as_passed(name, ended.body.output))
    return replace(one, tests=left) if left else None


def _is_named_as_passed(name: str, output: str) -> bool:
    """Return True if the first line of an output that names a test says that it passed."""
    leaf = _LEAF.split(name)[-1]
    at = output.find(leaf) if len(leaf) > 3 else -1
    if at < 0:
        return False
    line = output[output.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    return _PASS.search(line) is not None and all(part in line for part in _LEAF.split(name)[-2:])


def _with_failure(known: Sequence[OpenFailure], ended: EndedCommand) -> list[OpenFailure]:
    """Return the failures with a new one, which replaces those that its run covers."""
    new = _new_failure(ended)
    left = []
    for one in known:
        if one.branch == new.branch and _continues(new, one):
            new = _continued(new, one)
        else:
            left.append(one)
    return [*left, new]


def _continues(new: OpenFailure, one: OpenFailure) -> bool:
    return new.checks[0] == one.checks[0] or any(
        check.covers(wide, narrow)
        for wide in new.checks
        if not wide.is_guess
        for narrow in one.checks
    )


def _continued(new: OpenFailure, one: OpenFailure) -> OpenFailure:
    is_same = new.checks[0] == one.checks[0]
    return replace(
        new,
        since_ms=one.since_ms if is_same else new.since_ms,
        runs=one.runs + 1 if is_same else new.runs,
        sessions=tuple(dict.fromkeys((*one.sessions, *new.sessions)))[-SESSIONS:],
    )


def _new_failure(ended: EndedCommand) -> OpenFailure:
    result = ended.result
    return OpenFailure(
        checks=ended.runs.failed,
        head=ended.runs.head,
        root=ended.recorded.root,
        branch=ended.branch,
        since_ms=ended.at_ms,
        last_ms=ended.at_ms,
        item=ended.item,
        sessions=(ended.recorded.session_id,),
        client=ended.recorded.event.client,
        said=result.said,
        error=result.first_error,
        signature=result.signature,
        tests=all_failing(result),
        failing=result.failing,
        total=(result.passed or 0) + (result.failed or 0) if result.passed is not None else 0,
        place=place_in(result.first_error) if result.failed == 1 else "",
    )


def _is_about(one: OpenFailure, gone: Iterable[str]) -> bool:
    """Return True if all files that a failure names were deleted."""
    files = files_of(one)
    return bool(files) and all(is_within(path, list(gone)) for path in files)


def files_of(one: OpenFailure) -> frozenset[str]:
    """Return the files that a failure names: of its tests, its commands and its only error."""
    tests = {name.partition("::")[0] for name in one.tests if "::" in name}
    given = {path for red in one.checks if not red.is_task for path in red.paths if "." in path}
    return frozenset({*tests, *given, one.place} - {""})


def all_failing(result: CommandResult) -> tuple[str, ...]:
    """Return the names of all failing tests; nothing if some may be missing."""
    is_all = result.failed is None or result.failed <= len(result.failing)
    return result.failing if is_all else ()


def place_in(error: str) -> str:
    """Return the file in `cart.py:7` or `cart.ts(7,3)`, the first in an error; "" if none."""
    found = _PLACE.search(error)
    return found.group(1) if found else ""


def files_named_in(output: str, *, root: str, cwd: str) -> tuple[str, ...]:
    """Return the files that an output names, relative to the project, in its order.

    Only names with the extension of a known language count, and none of installed packages.
    """
    found = (match.group().lstrip("([-") for match in _PATH.finditer(plain_output(output)))
    return distinct(
        (
            relative(name, root, cwd)
            for name in found
            if language_of(name) and not _FOREIGN.search(name)
        ),
        FILES,
    )
