"""Track the failing checks of a project, from the failure to the pass that resolves it.

A left fold over a project's commands: `with_command` notes how each ended. It identifies the check
that was run, opens or updates a `TrackedFailure`, and on a pass says what fixed it. Three kinds of
fix items:

- a check failed, something was changed, and the check passes: `_with_pass`;
- a command could not do its work, and another form of it can (`bun test` instead of
  `rtk bun test`), or the same command passes with one setting more and no change in between:
  `_with_alternative`;
- nothing but a fixer (`npm run lint:fix`) stands between the failure and the pass: `_with_repair`.

The last two are one item for a project and pair of commands, which counts how often it was met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.code.languages import language_of
from observer.core.events import Command
from observer.core.model import UNASSIGNED, Item, Recorded
from observer.core.text import distinct, one_line, relative, word_set
from observer.observations import fix_text, project_state
from observer.observations.drafts import order_of, origin_of
from observer.observations.failure_records import (
    ALTERNATIVES,
    EXPIRES_MS,
    FAILURES,
    REPAIRS,
    Alternative,
    Repair,
    TrackedEdit,
    TrackedFailure,
    WorktreeBranch,
)
from observer.observations.fix_text import ResolvedFailures
from observer.observations.open_failures import all_failing, place_in
from observer.observations.project_state import ProjectState, Step
from observer.observations.relatedness import causes_of
from observer.outcomes import not_started, same_check
from observer.outcomes.check_runs import check_results_of
from observer.outcomes.check_tasks import CheckResults
from observer.outcomes.exit_codes import exit_code_of
from observer.outcomes.not_started import NotStarted
from observer.outcomes.result import CommandResult
from observer.outcomes.same_check import CheckCommand
from observer.outcomes.visible_output import plain_output
from observer.shell import command_forms, command_line
from observer.shell.check import clears
from observer.shell.command_forms import InvocationForm
from observer.shell.fixers import fix_kind

_ITEMS = 6
_SESSIONS = 8
FILES = 30
"""Most files kept of one output."""
_PATH = re.compile(
    r"(?<![\w@:/.-])(?:[A-Za-z]:)?[\w@~.+()\[\]/\\-]{2,300}?\.[A-Za-z]\w{0,9}(?![\w/\\.-]|\.\w)"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo|go/pkg|usr/lib)/"
)
_HOOK_CHARS = 600
"""Longer output on a refused commit is that of its hooks."""
_NOTHING_TO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit")
_BYPASSING = word_set("--no-verify -n")
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


def with_command(
    known: ProjectState, recorded: Recorded, body: Command, result: CommandResult, made: Item
) -> Step:
    """Update the state with an ended command, and return the fixes that it completes.

    Args:
        known: the project's state.
        recorded: the event.
        body: its command.
        result: how it ended.
        made: the observation of it.
    """
    if not result.was_run:
        return known, ()
    known = _with_remedies(known, recorded, body, result, made)
    why = _why_unstarted(body, result)
    ran = EndedCommand(
        recorded=recorded,
        command=body.command,
        result=result,
        item=made.id,
        is_unstarted=bool(why.reason),
    )
    known, alternatives = _with_alternative(known, ran)
    runs = check_results_of(
        body, result, root=recorded.root, cwd=recorded.event.cwd, tasks=known.tasks
    )
    run = check_of(body, recorded, result, why, runs)
    is_ok = False if why.reason else result.ok
    ran_nothing = result.passed == 0 and result.tool != ""
    if run is None or is_ok is None or (is_ok and ran_nothing):
        return known, alternatives
    check = CheckRun(
        recorded=recorded,
        invocation=run,
        head=runs.head
        or same_check.located_head(body.command, root=recorded.root, cwd=recorded.event.cwd),
        ran=command_line.parse_command_line(body.command).head,
        worktree=project_state.worktree_of(known, recorded.root),
        result=result,
        item=made.id,
        unstarted=why,
        form=_failing_form(ran, why) if not is_ok else None,
        files=()
        if is_ok
        else files_named_in(body.output, root=recorded.root, cwd=recorded.event.cwd),
        runs=runs,
    )
    if not is_ok:
        return _failed(known, check), alternatives
    after, fixed = _with_pass(known, check)
    return after, (*alternatives, *fixed)


def _why_unstarted(body: Command, result: CommandResult) -> NotStarted:
    """Return why a command could not do its work; an empty reason if it did, or reported tests."""
    if result.is_cut_off:
        return NotStarted(reason="stopped", said=result.first_error)
    is_judged = result.ok is True or result.passed is not None or bool(result.failing)
    if is_judged or body.interrupted:
        return NotStarted()
    return not_started.start_failure(body.output, code=exit_code_of(body))


def _with_remedies(
    known: ProjectState, recorded: Recorded, body: Command, result: CommandResult, made: Item
) -> ProjectState:
    kinds = [(part, fix_kind(part)) for part in command_line.simple_commands(body.command)]
    remedies = [(part.shown, kind) for part, kind in kinds if kind]
    if not remedies:
        return known
    remedy = TrackedEdit(
        seq=order_of(recorded),
        item=made.id,
        worktree=project_state.worktree_of(known, recorded.root),
        session=recorded.session_id,
        kind="command",
        said=one_line("; ".join(said for said, _ in remedies), 200),
        remedy=remedies[0][1],
        has_failed=result.ok is False,
    )
    return project_state.with_edit(known, remedy)


def check_of(
    body: Command, recorded: Recorded, result: CommandResult, why: NotStarted, runs: CheckResults
) -> CheckCommand | None:
    """Return the check that a command line ran; None if it ran none.

    Of a chain it is the command that failed. A git command counts only if it is a commit that
    hooks have checked, or if it could not run at all.

    Args:
        body: the command.
        recorded: its event.
        result: how it ended.
        why: the reason if it could not do its work.
        runs: which checks of the line are known to have passed or failed.
    """
    able = [
        part
        for part in command_line.simple_commands(body.command)
        if not part.looks and part.sign != "|" and part.words[0] != "cd"
    ]
    gits = [part.words for part in able if "git" in part.words[:2]]
    if any("stash" in words[1:3] for words in gits):
        return None  # the check ran without the stashed changes
    if gits and len(gits) == len(able):
        return _of_git(gits, recorded, body, result, why)
    run = same_check.check_command_of(
        body.command, result, root=recorded.root, cwd=recorded.event.cwd
    )
    if run is None or len(able) == 1 or not runs.head:
        return run
    failed = same_check.check_command_of(
        runs.head.partition(same_check.BELOW)[0], result, root="", cwd=""
    )
    return replace(failed, folder=run.folder) if failed else run


def _of_git(
    gits: Sequence[Sequence[str]],
    recorded: Recorded,
    body: Command,
    result: CommandResult,
    why: NotStarted,
) -> CheckCommand | None:
    if why.reason:
        return CheckCommand(program=one_line(" ".join(gits[-1]), 300), tool="git")
    commits = [words for words in gits if "commit" in words[1:6]]
    if not commits or not _BYPASSING.isdisjoint(commits[-1]):
        return None
    has_hooks = result.tool not in ("", "git") or len(body.output) > _HOOK_CHARS
    if not (result.ok or has_hooks) or _NOTHING_TO_COMMIT.search(body.output):
        return None
    # Two sessions may each have a commit that was refused: only its own next one answers it.
    return CheckCommand(program=COMMIT, tool="git", targets=(str(recorded.session_id),))


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


def _failed(known: ProjectState, check: CheckRun) -> ProjectState:
    tracked = [
        _updated(one, check) if _is_same(one, check) or _overlaps(one, check) else one
        for one in known.tracked
        if not _is_replaced(one, check)
    ]
    if not any(_is_same(one, check) for one in tracked):
        tracked.append(_new_failure(check))
    at_ms = check.recorded.event.at_ms
    fresh = [one for one in tracked if at_ms - one.last_ms <= EXPIRES_MS]
    return replace(known, tracked=tuple(fresh[-FAILURES:]))


def _new_failure(check: CheckRun) -> TrackedFailure:
    recorded, result = check.recorded, check.result
    error = result.first_error or check.unstarted.said
    return TrackedFailure(
        invocation=check.invocation,
        head=check.head,
        worktree=check.worktree,
        seq=order_of(recorded),
        last_seq=order_of(recorded),
        last_ms=recorded.event.at_ms,
        items=(check.item,),
        sessions=(recorded.session_id,),
        said=result.said,
        error=error,
        last_error=error,
        signature=result.signature,
        tests=all_failing(result),
        place=_only_place(result),
        checks=check.runs.failed,
        files=check.files,
        unstarted=check.unstarted.reason,
        form=check.form,
        origin=origin_of(recorded),
    )


def _is_replaced(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if an earlier session left the check red, and its cause is another one now."""
    is_new = check.recorded.session_id not in one.sessions
    return is_new and _is_same(one, check) and not _is_same_failure(one, check)


