"""The checks of a project that failed last: since when, what clears them, how long they are shown.

One list for a project, over all sessions, clients and work trees: a green run of one client clears
what another left red on the same branch. A failure is dropped when a green run covers it, when
each failing test has passed, when the files that it names are deleted, or when it was not seen for
long. What was changed since, and a later run whose end is unknown, are said: they prove nothing.
Beside checks, the list has every other command that failed: what the same words do later, or other
words in its place, may be worth knowing (`failure_tracker`). Each `after_...` function returns the
list anew. `seq` is a number of `drafts.order_of`.
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
from observer.core.model import UNASSIGNED, Recorded
from observer.core.patterns import lazy_pattern
from observer.core.text import distinct, is_within, relative, word_set
from observer.core.value import Value
from observer.observations.drafts import ItemOrigin, order_of, origin_of

MOST = 24
CHANGED = 24
SESSIONS = 8
ITEMS = 6
FORGOTTEN_MS = 7 * 86_400_000
"""A failure that was not seen for so long is dropped."""
_SAME_SIZE = 0.8
"""Share of a failing run's tests that a run of unknown scope must pass to count as covering it."""
_PACKAGES = word_set("filter F w workspace p package") | {"in package"}
"""Filters of checks by which a package is chosen: only in a folder of its name is it known."""
_PLACE = lazy_pattern(r"([^\s:()]+\.\w{1,10})(?::|\()\d+")
FILES = 30
"""Most files kept of one output."""
_PATH = re.compile(
    r"(?<![\w@:/.-])(?:[A-Za-z]:)?[\w@~.+()\[\]/\\-]{2,300}?\.[A-Za-z]\w{0,9}(?![\w/\\.-]|\.\w)"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo|go/pkg|usr/lib)/"
)


class OpenFailure(Value):
    """A command that failed when it ran last.

    It `is_red` while that proves a check of the project red: until what it was about is deleted or
    given up. What passes in its place may then still be worth knowing.

    A pass of any of its `checks` clears it: the command's own, and those that its task ran. `tests`
    are the failing tests that have not passed since, if all are known; `failing` those that the
    output named; `total` is the number of tests run, `place` the file of the only error, `files`
    are those that any output named. `item` is the observation of the last failure, `earlier` those
    of the ones before; `since_ms`, `seq`, `origin` and `first_error` are of the first, the other
    fields of the last. `runs` counts the failing runs of exactly this check, and edits up to the
    sequence number `tried` did not change how it fails. `changed` are the files changed since.
    `is_unread` holds if it was run since and nothing shows how that ended, `is_rewritten` if a
    formatter or fixer has since rewritten what it checks: only its next run shows what is left.
    `unstarted` is the reason if the command could not do its work, which says nothing about the
    code; `form` is the command as typed.
    """

    checks: tuple[CheckIdentity, ...]
    head: str
    root: str
    branch: str
    since_ms: int
    last_ms: int
    item: int
    sessions: tuple[int | None, ...]
    is_red: bool = True
    client: str = ""
    runs: int = 1
    said: str = ""
    error: str = ""
    first_error: str = ""
    signature: str = ""
    tests: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    total: int = 0
    place: str = ""
    files: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    is_unread: bool = False
    is_rewritten: bool = False
    seq: int = 0
    last_seq: int = 0
    tried: int = 0
    earlier: tuple[int, ...] = ()
    unstarted: str = ""
    form: InvocationForm | None = None
    origin: ItemOrigin | None = None


class EndedCommand(NamedTuple):
    """A command line that ended, in a work tree with a branch; `item` is its observation.

    `runs` are the checks that it proves green or red, `unstarted` is why it did no work.
    """

    recorded: Recorded
    body: Command
    result: CommandResult
    runs: CheckResults
    item: int
    branch: str
    unstarted: NotStarted

    @property
    def head(self) -> str:
        """The command that failed, else the line's head, and where it ran below the root."""
        root, cwd = self.recorded.root, self.recorded.event.cwd
        return self.runs.head or check_runs.located_head(self.body.command, root=root, cwd=cwd)

    @property
    def forms(self) -> tuple[InvocationForm, ...]:
        """The simple commands of the line that do something."""
        command, recorded = self.body.command, self.recorded
        parts = simple_commands(command)
        folder = check_runs.folder_of(parts, recorded.root, recorded.event.cwd)
        return command_line.forms_of(command, folder=folder)

    @property
    def has_run(self) -> bool:
        """Whether the program did its work, whatever it found."""
        result = self.result
        is_judged = result.is_check and (result.passed is not None or result.failed is not None)
        # An exit status does not say which one of `a || b` worked.
        is_sure = all(part.sign != "||" for part in simple_commands(self.body.command))
        return not self.unstarted.reason and (is_judged or (result.ok is not False and is_sure))


