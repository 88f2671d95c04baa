"""What a passing command fixed: failed checks, commands in another form, findings of a fixer.

A left fold over a project's commands, as part of `failure_tracker`. Three kinds of fix items:

- a check failed, something was changed, and the check passes: `with_pass`;
- a command could not do its work, and another form of it can (`bun test` instead of
  `rtk bun test`), or the same command passes with one setting more and no change in between:
  `with_alternative`;
- nothing but a fixer (`npm run lint:fix`) stands between the failure and the pass: `_with_repair`.

The last two are one item for a project and pair of commands, which counts how often it was met.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.model import UNASSIGNED, Item, Recorded
from observer.core.text import distinct, word_set
from observer.observations import fix_text, project_state
from observer.observations.drafts import (
    order_of,
    origin_of,
)
from observer.observations.failure_records import (
    ALTERNATIVES,
    REPAIRS,
    Alternative,
    Repair,
    TrackedEdit,
    TrackedFailure,
    WorktreeBranch,
)
from observer.observations.fix_text import ResolvedFailures
from observer.observations.project_state import ProjectState, Step
from observer.observations.relatedness import causes_of
from observer.outcomes import same_check
from observer.outcomes.check_tasks import CheckResults
from observer.outcomes.not_started import NotStarted
from observer.outcomes.result import CommandResult
from observer.outcomes.same_check import CheckCommand
from observer.shell import command_forms, command_line
from observer.shell.check import clears
from observer.shell.command_forms import InvocationForm
from observer.shell.fixers import fix_kind

WITHIN_MS = 2 * 3_600_000
"""What works so long after a failure is hardly the answer to it."""
_PAIRS = 20
_RAN = ("", "stopped")
"""Of a command that began to work its words are right: it may lack a setting."""
_MET = 60
_ERRORS = 4
_SCRIPT_RUNNERS = word_set("npm yarn pnpm bun make just task mise composer rake poe pdm hatch")
COMMIT = "git commit"
"""What is checked by the hooks of a commit that git refused."""


class EndedCommand(NamedTuple):
    """A command line that ended; `item` is its observation."""

    recorded: Recorded
    command: str
    result: CommandResult
    item: int
    is_unstarted: bool

    @property
    def forms(self) -> tuple[InvocationForm, ...]:
        """The simple commands of the line that do something."""
        folder = same_check.folder_of(
            command_line.simple_commands(self.command), self.recorded.root, self.recorded.event.cwd
        )
        return command_forms.forms_of(self.command, folder=folder)

    @property
    def has_run(self) -> bool:
        """Whether the program did its work, whatever it found."""
        result = self.result
        is_judged = result.is_check and (result.passed is not None or result.failed is not None)
        return not self.is_unstarted and (result.ok is not False or is_judged)


class CheckRun(NamedTuple):
    """A check that ended: what was run and where, its result and its observation `item`.

    `head` names the check, `ran` the command line that it was part of. `form`, `files` and
    `unstarted` are set only if it failed.
    """

    recorded: Recorded
    invocation: CheckCommand
    head: str
    ran: str
    worktree: WorktreeBranch
    result: CommandResult
    item: int
    unstarted: NotStarted = NotStarted()
    form: InvocationForm | None = None
    files: tuple[str, ...] = ()
    runs: CheckResults = CheckResults()


def with_pass(known: ProjectState, check: CheckRun) -> Step:
    """Resolve the failures that a passing check covers; return their fix, if a change caused it."""
    resolved = [one for one in known.tracked if _is_answered(one, check)]
    left = (_without_passed(one, check) for one in known.tracked if one not in resolved)
    after = replace(known, tracked=tuple(left))
    resolved = [one for one in resolved if not _is_fixer_script(one.invocation)]
    by = {failure.seq: causes_of(known, failure, check.recorded) for failure in resolved}
    edits = {edit.seq: edit for found in by.values() for edit in found}
    if not edits:
        return after, ()
    ended = ResolvedFailures(
        failures=tuple(failure for failure in resolved if by[failure.seq]),
        edits=tuple(edits[seq] for seq in sorted(edits)),
        reverted=_reverted_attempts(known, resolved),
        passed=check.item,
        ran=check.ran,
        head=check.head,
        said=check.result.said,
    )
    if _is_repair(ended):
        after, fix = _with_repair(after, ended, check.recorded)
    else:
        fix = fix_text.fix_item(ended, check.recorded)
    done = dict.fromkeys(
        [check.invocation.program, *(one.invocation.program for one in resolved)], fix.id
    )
    after = project_state.map_edits(
        after, lambda one: replace(one, fixed=one.fixed | done) if one.seq in edits else one
    )
    return after, (fix,)


def _is_fixer_script(of: CheckCommand) -> bool:
    """Return True for a script such as `lint:fix`, whose pass shows nothing: the linter decides."""
    words = of.program.split(" ")
    is_script = words[0] in _SCRIPT_RUNNERS
    return is_script and fix_kind(command_line.SimpleCommand("", words)) == "fixer"


def _is_answered(one: TrackedFailure, check: CheckRun) -> bool:
    if one.worktree != check.worktree:
        return False
    recorded = check.recorded
    if recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions:
        return False
    return _covers(check, one) or same_check.resolves(
        check.invocation, one.invocation, one.tests, one.place
    )


def _covers(check: CheckRun, one: TrackedFailure) -> bool:
    """Return True if the line passed a check that clears one of the failed checks."""
    if COMMIT in (check.invocation.program, one.invocation.program):
        return False
    return any(clears(green, red) for green in check.runs.passed for red in one.checks)


def _without_passed(one: TrackedFailure, check: CheckRun) -> TrackedFailure:
    """Return a failure without its tests that this check selected and that passed."""
    if one.worktree != check.worktree or not same_check.is_same_program(
        check.invocation, one.invocation
    ):
        return one
    left = (name for name in one.tests if not same_check.selects(check.invocation, name))
    return replace(one, tests=tuple(left))


def _reverted_attempts(
    known: ProjectState, resolved: Iterable[TrackedFailure]
) -> tuple[TrackedEdit, ...]:
    """Return the edits that were made after the first of these failures, and reverted."""
    first = min(failure.seq for failure in resolved)
    return tuple(
        edit
        for edit in known.edits
        if edit.reverted_by and edit.kind == "edit" and edit.seq > first
    )


def _is_repair(resolved: ResolvedFailures) -> bool:
    """Return True if only runs of a fixer lie between failure and pass."""
    return all(edit.remedy == "fixer" for edit in resolved.edits)


def _with_repair(
    known: ProjectState, resolved: ResolvedFailures, recorded: Recorded
) -> tuple[ProjectState, Item]:
    """Count one more occurrence of a check and its fixer; return the state and the fix."""
    failure, by = resolved.failures[0], resolved.edits[-1].said
    key = (failure.invocation.program, by)
    before = next((one for one in known.repairs if (one.program, one.by) == key), None) or Repair(
        program=key[0], head=failure.head, by=by, origin=origin_of(recorded)
    )
    fixer = resolved.edits[-1].item
    met = [(item, fixer, resolved.passed) for one in resolved.failures for item in one.items[-1:]]
    errors = [one.last_error or one.said for one in resolved.failures]
    after = replace(
        before,
        times=before.times + 1,
        met=(*before.met, *met)[-_MET:],
        errors=distinct(filter(None, (*errors, *before.errors)), _ERRORS),
    )
    others = [one for one in known.repairs if one is not before]
    made = fix_text.repair_item(after, resolved, recorded)
    return replace(known, repairs=(*others, after)[-REPAIRS:]), made


def failing_form(ran: EndedCommand, why: NotStarted) -> InvocationForm | None:
    """Return the simple command that failed: the one that the message names, else the last."""
    every = ran.forms
    blamed = [form for form in every if why.name and why.name in form.words]
    return next(iter(blamed), every[-1] if every else None)


def with_alternative(known: ProjectState, ran: EndedCommand) -> Step:
    """Return the alternative fix if a command is another form of one that could not run."""
    if not ran.has_run:
        return known, ()
    known = _without_refuted(known, ran)
    for failure in reversed(known.tracked):
        if form := _instead_of(known, failure, ran):
            return _with_pair(known, failure, ran, form)
    return known, ()


def _without_refuted(known: ProjectState, ran: EndedCommand) -> ProjectState:
    """Mark alternatives as refuted whose failed form works now, such as after an installation."""
    if ran.result.ok is not True or len(ran.forms) != 1:
        return known
    (form,) = ran.forms
    marked = tuple(
        replace(one, is_refuted=one.is_refuted or command_forms.is_same_form(one.failed, form))
        for one in known.alternatives
    )
    return known if marked == known.alternatives else replace(known, alternatives=marked)


def _instead_of(
    known: ProjectState, failure: TrackedFailure, ran: EndedCommand
) -> InvocationForm | None:
    """Return the form of an ended command that works where the failed one did not."""
    recorded, failed = ran.recorded, failure.form
    if (
        failed is None
        or failure.unstarted == "service"  # what was not up says nothing about the words
        or recorded.session_id != failure.sessions[-1]
        or failure.worktree.root != recorded.root
        or recorded.event.at_ms - failure.last_ms > WITHIN_MS
    ):
        return None
    if failure.unstarted not in _RAN:
        return next(
            (
                one
                for one in ran.forms
                if command_forms.is_other_form(failed, one, failure.last_error)
            ),
            None,
        )
    if not ran.result.ok or _changes_since(known, failure, recorded):
        return None
    return next((one for one in ran.forms if command_forms.adds_settings(failed, one)), None)


def _changes_since(
    known: ProjectState, failure: TrackedFailure, recorded: Recorded
) -> list[TrackedEdit]:
    return [
        edit
        for edit in known.edits
        if failure.last_seq < edit.seq < order_of(recorded)
        and not edit.reverted_by
        and edit.worktree.root == recorded.root
    ]


def _with_pair(
    known: ProjectState, failure: TrackedFailure, ran: EndedCommand, form: InvocationForm
) -> Step:
    failed, origin = failure.form or form, failure.origin or origin_of(ran.recorded)
    pair = (failure.items[-1], ran.item)
    before = next(
        (
            one
            for one in known.alternatives
            if (one.failed.line, one.worked.line) == (failed.line, form.line)
        ),
        None,
    ) or Alternative(
        failed=failed,
        worked=form,
        origin=origin,
        reason=failure.unstarted,
        error=failure.last_error,
        signature=failure.signature,
    )
    pairs = (*before.pairs, pair)[-_PAIRS:]
    after = replace(before, times=before.times + 1, pairs=pairs, is_refuted=False)
    kept = [one for one in known.alternatives if one != before]
    remedies = [
        edit
        for edit in _changes_since(known, failure, ran.recorded)
        if edit.remedy == "install" and failure.unstarted == "missing"
    ]
    state = replace(
        known,
        alternatives=(*kept, after)[-ALTERNATIVES:],
        tracked=tuple(one for one in known.tracked if one is not failure),
    )
    return state, (fix_text.alternative_item(after, remedies, ran.recorded),)