def _is_same_failure(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if a check fails as it did before, judging by its output."""
    result = check.result
    if one.tests and result.failing:
        return set(one.tests) == set(all_failing(result) or result.failing)
    now = (result.first_error or one.last_error, result.said)
    return now == (one.last_error, one.said)


def _updated(one: TrackedFailure, check: CheckRun) -> TrackedFailure:
    recorded, result = check.recorded, check.result
    again = replace(
        one,
        last_seq=order_of(recorded),
        last_ms=recorded.event.at_ms,
        items=tuple(dict.fromkeys((*one.items[:1], *one.items[1:][-_ITEMS:], check.item))),
        sessions=tuple(dict.fromkeys((*one.sessions, recorded.session_id)))[-_SESSIONS:],
        last_error=result.first_error or one.last_error,
        files=distinct((*check.files, *one.files), FILES),
    )
    if not _is_same(one, check):
        return again
    return replace(
        again,
        invocation=check.invocation,
        runs=one.runs + 1,
        said=result.said or one.said,
        tests=all_failing(result),
        place=_only_place(result),
        tried=order_of(recorded) if _is_same_failure(one, check) else one.tried,
        unstarted=check.unstarted.reason,
        form=check.form,
    )


def _is_same(one: TrackedFailure, check: CheckRun) -> bool:
    if one.unstarted or check.unstarted.reason:
        # A command that could not run says nothing about the check that it should have been.
        return one.form == check.form and bool(one.unstarted) and bool(check.unstarted.reason)
    return (
        same_check.is_same_check(one.invocation, check.invocation)
        and one.worktree == check.worktree
    )


def _overlaps(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if another failing run was of the same tests, as far as is known."""
    if (
        one.unstarted
        or check.unstarted.reason
        or one.worktree != check.worktree
        or not same_check.is_same_program(check.invocation, one.invocation)
    ):
        return False
    failing = check.result.failing
    is_part = same_check.includes(check.invocation, one.invocation) or same_check.includes(
        one.invocation, check.invocation
    )
    return is_part and not (one.tests and failing and set(one.tests).isdisjoint(failing))


def _only_place(result: CommandResult) -> str:
    """Return the file of the error if there was only one, else ""."""
    return place_in(result.first_error) if result.failed in (None, 1) else ""


def _with_pass(known: ProjectState, check: CheckRun) -> Step:
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
    if all(edit.remedy == "fixer" for edit in ended.edits):
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


def _failing_form(ran: EndedCommand, why: NotStarted) -> InvocationForm | None:
    """Return the simple command that failed: the one that the message names, else the last."""
    every = ran.forms
    blamed = [form for form in every if why.name and why.name in form.words]
    return next(iter(blamed), every[-1] if every else None)


def _with_alternative(known: ProjectState, ran: EndedCommand) -> Step:
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