def ended_command(
    known: Tasks, recorded: Recorded, body: Command, result: CommandResult, item: int, branch: str
) -> EndedCommand:
    """Return a command that ended, with what it proves where these tasks are known."""
    root = recorded.root
    runs = check_results_of(body, result, root=root, cwd=recorded.event.cwd, tasks=known)
    is_judged = result.ok is True or result.passed is not None or bool(result.failing)
    unstarted = NotStarted()
    if result.is_cut_off:
        unstarted = NotStarted(reason="stopped", said=result.first_error)
    elif not is_judged and not body.interrupted:
        unstarted = start_failure(body.output, code=exit_code_of(body))
    return EndedCommand(recorded, body, result, runs, item, branch, unstarted)


OpenFailures = tuple[OpenFailure, ...]


def after_run(
    known: OpenFailures, ended: EndedCommand, own: CheckIdentity | None
) -> tuple[OpenFailures, Sequence[OpenFailure]]:
    """Return what fails after a command has ended, and what its pass resolved.

    `own` is what the line ran, known as a check of the project or not; None for nothing.
    """
    is_ok = False if ended.unstarted.reason else ended.result.ok
    has_run_nothing = ended.result.passed == 0 and ended.result.tool != ""
    green = own if is_ok and not has_run_nothing else None
    kept = [(one, _after_passes(one, ended, green)) for one in known]
    left = [one for _, one in kept if one is not None]
    red = ended.runs.failed or (() if own is None or is_ok is not False else (own,))
    if red:
        new = _new_failure(ended, red)
        # Of `lint:fix` the linter decides.
        if not (is_fixing_task(new) and any(_is_same(new, one) for one in left)):
            left = _with_failure(left, new)
    sorts: dict[bool, list[OpenFailure]] = {True: [], False: []}
    for one in left:
        pairs = ((again, red) for again in ended.runs.unread for red in one.checks)
        is_again = one.branch == ended.branch and any(check.covers(*pair) for pair in pairs)
        if ended.recorded.event.at_ms - one.last_ms <= FORGOTTEN_MS:
            kept_one = replace(one, changed=(), is_unread=True) if is_again else one
            sorts[one.is_red].append(kept_one)
    bounded = [one for sort in sorts.values() for one in sort[-MOST:]]
    bounded.sort(key=lambda one: one.last_seq)
    return tuple(bounded), [one for one, after in kept if after is None]


def is_of_git(one: OpenFailure) -> bool:
    """Return True for what git's hooks found, and for a command of git that could not run."""
    return one.head.startswith("git ")


def is_fixing_task(one: OpenFailure) -> bool:
    """Return True for the failure of a task that mends what it can: it says what it could not."""
    return one.checks[0].is_fixer and one.checks[0].is_task and not one.unstarted


def after_change(known: OpenFailures, root: str, paths: Sequence[str]) -> OpenFailures:
    """Return the failures after files were written, or deleted."""
    code = [path for path in reversed(paths) if language_of(path) not in PROSE] if known else ()
    left = []
    for one in known:
        near = [path for path in code if any(_is_below(path, red) for red in one.checks)]
        changed = distinct((*near, *one.changed), CHANGED) if one.root == root else one.changed
        left.append(one if changed == one.changed else replace(one, changed=changed))
    return tuple(left)


def _is_below(path: str, red: CheckIdentity) -> bool:
    """Return True if a file lies where a check ran: in its folder, or in that of its package."""
    chosen = (one.partition("=") for one in red.filters)
    packages = {name.rpartition("/")[2] for by, _, name in chosen if by in _PACKAGES}
    return is_within(path, {red.folder} - {""}) and packages <= {*path.split("/")[:-1]}


def after_removal(known: OpenFailures, root: str, paths: Collection[str]) -> OpenFailures:
    """Return the failures after files or folders were deleted: what was about them is not red."""
    gone = [path for path in paths if path]
    void = [
        one
        for one in known
        if gone
        and one.root == root
        and (files := files_of(one))
        and all(is_within(path, gone) for path in files)
    ]
    return tuple(replace(one, is_red=False) if one in void else one for one in known)


def after_commit(
    known: OpenFailures, branch: str, hooks: Collection[CheckIdentity]
) -> OpenFailures:
    """Return the open failures after a person's commit, without those that its hooks check."""
    checked = [
        one
        for one in known
        if any(check.is_same_checker(hook, red) for hook in hooks for red in one.checks)
    ]
    return tuple(one for one in known if one.branch != branch or one not in checked)


def without_work(known: OpenFailures, root: str, branch: str) -> OpenFailures:
    """Return the failures after the changes of a work tree were discarded: none of it is red."""
    return tuple(
        replace(one, is_red=False) if (one.root, one.branch) == (root, branch) else one
        for one in known
    )


def worth_showing(
    known: OpenFailures, *, now_ms: int, shown: Mapping[str, str]
) -> list[OpenFailure]:
    """Return the failures that probably still hold, newest first, each check once.

    `shown` is the branch that is checked out in each work tree; failures of others are left out,
    unless it is empty.
    """
    found: list[OpenFailure] = []
    for one in sorted(known, key=lambda one: -one.last_ms):
        is_here = one.is_red and (not shown or one.branch in shown.values())
        is_known = now_ms - one.last_ms <= FORGOTTEN_MS and not one.is_rewritten
        pairs = [(a, b) for other in found for a in one.checks for b in other.checks]
        is_said = any(check.covers(a, b) or check.covers(b, a) for a, b in pairs)
        if is_here and is_known and not is_said:
            found.append(one)
    return found


def _after_passes(
    one: OpenFailure, ended: EndedCommand, ran: CheckIdentity | None
) -> OpenFailure | None:
    """Return a failure without the tests that passed; None if it is cleared.

    `ran` is what the line ran and passed, which clears what is no check of the project.
    """
    recorded = ended.recorded
    is_others = recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions
    if is_others or one.branch != ended.branch:
        return one
    if not one.is_red:
        ran = ran if one.root == recorded.root else None
        is_over = ran and check.answers(ran, one.checks[0], one.tests, one.place)
        return None if is_over else one
    for green in ended.runs.passed:
        if green.is_fixer and not any(red.is_fixer for red in one.checks):
            # It says nothing of what it could not rewrite.
            is_at = bool(one.place) and check.selects_test(green, one.place)
            sees = check.is_comparable if is_at else check.covers
            is_rewritten = one.is_rewritten or any(sees(green, red) for red in one.checks)
            one = replace(one, is_rewritten=is_rewritten)
            continue
        if any(_clears(green, red, one, ended) for red in one.checks):
            return None
        left = _without_covered(one, green, ended)
        if left is None:
            return None
        one = left
    return one


def _clears(
    green: CheckIdentity, red: CheckIdentity, one: OpenFailure, ended: EndedCommand
) -> bool:
    """Return True if a green run covers a red one; if a scope is unknown, test counts decide."""
    passed = ended.result.passed
    is_counted = green.kind in {"test", "all"} and passed is not None and one.total > 0
    is_vague = green.task or green.is_task or red.task or green.folder != red.folder
    if not (is_counted and is_vague):
        return check.clears(green, red)
    is_alike = check.covers(green, red) or (
        check.is_same_checker(green, red)
        and set(green.filters) <= set(red.filters)
        and (red.task or check.is_within_scope(green, red))
    )
    return is_alike and (passed or 0) >= _SAME_SIZE * one.total


def _without_covered(
    one: OpenFailure, green: CheckIdentity, ended: EndedCommand
) -> OpenFailure | None:
    """Return a failure without the tests that a narrower green run covers; None if none is left."""
    is_known = not (green.task or green.is_task)
    if not is_known or not any(check.is_comparable(green, red) for red in one.checks):
        return one
    if not one.tests:
        is_at = bool(one.place) and not green.filters and check.selects_test(green, one.place)
        return None if is_at else one
    left = tuple(name for name in one.tests if not check.selects_test(green, name, one.place))
    gone = len(one.tests) - len(left)
    if not check.LAST_FAILED.isdisjoint(green.filters) and (ended.result.passed or 0) < gone:
        return one
    return replace(one, tests=left) if left else None


def _with_failure(known: Iterable[OpenFailure], new: OpenFailure) -> list[OpenFailure]:
    """Return the failures with a new one, which replaces those that its run covers."""
    left = []
    for one in known:
        is_same = _is_same(new, one)
        is_alike = one.branch == new.branch and is_of_git(one) == is_of_git(new)
        wide = [each for each in new.checks if new.is_red and one.is_red and not each.task]
        covers = any(check.covers(each, narrow) for each in wide for narrow in one.checks)
        if is_alike and (is_same or covers):
            new = _continued(new, one, is_same=is_same)
        else:
            left.append(one)
    return [*left, new]


def _is_same(new: OpenFailure, one: OpenFailure) -> bool:
    if new.unstarted or one.unstarted:
        # A command that could not run says nothing about the check that it should have been.
        return bool(new.unstarted and one.unstarted) and new.form == one.form
    was, now = one.checks[0], new.checks[0]
    return (new.is_red or not one.is_red) and check.covers(was, now) and check.covers(now, was)


def _continued(new: OpenFailure, one: OpenFailure, *, is_same: bool) -> OpenFailure:
    """Return a failure as the next one of another.

    Where an earlier session left the check red and its cause is another one now, it is a new one.
    """
    sessions = tuple(dict.fromkeys((*one.sessions, *new.sessions)))[-SESSIONS:]
    items = (*one.earlier, one.item)
    fails_alike = (new.error or one.error, new.said) == (one.error, one.said)
    if not is_same or not (fails_alike or new.sessions[0] in one.sessions):
        return replace(new, sessions=sessions)
    return replace(
        new,
        since_ms=one.since_ms,
        seq=one.seq,
        origin=one.origin,
        earlier=(*items[:1], *items[1:][-ITEMS:]),
        sessions=sessions,
        runs=one.runs + 1,
        said=new.said or one.said,
        error=new.error or one.error,
        first_error=one.first_error or new.first_error,
        signature=one.signature or new.signature,
        files=distinct((*new.files, *one.files), FILES),
        tried=new.seq if fails_alike else one.tried,
    )


def _new_failure(ended: EndedCommand, checks: tuple[CheckIdentity, ...]) -> OpenFailure:
    result, recorded, forms = ended.result, ended.recorded, ended.forms
    error = result.first_error or ended.unstarted.said
    # The simple command that failed is the one that the message names, else the last.
    blamed = [one for one in forms if ended.unstarted.name and ended.unstarted.name in one.words]
    seq = order_of(recorded)
    is_all = result.failed is None or result.failed <= len(result.failing)
    return OpenFailure(
        checks=checks,
        head=ended.head,
        root=recorded.root,
        branch=ended.branch,
        since_ms=ended.recorded.event.at_ms,
        last_ms=ended.recorded.event.at_ms,
        item=ended.item,
        sessions=(recorded.session_id,),
        is_red=bool(ended.runs.failed),
        client=recorded.event.client,
        said=result.said,
        error=error,
        first_error=error,
        signature=result.signature,
        tests=result.failing if is_all else (),
        failing=result.failing,
        total=(result.passed or 0) + (result.failed or 0) if result.passed is not None else 0,
        place=place_in(result.first_error) if result.failed == 1 else "",
        files=files_named_in(ended.body.output, root=recorded.root, cwd=recorded.event.cwd),
        seq=seq,
        last_seq=seq,
        unstarted=ended.unstarted.reason,
        form=next(iter(blamed), forms[-1] if forms else None),
        origin=origin_of(recorded),
    )


def files_of(one: OpenFailure) -> frozenset[str]:
    """Return the files that a failure names: of its tests, its commands and its only error."""
    tests = {name.partition("::")[0] for name in one.tests if "::" in name}
    given = {path for red in one.checks if not red.is_task for path in red.paths if "." in path}
    return frozenset({*tests, *given, one.place} - {""})


def place_in(error: str) -> str:
    """Return the file in `cart.py:7` or `cart.ts(7,3)`, the first in an error; "" if none."""
    found = _PLACE.search(error)
    return found.group(1) if found else ""


def files_named_in(output: str, *, root: str, cwd: str) -> tuple[str, ...]:
    """Return the files that an output names, relative to the project, in its order.

    Only names with the extension of a known language count, and none of installed packages.
    """
    found = (match.group().lstrip("([-") for match in _PATH.finditer(plain_output(output)))
    named = (name for name in found if language_of(name) and not _FOREIGN.search(name))
    return distinct((relative(name, root, cwd) for name in named), FILES)
